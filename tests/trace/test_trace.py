"""`porter trace`: what is recorded, and scripts that do not end well."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from porter.config import Config
from porter.diagnostics import UsageError
from porter.rules.engine import analyze
from porter.source.files import read
from porter.trace.lookup import forget
from porter.trace.place import find_trace, trace_file
from porter.trace.record import read_trace
from tests.support.commands import porter
from tests.support.paths import ROOT

MODULE = """
import functools
import numpy as np

def softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=1, keepdims=True)

def steps(u, count, alpha=0.1, mode="fast", mask=None):
    return [softmax(u) for _ in range(count)]

class Model:
    def apply(self, x):
        return softmax(x)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def variadic(*xs):
    return xs

def slow():
    import time
    time.sleep(0.2)

def outer():
    slow()
"""
SCRIPT = """
import sys
import numpy as np
from lib import work

def main(n):
    x = np.ones((n, 20), np.float32)
    for k in range(3):
        work.softmax(x[:, ::2])
    work.softmax(np.ones((n, 20)))
    work.steps(np.ones((4, 4)), 5)
    work.Model().apply(x)
    work.fib(10)
    work.variadic(1, 2)
    work.outer()

if __name__ == "__main__":
    main(int(sys.argv[1]))
"""


def script(folder: Path, text: str) -> Path:
    (folder / "main.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = script(tmp_path_factory.mktemp("traced"), SCRIPT)
    (folder / "lib").mkdir()
    (folder / "lib" / "work.py").write_text(MODULE)
    done = porter(folder, "trace", "main.py", "30", "--flag")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_types_sizes_and_calls(traced: tuple[Path, str]) -> None:
    trace = read_trace(trace_file(traced[0]))
    assert (trace.script, trace.args, trace.ended) == ("main.py", ("30", "--flag"), "finished")
    found = {f.name: f for f in trace.functions}
    softmax = found["softmax"]
    assert (softmax.path, softmax.line, softmax.calls) == ("lib/work.py", 5, 3 + 1 + 5 + 1)
    kinds = {s.types: s for s in softmax.signatures}
    assert set(kinds) == {"float32[:, :]", "float64[:, ::1]", "float32[:, ::1]"}
    assert [(s.sizes, s.calls) for s in kinds["float32[:, :]"].shapes] == [(((30, 10),), 3)]
    doubles = {s.sizes: s.calls for s in kinds["float64[:, ::1]"].shapes}
    assert doubles == {((30, 20),): 1, ((4, 4),): 5}
    steps = found["steps"].signatures[0]
    assert steps.types == "float64[:, ::1], int64, float64, unicode_type, none"
    assert steps.shapes[0].sizes == ((4, 4), 5, None, None, None)
    assert found["Model.apply"].parameters == ("self", "x")
    assert found["fib"].calls == 177
    assert found["variadic"].signatures == ()
    assert "<listcomp>" not in found and "Model" not in found


def test_times_with_and_without_what_is_called(traced: tuple[Path, str]) -> None:
    found = {f.name: f for f in read_trace(trace_file(traced[0])).functions}
    assert found["slow"].own_seconds >= 0.19
    assert found["outer"].seconds >= 0.19 > 0.05 > found["outer"].own_seconds
    assert found["main"].seconds >= found["outer"].seconds
    # a function that calls itself is counted once at a time
    assert found["fib"].seconds < 0.1

    trace = read_trace(trace_file(traced[0]))
    own = sum(f.own_seconds for f in trace.functions)
    whole = next(f for f in trace.functions if (f.path, f.name) == ("main.py", "<module>"))
    assert own == pytest.approx(whole.seconds, rel=0.1)


def test_the_listing_says_what_it_cost(traced: tuple[Path, str]) -> None:
    out = traced[1]
    assert "lib/work.py:5 softmax" in out and "of which the recording took about" in out


def test_found_from_files_below(traced: tuple[Path, str]) -> None:
    assert find_trace(str(traced[0] / "lib" / "work.py")) == trace_file(traced[0])


@pytest.mark.parametrize("text", ["{", "[]", '{"porter_trace": 1}', '{"porter_trace": 99}'])
def test_a_file_that_is_no_trace(tmp_path: Path, text: str) -> None:
    trace_file(tmp_path).parent.mkdir()
    trace_file(tmp_path).write_text(text)
    with pytest.raises(UsageError, match="run `porter trace` again"):
        read_trace(trace_file(tmp_path))


ENDS = {
    "raises": ("def f(): raise ValueError('no good')\nf()", "raised ValueError: no good"),
    "exits": ("import sys\ndef f(): sys.exit(7)\nf()", "exit 7"),
    "message": ("import sys\ndef f(): sys.exit('stop')\nf()", "exit 1"),
    "loops": ("def f():\n    while True: pass\nf()", "timed out after 2 s (--timeout)"),
    "syntax": ("def f(:", "raised SyntaxError"),
}


@pytest.mark.parametrize("name", sorted(ENDS))
def test_bad_ends_are_said_and_recorded(tmp_path: Path, name: str) -> None:
    text, said = ENDS[name]
    done = porter(script(tmp_path, text), "trace", "--timeout", "2", "main.py")
    assert done.returncode == 1 and said in done.stderr.splitlines()[-1]
    assert "porter/trace" not in done.stderr
    trace = read_trace(trace_file(tmp_path))
    if name != "syntax":
        assert [f.calls for f in trace.functions if f.name == "f"] == [1]
    if name == "loops":
        assert next(f for f in trace.functions if f.name == "f").own_seconds > 1.5


def test_what_python_cannot_finish_is_said(tmp_path: Path) -> None:
    done = porter(script(tmp_path, "import os\nos._exit(3)"), "trace", "main.py")
    assert done.returncode == 1
    assert "ended with exit code 3 before Python could finish: nothing was" in done.stderr
    assert not trace_file(tmp_path).exists()


def test_megabytes_of_output_are_cut(tmp_path: Path) -> None:
    done = porter(
        script(tmp_path, "for _ in range(400):\n    print('x' * 50000)"), "trace", "main.py"
    )
    assert done.returncode == 0
    assert "more bytes of output are not shown" in done.stderr
    assert len(done.stderr) < 100_000 and "xx" not in done.stdout


STRAY = """
import subprocess, sys
new = {new}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                         start_new_session=new)
open("pid", "w").write(str(child.pid))
while {loops}: pass
"""


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_nothing_is_left_running(tmp_path: Path, new: bool, loops: bool) -> None:
    folder = script(tmp_path, STRAY.format(new=new, loops=loops))
    porter(folder, "trace", "--timeout", "2", "main.py")
    pid = int((folder / "pid").read_text())
    until = time.monotonic() + 5
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_the_script_sees_what_it_would_see_alone(tmp_path: Path) -> None:
    text = """
