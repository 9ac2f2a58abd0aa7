"""Children that a server forks are as good as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porter.bounded import MARK
from porter.verify.fork import servers
from porter.verify.process import Child, with_bytecode
from tests.support.verification import copy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children fork on Linux alone")
EXTRA = with_bytecode({"NUMBA_ENABLE_CUDASIM": "1"})
HOST = "    given = x\n"
#: what a child says of itself, and what it leaves in a module that all children import
FACTS = """    import json, os, pathlib, sys
    from numba.core import config
    environment = pathlib.Path("/proc/self/environ").read_bytes().split(b"\\0")
    facts = pathlib.Path("facts")
    facts.exists() or facts.write_text(json.dumps({
        "folder": os.getcwd(), "leads": os.getsid(0) == os.getpid(), "pid": os.getpid(),
        "server": os.getppid(),
        "marks": [e.decode() for e in environment if e.startswith(b"PORTER_CHILD=")],
        "mark": os.environ["PORTER_CHILD"], "cache": config.CACHE_DIR,
        "sockets": [f.name for f in pathlib.Path("/proc/self/fd").iterdir() if f.is_socket()],
        "seen": hasattr(np, "seen"), "drawn": float(np.random.random()),
    }))
    np.seen = True
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    with servers.kept():
        yield tmp_path


def forked(folder: Path, text: str = "") -> Child:
    """A child at work on `grow` of `maps` with a text in its host function."""
    path = copy(folder, "maps", HOST, text + HOST)
    (folder / "reply").unlink(missing_ok=True)
    asked = {
        "module": str(path), "place": str(path), "functions": ["grow"], "cases": 1, "seed": 0,
        "seconds": 20, "reply": str(folder / "reply"), "limit": 100,
    }  # fmt: skip
    request = folder / "request.json"
    request.write_text(json.dumps(asked))
    child = servers.forked(str(request), "simulator", EXTRA, "cache", folder / "log")
    assert child is not None
    return child


def facts(folder: Path) -> dict[str, Any]:
    # the first call of several writes them
    (folder / "facts").unlink(missing_ok=True)
    child = forked(folder, FACTS)
    assert child.wait(60) and child.process.returncode == 0, child.said()
    child.stop()
    assert json.loads((folder / "reply").read_text().splitlines()[-1]) == {"end": True}
    return json.loads((folder / "facts").read_text()) | {"number": child.process.pid}


def child_reply(folder: Path) -> bytes:
    reply = folder / "reply"
    return reply.read_bytes() if reply.exists() else b""


def test_each_is_a_process_of_its_own(folder: Path) -> None:
    first, second = facts(folder), facts(folder)
    for one in (first, second):
        assert one["pid"] == one["number"] and one["leads"] and not one["sockets"]
        assert one["folder"] == str(folder) and one["cache"] == "cache"
        # by its mark it is found when it has left its group
        assert one["marks"] == [f"{MARK}={one['mark']}"]
    assert first["mark"] != second["mark"] and not second["seen"]
    assert first["drawn"] != second["drawn"]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("    import os; os._exit(7)\n", 7, "with exit code 7"),
        ("    import os; os.abort()\n", -signal.SIGABRT, "by SIGABRT"),
    ],
)
def test_how_it_ended_is_told(folder: Path, text: str, code: int, said: str) -> None:
    child = forked(folder, text)
    assert child.wait(60)
    assert (child.process.returncode, child.ended()) == (code, said)
    child.stop()


def test_one_that_does_not_end_is_ended(folder: Path) -> None:
    child = forked(folder, "    while True: pass\n")
    assert not child.wait(3)
    child.stop()
    assert child.process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(child.process.pid, 0)


def test_another_server_comes_where_one_has_died(folder: Path) -> None:
    pid = facts(folder)["server"]
    (server,) = [s for s in servers._servers.values() if s.process.pid == pid]
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(20)
    assert facts(folder)["pid"]
    assert server not in servers._servers.values()


def test_a_server_that_cannot_start_leaves_the_work_to_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (folder / "numba.py").write_text("raise ImportError('none here')\n")
    assert servers.forked("request", "simulator", EXTRA, "cache", folder / "log") is None


def test_nothing_is_forked_where_no_server_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "_depth", 0)
    assert servers.forked("request", "simulator", EXTRA, "cache", folder / "log") is None


@pytest.mark.long
def test_few_servers_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = forked(folder, "    import time; time.sleep(2)\n")
    while b"start" not in child_reply(folder):
        assert child.process.poll() is None, child.said()
        time.sleep(0.1)
    first = next(iter(servers._servers.values()))
    for name in ("a", "b"):
        monkeypatch.setenv("TMPDIR", str(folder / name))
        (folder / name).mkdir()
        facts(folder)
    assert len(servers._servers) == 2 and first not in servers._servers.values()
    # what it has forked goes on, and it is gone afterwards
    assert child.wait(60) and child.process.returncode == 0, child.said()
    assert first.process.wait(20) == 0
    child.stop()
