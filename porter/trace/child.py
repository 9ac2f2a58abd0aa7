"""The child process of `porter trace`: runs the script as `__main__` and records it.

Called as `python -m porter.trace.child FOLDER SECONDS INPUTS SCRIPT [ARGS...]`; writes the
trace of FOLDER, and exits as the script did.  Values of arguments are kept if INPUTS is 1.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import threading
import time
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from porter import __version__
from porter.source import newer
from porter.source.files import SKIPPED
from porter.trace.place import INPUTS, trace_file
from porter.trace.record import Trace, write_trace
from porter.trace.recorder import Recorder
from porter.trace.samples import Samples

TIMED_OUT = 124
_HERE = str(Path(__file__).resolve().parent.parent)


class Project:
    """Which files are the user's: those around the script and of its folder."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder, self.script = folder, script
        self.libraries = _libraries()
        self.roots = [folder, Path(script).resolve().parent]

    def own_path(self, filename: str) -> str | None:
        """The path to record for a file of the user's project; None for all others."""
        if filename.startswith("<") or not filename.endswith(".py"):
            # the script itself may have any name
            if filename != self.script:
                return None
        path = Path(filename).resolve()
        if path.parts[: len(Path(_HERE).parts)] == Path(_HERE).parts:
            return None
        if any(path.is_relative_to(library) for library in self.libraries):
            return None
        if any(part in SKIPPED for part in path.parts):
            return None
        if not any(path.is_relative_to(root) for root in self.roots):
            return None
        return os.path.relpath(path, self.folder).replace(os.sep, "/")


class Session:
    """One recorded run; `finish` may be called by the main thread or by the clock's."""

    def __init__(self, folder: Path, script: str, args: list[str], keep: bool) -> None:
        self.project, self.args = Project(folder, script), args
        self.samples = Samples() if keep else None
        self.recorder = Recorder(self.project.own_path, self.samples)
        self.begun = 0.0
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.written = False

    def finish(self, ended: str) -> None:
        """Write the trace, once, and not in a process that the script forked."""
        seconds = time.perf_counter() - self.begun
        with self.lock:
            if self.written or os.getpid() != self.process:
                return
            self.written = True
        recorder, folder = self.recorder, self.project.folder
        trace = Trace(
            os.path.relpath(Path(self.project.script).resolve(), folder).replace(os.sep, "/"),
            tuple(self.args),
            ended,
            seconds,
            recorder.overhead + recorder.others * _event_cost(),
            recorder.functions(),
        )
        file = trace_file(folder)
        if self.samples is not None:
            self.samples.write(file.with_name(INPUTS))
        write_trace(file, trace, __version__)


def _libraries() -> list[Path]:
    """Where the standard library and installed packages are."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return [Path(p).resolve() for n in names if (p := sysconfig.get_path(n))]


def _event_cost() -> float:
    """Seconds that one event takes which is not recorded."""
    probe = Recorder(lambda name: None)
    count = 2000
    plain = time.perf_counter()
    for _ in range(count):
        len(())
    begun = time.perf_counter()
    sys.setprofile(probe)
    for _ in range(count):
        len(())
    sys.setprofile(None)
    ended = time.perf_counter()
    return max((ended - begun) - (begun - plain), 0.0) / (2 * count)


def _shown(error: BaseException, place: TracebackType | None) -> None:
    """The traceback as Python would print it for the script alone."""
    while place is not None and place.tb_frame.f_code.co_filename == __file__:
        place = place.tb_next
    traceback.print_exception(type(error), error, place)


def _run(session: Session, code: object, names: dict[str, Any]) -> tuple[int, str]:
    """Execute the script in a module with some names; its exit code, and how it ended."""
    recorder = session.recorder
    module = ModuleType("__main__")
    module.__dict__.update(__file__=session.project.script, __builtins__=__builtins__, **names)
    sys.modules["__main__"] = module
    session.begun = time.perf_counter()
    recorder.start()
    try:
        exec(code, module.__dict__)  # type: ignore[arg-type]
        recorder.stop()
        _join()
    except SystemExit as error:
        recorder.stop()
        return _exit_code(error)
    except BaseException as error:
        recorder.stop()
        _shown(error, error.__traceback__)
        text = " ".join(str(error).split())[:200]
        return 1, f"raised {type(error).__name__}" + (f": {text}" if text else "")
    return 0, "finished"


def _join() -> None:
    """Threads of the script belong to its run."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_code(error: SystemExit) -> tuple[int, str]:
    if error.code is None or isinstance(error.code, int):
        code = error.code or 0
        return code & 0xFF, f"exit {code}" if code else "finished"
    print(error.code, file=sys.stderr)
    return 1, "exit 1"


def main(argv: list[str]) -> int:
    """Run the script that the arguments name; returns the exit code to end with."""
    folder, seconds, keep, script, *args = argv
    session = Session(Path(folder), script, args, keep == "1")
    clock = threading.Timer(float(seconds), _over, (session,))
    clock.daemon = True
    sys.argv = [script, *args]
    # what stood there is our own place, which the script would not see
    sys.path[:] = [str(Path(script).resolve().parent), *_users_path()]
    try:
        code, names = newer.compiled(Path(script).read_bytes(), script)
    except (SyntaxError, ValueError) as error:
        _shown(error, None)
        session.begun = time.perf_counter()
        session.finish(f"raised {type(error).__name__}: {error}")
        return 1
    newer.read_imports()
    clock.start()
    status, ended = _run(session, code, names)
    clock.cancel()
    session.finish(ended)
    return status


def _site_packages() -> list[str]:
    return [*site.getsitepackages(), site.getusersitepackages()]


def _users_path() -> list[str]:
    """`sys.path` as the script would have it: without the place that `run_child` added.

    An installed porter lies in site-packages, which the script has in any case, after the rest.
    """
    own = str(Path(_HERE).parent)
    rest = [p for p in sys.path[1:] if p]
    if own in rest:
        rest.remove(own)
    if any(os.path.realpath(own) == os.path.realpath(p) for p in _site_packages()):
        rest.append(own)
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(given[1:])
    if not os.environ["PYTHONPATH"]:
        del os.environ["PYTHONPATH"]
    return rest


def _over(session: Session) -> None:
    """The time is over: keep what there is and end, whatever the script is doing."""
    session.finish("timed out")
    os._exit(TIMED_OUT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