import json, os, sys
import helper
json.dump([sys.argv, __name__, sys.path[0], os.environ.get("PYTHONPATH"),
           sys.modules["__main__"].helper is helper, sys.stdin.read()], open("seen", "w"))
"""
    folder = script(tmp_path, text)
    (folder / "helper.py").write_text("")
    path = os.pathsep.join([str(ROOT), "/somewhere"])
    given, own = ["main.py", "--timeout", "x", "-f"], {"PYTHONPATH": path}
    done = porter(folder, "trace", *given, environment=own)
    assert done.returncode == 0, done.stderr
    seen = json.loads((folder / "seen").read_text())
    argv = ["main.py", "--timeout", "x", "-f"]
    assert seen == [argv, "__main__", str(folder), path, True, ""]


def test_threads_are_recorded(tmp_path: Path) -> None:
    text = """
import threading
def work(n): return sum(range(n))
threads = [threading.Thread(target=work, args=(1000,)) for _ in range(4)]
for t in threads: t.start()
"""
    assert porter(script(tmp_path, text), "trace", "main.py").returncode == 0
    found = {f.name: f for f in read_trace(trace_file(tmp_path)).functions}
    assert found["work"].calls == 4


def test_a_script_that_is_missing(tmp_path: Path) -> None:
    done = porter(tmp_path, "trace", "main.py")
    assert done.returncode == 2 and done.stderr == "error: main.py: no such file\n"


# -- what later commands make of it ------------------------------------------------------------

TYPED = """
import numpy as np
from numba import njit

def scale(x, w):
    return x * w

def hinted(x: "NDArray[np.float32]", n):
    return x * n

@njit("float64[:](float64[:])")
def decorated(x):
    return x * 2.0

def listed(x, y):
    return y * 2.0

def flagged(x, mode="fast", mask=None):
    return x + (0.0 if mask is None else 1.0)

def changed(x, added):
    return x * added
"""
CALLS = """
import numpy as np
import typed
one, two = np.ones(5, np.float32), np.ones((3, 4), np.float32)
for _ in range(3):
    typed.scale(two, 2.0)
typed.hinted(two.astype(float), 2)
typed.decorated(np.ones(3))
typed.listed([1, 2], two)
typed.flagged(two)
typed.changed(two, 2.0)
"""


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    folder = script(tmp_path, CALLS)
    (folder / "typed.py").write_text(TYPED)
    assert porter(folder, "trace", "main.py").returncode == 0
    forget()
    return folder / "typed.py"


def verdicts(file: Path, settings: dict[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    found = analyze(read(str(file)), config=Config(signatures=settings or {}))
    return {v.name: (v.signature, *v.assumed) for v in found.functions}


def test_types_come_from_the_trace_behind_hints_and_decorators(typed: Path) -> None:
    found = verdicts(typed)
    assert found["scale"] == (
        "float32[:, :], float64",
        "x is a 2-D array of float32 (from trace)",
        "w is a scalar (float64) (from trace)",
    )
    assert found["hinted"][0] == "float32[:, :], int64"
    assert found["decorated"] == ("float64[:]",)
    # what has no name as a type is judged from use, as without a trace
    assert found["listed"][0] == "float64[:], float32[:, :]"
    assert found["flagged"][0] == "float32[:, :], omitted, omitted"


def test_settings_come_before_the_trace_and_behind_decorators(typed: Path) -> None:
    found = verdicts(typed, {"scale": "float64[:], float64", "decorated": "float32[:, :]"})
    assert found["scale"] == ("float64[:], float64",)
    assert found["decorated"] == ("float64[:]",)


def test_a_parameter_that_is_new_since_the_trace_is_judged_from_use(typed: Path) -> None:
    typed.write_text(TYPED.replace("changed(x, added)", "changed(x, added, more)"))
    assert "(from trace)" in verdicts(typed)["changed"][1]


def test_convert_says_what_came_from_the_trace(typed: Path) -> None:
    given = ["--no-verify", "-o", "-", "-f", "scale", "typed.py"]
    done = porter(typed.parent, "convert", *given)
    assert done.returncode == 0, done.stderr
    assert "assumed: x is a 2-D array of float32 (from trace)" in done.stderr
    assert "# porter: assumed scale: x is a 2-D array of float32 (from trace)" in done.stdout
    assert "# porter: also scale(float64[:, :], float64)" in done.stdout


def test_a_broken_trace_is_a_warning(typed: Path) -> None:
    trace_file(typed.parent).write_text("{}")
    done = porter(typed.parent, "analyze", "typed.py")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ") and "run `porter trace` again" in done.stderr
