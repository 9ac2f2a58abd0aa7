"""Verification shows on a terminal what it does, and in a pipe nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from porter.verify.watching import Watch, progress

#: rows in blocks with barriers: the simulator takes longer than from one look to the next
SOURCE = """\
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
"""


def replied(*entries: dict[str, object]) -> bytes:
    return b"".join(json.dumps(e).encode() + b"\n" for e in entries)


def cases(count: int) -> list[dict[str, object]]:
    return [{"case": n // 2, "inputs": []} for n in range(2 * count)]


def test_function_engine_cases_and_time_left() -> None:
    raw = replied({"start": "f"}, *cases(12))
    text = progress(raw, "simulator", ["f"], 24, 6.0)
    assert text == "f on the simulator: case 12 of 24, about 6 s left"
    raw = replied({"start": "f"}, *cases(24), {"done": "f"}, {"start": "g"}, *cases(6))
    text = progress(raw, "simulator", ["f", "g", "h", "k"], 24, 100.0)
    assert text == "g (2 of 4) on the simulator: case 6 of 24, about 4 min left"


def test_nothing_is_promised_before_anything_is_known() -> None:
    assert progress(b"", "simulator", ["f"], 24, 1.0) == ""
    raw = replied({"start": "f"}) + b'{"case": 0, "inp'
    assert progress(raw, "gpu", ["f"], 24, 1.0) == "f on the GPU: case 1 of 24"
    raw = replied({"start": "f"}, *cases(30))
    assert progress(raw, "emulator", ["f"], 24, 1.0) == "f on the emulator: case 30"
    # wrong inputs come after the cases
    assert progress(raw, "simulator", ["f"], 24, 1.0).startswith(
        "f on the simulator: case 24 of 24"
    )


def test_a_watch_counts_signs_of_life_and_speaks_of_news_only(tmp_path: Path) -> None:
    said: list[str] = []
    reply = tmp_path / "reply"
    reply.write_bytes(replied({"start": "f"}, *cases(1)))
    life = Watch(said.append, clock=lambda: 0.0).life(reply, "simulator", ["f"], 24, b'"case"')
    assert (life(), life()) == (2.0, 2.0)
    assert said == ["f on the simulator: case 1 of 24"]
    silent = Watch(None).life(reply, "simulator", ["f"], 24, b'"case"')
    assert silent() == 2.0


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What a command writes to the terminal that is its standard error."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "porter", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs) as child:
        os.close(theirs)
        seen = b""
        while True:
            try:
                got = os.read(ours, 4096)
            except OSError:  # the child has closed its end
                break
            if not got:
                break
            seen += got
        child.communicate()
    os.close(ours)
    return seen.decode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SOURCE)
    shown = on_a_terminal(tmp_path, "convert", "s.py")
    assert re.search(r"converting s\.py: softmax on the simulator: case \d+ of 24", shown)
    assert "compiling to PTX" in shown or "emulator" in shown
    assert shown.endswith("\r\x1b[K")
    shown = on_a_terminal(tmp_path, "verify", "s_cuda.py", "--on", "simulator")
    assert re.search(r"verifying s_cuda\.py: softmax on the simulator: case \d+ of 24", shown)
    quiet = subprocess.run(
        [sys.executable, "-m", "porter", "verify", "s_cuda.py", "--on", "simulator"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert quiet.stderr == ""
    assert "\r" not in quiet.stdout
