"""Sources and kernels that mean harm, or loop: each ends in time, with a verdict, alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porter.bounded import MARK
from porter.verify import limits
from porter.verify.evidence import FunctionEvidence
from porter.verify.process import family
from tests.support.verification import copy, prove

HOST = "    given = x\n"
KERNEL = "        x[i] += amount\n"


def edited(folder: Path, old: str, new: str, source: str = "") -> Path:
    """The module of `maps` with one edit, `grow` of the source replaced if given."""
    path = copy(folder, "maps", old, new)
    if source:
        file = folder / "maps.py"
        file.write_text(file.read_text() + source)
    return path


def attacked(folder: Path, old: str, new: str, source: str = "", **options: object) -> tuple[
    FunctionEvidence, float
]:  # fmt: skip
    """What is found about `grow`, and the seconds that it took."""
    path = edited(folder, old, new, source)
    begun = time.monotonic()
    found = prove(path, "grow", **{"timeout": 8, **options})
    return found, time.monotonic() - begun


def message(found: FunctionEvidence) -> str:
    assert found.failed and found.mismatch is not None
    return f"{found.mismatch.what}: {found.mismatch.message}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (KERNEL, "        while True: pass\n", "hang: timed out after 8 s"),
        pytest.param(
            HOST,
            HOST + "    while True: print('again')\n",
            "hang: timed out after 8 s",
            marks=pytest.mark.long,
        ),
        (HOST, HOST + "    raise SystemExit(0)\n", "exception: raises SystemExit (0)"),
        (HOST, HOST + "    import os; os._exit(0)\n", "died: the simulator's process ended with"),
        (HOST, HOST + "    import os; os.abort()\n", "ended by SIGABRT"),
        (HOST, HOST + "    grow(x, amount)\n", "exception: raises RecursionError"),
        (HOST, HOST + "    input()\n", "exception: raises EOFError"),
        (HOST, HOST + "    big = np.ones(10**13)\n", "exception: raises MemoryError"),
        (KERNEL, "        x[i + 1] += amount\n", "exception: raises IndexError"),
    ],
)
def test_generated_modules(tmp_path: Path, old: str, new: str, said: str) -> None:
    found, seconds = attacked(tmp_path, old, new)
    assert said in message(found)
    assert seconds < 60


def test_output_without_end_fills_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    text = "    import sys\n    while True: sys.stderr.write('again' * 100000)\n"
    found, _ = attacked(tmp_path, HOST, HOST + text)
    assert "OSError" in message(found) and "File too large" in message(found)
    large = [p for p in tmp_path.rglob("*") if p.is_file() and p.stat().st_size > 1e6]
    assert large == []


def test_memory_without_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MEMORY", 700 << 20)
    text = "    kept = []\n    while True: kept.append(np.ones(2_000_000))\n"
    found, seconds = attacked(tmp_path, HOST, HOST + text, timeout=30)
    said = "memory: over 0.7 GiB of memory allocated by a kernel or the host function"
    assert message(found) == said
    assert seconds < 25


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("while True: pass", "the original takes over", marks=pytest.mark.long),
        (
            "try:\n        while True: pass\n    except: pass\n    return grow(x, amount)",
            "original",
        ),
    ],
)
def test_sources_that_do_not_end(tmp_path: Path, body: str, said: str) -> None:
    source = f"\ndef grow(x, amount):\n    {body}\n"
    found, seconds = attacked(tmp_path, HOST, HOST, source, timeout=10)
    assert not found.verified and seconds < 60
    assert said in found.evidence[0].detail["reason"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return grow(x, amount)", "RecursionError"),
        ("raise SystemExit(2)", "SystemExit"),
        ("import os\n    os._exit(2)", "ended with exit code 2"),
    ],
)
def test_sources_that_raise(tmp_path: Path, body: str, said: str) -> None:
    source = f"\ndef grow(x, amount):\n    {body}\n"
    found, _ = attacked(tmp_path, HOST, HOST, source, timeout=20)
    why = message(found) if found.failed else str(found.evidence[0].detail)
    assert not found.verified and said in why


def test_only_definitions_run(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("still here")
    remove = f"os.remove({str(kept)!r})"
    lines = (
        f"import os\n{remove}\nGONE = {remove}\nif True:\n    {remove}\n"
        f"for _ in range(1):\n    {remove}\nwith open({str(kept)!r}, 'w') as f:\n    f.write('')\n"
        f"try:\n    {remove}\nexcept OSError:\n    pass\n"
        f"class Trap:\n    {remove}\n    gone = {remove}\n    for k in (1,):\n        {remove}\n"
        f"    fine: int = 3\n    def method(self):\n        return {remove}\n"
        f"if __name__ == '__main__':\n    {remove}\n"
    )
    path = copy(tmp_path, "maps", "SCALE = 2.5\n", "SCALE = 2.5\n" + lines)
    source = tmp_path / "maps.py"
    source.write_text(source.read_text() + lines)
    found = prove(path, "grow", cases=10)
    assert found.verified, found.mismatch
    assert kept.read_text() == "still here"
    path.write_text(path.read_text().replace("amount * SCALE)", "amount * SCALE * (GONE is None))"))
    assert "is neither an import, a definition nor a constant: not run" in message(
        prove(path, "grow", cases=10)
    )
    assert kept.read_text() == "still here"


def test_nothing_outlives_its_child(tmp_path: Path) -> None:
    marker = tmp_path / "pids"
    text = (
        "    import os, time\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        f"            open({str(marker)!r}, 'a').write(str(os.getpid()) + '\\n')\n"
        "            time.sleep(600)\n"
        "        os._exit(0)\n"
    )
    found, _ = attacked(tmp_path, HOST, HOST + text, cases=3, timeout=20)
    assert found.evidence[0].cases
    pids = [int(line) for line in marker.read_text().split()]
    assert pids
    until = time.monotonic() + 5
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def alive(pid: int) -> bool:
    """Whether a process is there; one that was killed may wait for its parent to notice."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def test_no_secrets_are_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "PASSWORD"):
        monkeypatch.setenv(name, "a secret")
    seen = tmp_path / "seen"
    text = f"    import os\n    open({str(seen)!r}, 'w').write(' '.join(os.environ))\n"
    found, _ = attacked(tmp_path, HOST, HOST + text, cases=3, timeout=20)
    assert found.verified
    names = set(seen.read_text().split())
    assert not names & {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "PASSWORD"}
    assert names <= {*os.environ, MARK, "NUMBA_ENABLE_CUDASIM", "NUMBA_CACHE_DIR"} | {
        "PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE",
        "PYTHONIOENCODING", "PYTHONPATH", "LC_CTYPE",
    }  # fmt: skip


