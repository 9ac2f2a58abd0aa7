"""Pipes, sockets, links to nowhere, huge files and broken traces in the way of a command."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import commands

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and sockets are POSIX")

SOURCE = "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n"


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


HOSTILE: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "link to nothing": lambda p: p.symlink_to("nowhere.py"),
    "link to itself": lambda p: p.symlink_to(p.name),
    "link to a device": lambda p: p.symlink_to("/dev/zero"),
    "link to a terminal": lambda p: p.symlink_to("/dev/tty"),
    "link to a pipe": lambda p: (os.mkfifo(p.with_name("pipe")), p.symlink_to("pipe"))[1],
    "huge": lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_WRONLY), 3 << 30),
    "large": lambda p: p.write_text("x = 1\n" * 200_000) and None,
    "two links": lambda p: (p.symlink_to("b.py"), p.with_name("b.py").symlink_to(p.name))[1],
}


def porter(folder: Path, *arguments: str) -> commands.Done:
    cache = {"PORTER_CACHE_DIR": str(folder / "cache")}
    done = commands.porter(folder, *arguments, environment=cache, seconds=60)
    assert "Traceback" not in done.stderr and "unexpectedly" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_in_a_folder_it_is_skipped(kind: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "good.py").write_text(SOURCE)
    HOSTILE[kind](tmp_path / "src" / "a.py")
    done = porter(tmp_path, "convert", "src", "--no-verify", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "skipped: src/a.py: " in done.stderr
    assert (tmp_path / "out" / "good_cuda.py").exists()


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_given_by_name_it_is_an_error(kind: str, tmp_path: Path) -> None:
    HOSTILE[kind](tmp_path / "a.py")
    for command in ("analyze", "convert"):
        done = porter(tmp_path, command, "a.py")
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("error: a.py: ")


@pytest.mark.parametrize(
    "name", ["pyproject.toml", ".gitignore", "helpers.py", ".porter/trace.json"]
)
@pytest.mark.parametrize("kind", ["pipe", "link to nothing", "link to a device"])
def test_what_is_looked_for_on_the_way_may_be_anything(
    name: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    HOSTILE[kind](tmp_path / name)
    (tmp_path / "a.py").write_text("from helpers import g\n" + SOURCE)
    for arguments in (["analyze", "."], ["convert", "a.py", "--no-verify", "-o", "out.py"]):
        done = porter(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr + done.stdout


TRACES: dict[str, bytes] = {
    "no JSON": b"{",
    "nothing": b"",
    "a list": b"[]",
    "a number": b"3",
    "not UTF-8": b"\xff\xfe{}",
    "no version": b"{}",
    "another version": b'{"porter_trace": 99}',
    "functions of text": b'{"porter_trace": 1, "functions": "abc", "args": []}',
    "no functions": b'{"porter_trace": 1}',
    "a number for args": b'{"porter_trace": 1, "functions": [], "args": 3}',
    "deep": b"[" * 100_000,
    "wrong parts": json.dumps({
        "porter_trace": 1, "script": 1, "ended": 2, "seconds": "x", "overhead": None, "args": [],
        "functions": [{"path": 1, "name": 2, "line": "x", "calls": "y", "seconds": [],
                       "own_seconds": {}, "parameters": 3, "signatures": [1]}],
    }).encode(),
    "wrong kinds": json.dumps({
        "porter_trace": 1, "script": 1, "ended": 2, "seconds": "x", "overhead": None, "args": [],
        "functions": [{"path": 1, "name": 2, "line": "x", "calls": "y", "seconds": [],
                       "own_seconds": {}, "parameters": [3], "signatures": []}],
    }).encode(),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(TRACES))
def test_a_broken_trace_is_a_warning(kind: str, tmp_path: Path) -> None:
    (tmp_path / ".porter").mkdir()
    (tmp_path / ".porter" / "trace.json").write_bytes(TRACES[kind])
    (tmp_path / "a.py").write_text(SOURCE)
    for arguments in (["analyze", "a.py"], ["convert", "a.py", "--no-verify", "-o", "out.py"]):
        done = porter(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("warning: "), done.stderr
        assert done.stderr.count("\n") == 1


HANGING = {
    "a loop": "while True:\n    pass\n",
    "a sleep": "import time\n\ntime.sleep(10_000)\n",
}


@pytest.mark.long
@pytest.mark.parametrize("kind", list(HANGING))
def test_an_import_that_does_not_end_stops_its_function_alone(kind: str, tmp_path: Path) -> None:
    helper = "def helper(x):\n    return x + 1.0\n\n\n"
    (tmp_path / "slow.py").write_text(helper + HANGING[kind])
    (tmp_path / "a.py").write_text(
        f"from slow import helper\n{SOURCE}\n\ndef g(x):\n    return helper(x) * 2.0\n"
    )
    (tmp_path / "out").mkdir()
    command = ["porter", "convert", "a.py", "--timeout", "6"]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 1
    assert "`g` cannot be run, so it is not verified" in done.stdout
    assert "does not end: stopped after 6 s" in done.stdout
    text = (tmp_path / "a_cuda.py").read_text()
    assert "def f(" in text and "def g(" not in text
