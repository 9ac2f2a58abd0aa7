"""What every test shares: the hypothesis profiles, and no `gpu` tests without a GPU."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from porter.verify.compile import compilers
from porter.verify.fork import servers
from tests.support.gpu import has_gpu
from tests.support.shell import Shell

# a failure on a build machine must be the same failure on the next run
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


# what tests keep between runs of porter is theirs alone, in child processes too
if "PORTER_CACHE_DIR" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="porter-cache-")
    os.environ["PORTER_CACHE_DIR"] = _folder.name


def pytest_collection_finish() -> None:
    """Look for garbage as seldom as the command line does, and not among ten thousand tests."""
    gc.set_threshold(200_000, 20, 20)
    gc.freeze()


LONG = Path(__file__).with_name("support") / "long.txt"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    long = set(LONG.read_text("utf-8").splitlines())
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.long)
        if item.get_closest_marker("gpu") is not None and not has_gpu():
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


@pytest.fixture(autouse=True, scope="session")
def _compilers() -> Iterator[None]:
    """What imports Numba serves the verifications of many tests: each start takes a second."""
    with compilers.kept(), servers.kept():
        yield


@pytest.fixture(autouse=True)
def _no_timers() -> Iterator[None]:
    """A timer that a test left running would raise its exception in another one."""
    yield
    if hasattr(signal, "setitimer"):
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)


@pytest.fixture
def shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """The command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)