def test_verification_that_cannot_finish_says_how_far_it_came(tmp_path: Path) -> None:
    # only NaN and infinities make this kernel loop: they come late
    new = "        while x[i] - x[i] != 0: pass\n" + KERNEL
    found, _ = attacked(tmp_path, KERNEL, new)
    assert "hang: timed out after 8 s" in message(found)
    assert found.mismatch is not None and found.mismatch.case == 10
    assert "10 cases passed before" in message(found)
    assert found.evidence[0].detail["finished"] == 10


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_children_end_with_a_verify_that_is_terminated(tmp_path: Path) -> None:
    """A build machine that stops the command does not keep its children."""
    path = edited(tmp_path, KERNEL, "        while True:\n            x[i] += amount\n")
    command = [sys.executable, "-m", "porter", "verify", str(path)]
    verify = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children: list[int] = []
    until = time.monotonic() + 60
    # the compiler, what forks, and at least one that it has forked
    while len(children) < 3 and time.monotonic() < until:
        time.sleep(0.1)
        children = family(verify.pid)[1:]
    verify.terminate()
    assert verify.wait(20) == 143
    assert len(children) >= 3
    assert not [child for child in children if alive(child)]


# a signal that comes when a child is there and nobody has been told
JUST_BEGUN = """
import os, signal, subprocess
from porter.cli import main

start = subprocess.Popen.__init__

def started(self, *args, **more):
    start(self, *args, **more)
    print(self.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

subprocess.Popen.__init__ = started
main()
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads Linux's /proc")
def test_a_child_that_was_just_begun_ends_too(tmp_path: Path) -> None:
    path = edited(tmp_path, KERNEL, KERNEL)
    command = [sys.executable, "-c", JUST_BEGUN, "verify", str(path)]
    verify = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert verify.returncode == 143, verify.stderr
    assert not [child for child in verify.stdout.split() if alive(int(child))]
    assert len(verify.stdout.split()) == 1
