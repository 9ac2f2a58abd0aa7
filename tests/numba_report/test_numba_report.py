"""`porter analyze --compile` and `--run`: Numba's own word, from real child processes."""

from __future__ import annotations

import json
import os
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from porter.cli import main

OBJECTS = """\
import hashlib

import numpy as np
from numba import jit, njit


@jit(forceobj=True)
def fingerprint(values):
    for k in range(len(values)):
        values[k] = values[k] ** 2
    return hashlib.md5(values).hexdigest()


@jit(forceobj=True)
def lengths(values):
    for k in range(len(values)):
        values[k] = len(text_of(values[k]))
    return values


def text_of(value):
    return hashlib.md5(str(value).encode()).hexdigest()


@njit
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace
"""
CALLS = """

fingerprint(np.ones(4))
lengths(np.ones(4))
go_fast(np.ones((3, 3)))
go_fast(np.ones((3, 3), np.float32))
"""


class Folder:
    """A folder with scripts, and `porter analyze` run in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.code, self.out, self.err = 0, "", ""

    def write(self, text: str, name: str = "a.py") -> None:
        (self.folder / name).write_text(textwrap.dedent(text), "utf-8")

    def analyze(self, *arguments: str) -> str:
        with pytest.raises(SystemExit) as done:
            main(["analyze", *arguments])
        assert isinstance(done.value.code, int)
        self.code = done.value.code
        self.out, self.err = self.capsys.readouterr()
        return self.out

    def json(self, *arguments: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.analyze("--output-format", "json", *arguments))
        return loaded

    def word(self, found: dict[str, Any], name: str) -> list[dict[str, Any]]:
        return word_on(found, name) + [w for w in found["numba"] if w["name"] == name]


@pytest.fixture
def folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path, capsys)


def places(found: dict[str, Any], code: str) -> list[tuple[int, str]]:
    return [(d["line"], d["message"]) for d in found["diagnostics"] if d["code"] == code]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return analyzed(tmp_path_factory.mktemp("ran") / "a.py", OBJECTS + CALLS, "--run", "--raw")


def analyzed(file: Path, text: str, *options: str) -> dict[str, Any]:
    file.write_text(text, "utf-8")
    out = file.with_suffix(".json")
    # the time of a busy machine, not a limit that is tested
    options = (*options, "--timeout", "300", "--output-format", "json", "--output-file", str(out))
    with pytest.raises(SystemExit):
        main(["analyze", str(file), *options])
    loaded: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return loaded


def word_on(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [w for f in found["functions"] for w in f["numba"] if f["name"] == name]


def test_run_tells_every_signature_that_was_compiled(ran: dict[str, Any]) -> None:
    fast = word_on(ran, "go_fast")
    assert [(w["signature"], w["returns"], w["mode"]) for w in fast] == [
        ("float64[:, ::1]", "float64[:, ::1]", "nopython"),
        ("float32[:, ::1]", "float64[:, ::1]", "nopython"),
    ]
    assert not fast[0]["assumed"]
    assert "trace: float64" in fast[0]["types"]["29"]
    assert fast[0]["object_lines"] == []
    # Numba's own text has types too, and comes with --raw
    assert "# --- LINE 29 ---" in fast[0]["raw"] and ":: float64" in fast[0]["raw"]


def test_run_tells_which_loops_really_lifted(ran: dict[str, Any]) -> None:
    found = ran
    (lifted,) = word_on(found, "fingerprint")
    (stuck,) = word_on(found, "lengths")
    assert lifted["mode"] == stuck["mode"] == "lifted"
    assert lifted["loops"] == [
        {"line": 9, "end_line": 10, "signature": "values: float64[::1]", "nopython": True,
         "reason": ""},
    ]  # fmt: skip
    (loop,) = stuck["loops"]
    assert (loop["line"], loop["nopython"]) == (16, False)
    # inside the lifted loop variables have types, around it everything is an object
    assert "values: float64[::1]" in lifted["types"]["10"]
    assert 11 in lifted["object_lines"] and 10 not in lifted["object_lines"]
    assert 17 in stuck["object_lines"]
    assert places(found, "PRT290") == [(9, "Numba lifts this loop for values: float64[::1]")]
    ((line, message),) = places(found, "PRT291")
    assert line == 16 and "`text_of`" in message
    stages = {f["name"]: f["stage"] for f in found["functions"]}
    assert stages["fingerprint"] == "object mode" and stages["go_fast"] == "nopython"


def test_raw_prints_the_annotation_below_the_results(folder: Folder) -> None:
    folder.write("from numba import njit\n\n\n@njit\ndef f(x):\n    return x + 1\n\n\nf(1)\n")
    plain = folder.analyze("--run", "a.py")
    assert "a.py:5  f  nopython  (int64) -> int64" in plain and "LINE" not in plain
    raw = folder.analyze("--run", "a.py", "--raw")
    assert raw.startswith(plain)
    assert "--- a.py:5 f(int64) ---" in raw and "# --- LINE 6 ---" in raw


def test_types_are_printed_under_each_line(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write(OBJECTS + "\n\nfingerprint(np.ones(4))\ngo_fast(np.ones((3, 3), np.float32))\n")
    plain = folder.analyze("--run", "a.py")
    shown = folder.analyze("--run", "a.py", "--types").removeprefix(plain)
    assert shown.startswith(
        "Numba's types (N machine code, L a lifted loop, O Python objects):\n\n"
        "a.py:8 fingerprint(float64[::1]) -> Python object\n"
    )
    assert (
        "26   def go_fast(a):\n"
        "27 N     trace = 0.0\n"
        "         : trace: float64\n"
        "28 N     for i in range(a.shape[0]):\n"
        "         : a: float32[:, ::1]; i: int64\n"
    ) in shown
    lifted = next(line for line in shown.splitlines() if " L   " in line)
    assert "for " in lifted and "return: (" not in shown
    assert "\x1b" not in shown
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[2m         : trace: float64\x1b[0m" in folder.analyze("--run", "a.py", "--types")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in folder.analyze("--run", "a.py", "--types")
    compiled = folder.analyze("--compile", "a.py", "--types", "--output-format", "concise")
    assert ": trace: float64" in compiled


def test_a_cached_function_is_compiled_all_the_same(folder: Folder) -> None:
    folder.write("""
        from numba import njit


        @njit(cache=True)
        def hypot(x, y):
            t = min(abs(x), abs(y))
            x = max(abs(x), abs(y))
            return x * (1 + (t / x) ** 2) ** 0.5


        hypot(3.0, 4.0)
    """)
    for _ in range(2):
        (word,) = folder.word(folder.json("--run", "a.py"), "hypot")
        assert (word["signature"], word["returns"]) == ("float64, float64", "float64")
    assert not list(folder.folder.rglob("*.nbi"))


def test_run_follows_imports_of_the_project(folder: Folder) -> None:
    folder.write(
        """
        from numba import njit


        @njit
        def twice(x):
            return x + x
        """,
        "lib.py",
    )
    folder.write(
        "import sys\n\nfrom lib import twice\n\nassert sys.argv[1:] == ['--n', '3']\ntwice(2)\n"
    )
    found = folder.json("--run", "a.py", "--", "--n", "3")
    (word,) = folder.word(found, "twice")
    assert (word["path"], word["line"], word["signature"]) == ("lib.py", 6, "int64")


def test_a_script_that_loops_for_ever_is_stopped(folder: Folder) -> None:
    folder.write("while True:\n    pass\n")
    started = time.monotonic()
    found = folder.json("--run", "a.py", "--timeout", "2")
    assert time.monotonic() - started < 20
    assert places(found, "PRT921") == [(1, "the script was stopped after 2 s")]
    assert folder.code == 1


def test_what_was_compiled_before_a_script_died_is_told(folder: Folder) -> None:
    folder.write("""
        import os

        from numba import njit


        @njit
        def one(x):
            return x + 1


        one(1)
        os._exit(7)
    """)
    found = folder.json("--run", "a.py", "--timeout", "300")
    (word,) = folder.word(found, "one")
    assert word["mode"] == "nopython"
    assert places(found, "PRT920") == [(1, "the script ended with exit code 7")]


def test_what_a_script_started_does_not_survive_it(folder: Folder) -> None:
    # a child, a grandchild, and one that left the process group; the script itself ends at once
    folder.write("""
        import subprocess, sys

        sleep = "import time; open(sys.argv[1], 'w').close(); time.sleep(60)"
        child = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', %r, 'three'])"
        code = "import sys; " + sleep
        subprocess.Popen([sys.executable, "-c", code, "one"])
        subprocess.Popen([sys.executable, "-c", code, "two"], start_new_session=True)
        subprocess.Popen([sys.executable, "-c", child % code])
        import os, time
        while not all(os.path.exists(n) for n in ("one", "two", "three")):
            time.sleep(0.01)
    """)
    folder.json("--run", "a.py", "--timeout", "30")
    assert [p for p in Path("/proc").glob("[0-9]*") if in_folder(p, folder.folder)] == []


def in_folder(process: Path, folder: Path) -> bool:
    """Whether another process than this one works in a folder."""
    try:
        return process.name != str(os.getpid()) and (process / "cwd").readlink() == folder
    except OSError:
        return False


def test_megabytes_of_output_are_not_kept_nor_mixed_in(folder: Folder) -> None:
    folder.write("""
        import sys

        for _ in range(30):
            print("noise" * 200_000)
            print("noise" * 200_000, file=sys.stderr)
        print("the end")
        sys.exit(3)
    """)
    found = folder.json("--run", "a.py")
    assert places(found, "PRT920") == [(1, "the script ended with exit code 3")]
    (diagnostic,) = found["diagnostics"]
    assert diagnostic["help"].endswith("it printed last: the end")
    assert "noise" not in folder.out + folder.err
    assert len(folder.out) < 2000


def test_the_exit_code_of_a_script_is_told(folder: Folder) -> None:
    folder.write("import sys\n\nsys.exit(7)\n")
    assert places(folder.json("--run", "a.py"), "PRT920") == [
        (1, "the script ended with exit code 7")
    ]
    folder.write("import os, signal\n\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert "a.py:1:1: PRT920 the script ended by the signal SIGSEGV" in folder.analyze(
        "--run", "a.py", "--output-format", "concise"
    )


def test_what_a_script_raises_is_told_at_its_line(folder: Folder) -> None:
    folder.write("def check(x):\n    raise ValueError(f'{x} is odd')\n\n\ncheck(3)\n")
    found = folder.json("--run", "a.py")
    assert places(found, "PRT920") == [(2, "the script raised ValueError: 3 is odd")]
    assert "Traceback" not in folder.out + folder.err


def test_nothing_compiled_is_said(folder: Folder) -> None:
    folder.write("from numba import njit\n\n\n@njit\ndef f(x):\n    return x\n")
    found = folder.json("--run", "a.py")
    ((_, message),) = places(found, "PRT922")
    assert "compiled nothing" in message
    assert "--compile" in found["diagnostics"][0]["help"]


def notebook(folder: Folder, *cells: str, name: str = "n.ipynb") -> None:
    code = [{"cell_type": "code", "source": c, "metadata": {}, "outputs": []} for c in cells]
    text = json.dumps({"cells": code, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    (folder.folder / name).write_text(text, "utf-8")


def test_a_notebook_runs_as_in_jupyter(folder: Folder) -> None:
    (folder.folder / "sub").mkdir()
    (folder.folder / "sub" / "data.txt").write_text("4")
    notebook(
        folder,
        "%matplotlib inline\nimport asyncio\nimport numpy as np\nfrom numba import jit, njit",
        "!ls\nsize = int(open('data.txt').read())\ndisplay(size)\nget_ipython().system('ls')",
        "from __future__ import annotations\n\n@njit\ndef total(v: Missing):\n"
        "    return v.sum()\n\n@jit(forceobj=True)\ndef slow(v):\n"
        "    for i in range(len(v)):\n        v[i] = v[i] * 2\n    return str(v)",
        "%%bash\nexit 3",
        "await asyncio.sleep(0)\ntotal(np.ones(size, np.float32)), slow(np.ones(size))",
        "%time total(1)\n\nraise ValueError('here')",
        name="sub/n.ipynb",
    )
    out = folder.analyze("--run", "sub/n.ipynb", "--output-format", "json")
    found = json.loads(out)
    by_name = {f["name"]: f for f in found["functions"]}
    (total,) = by_name["total"]["numba"]
    assert (total["signature"], total["line"], by_name["total"]["cell"]) == ("float32[::1]", 4, 3)
    assert total["types"]["5"] == ["v: float32[::1]", "return: float32"]
    (slow,) = by_name["slow"]["numba"]
    assert [(x["line"], x["nopython"]) for x in slow["loops"]] == [(9, True)]
    (raised,) = [d for d in found["diagnostics"] if d["code"] == "PRT920"]
    assert (raised["cell"], raised["line"]) == (6, 3)
    assert raised["message"] == "the notebook raised ValueError: here"
    assert "magics are left out" in raised["help"]
    text = folder.analyze("--run", "sub/n.ipynb", "--types", "--raw")
    assert "sub/n.ipynb:cell 3:4 total(float32[::1]) -> float32\n4   def total" in text
    assert "--- sub/n.ipynb:cell 3:4 total(float32[::1]) ---" in text


def test_a_notebook_has_a_time_limit_and_may_be_empty(folder: Folder) -> None:
    notebook(folder, "x = 1", "import time\ntime.sleep(60)")
    out = folder.analyze("--run", "n.ipynb", "--timeout", "2")
    assert "the notebook was stopped after 2 s" in out
    notebook(folder)
    assert "the notebook ran, and Numba compiled nothing" in folder.analyze("--run", "n.ipynb")


def test_run_wants_scripts(folder: Folder) -> None:
    folder.write("x = 1\n")
    for arguments, said in (
        (["--run", "."], "--run runs scripts and notebooks"),
        (["--run", "-"], "--run runs scripts and notebooks"),
        (["--raw", "a.py"], "--raw needs --compile or --run"),
        (["--types", "a.py"], "--types needs --compile or --run"),
        (["--compile", "--timeout", "0", "a.py"], "--timeout takes"),
    ):
        folder.analyze(*arguments)
        assert folder.code == 2 and said in folder.err


def test_secrets_of_the_environment_stay_here(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "abc")
    folder.write("import os, sys\n\nsys.exit(5 if 'API_TOKEN' in os.environ else 0)\n")
    assert places(folder.json("--run", "a.py"), "PRT920") == []


COMPILED = """\
import hashlib
import math

import numpy as np
from numba import cuda, jit, njit, vectorize


@jit
def bubblesort(X):
    N = len(X)
    for end in range(N, 1, -1):
        for i in range(end - 1):
            if X[i] > X[i + 1]:
                t = X[i]
                X[i] = X[i + 1]
                X[i + 1] = t


@jit
def cannot_compile(x):
    return hashlib.md5(x).hexdigest()


@njit("float64(float64[:])")
def known(x):
    return (x + "text").sum()


@njit(["float64(float64)", "int64(int64)"])
def several(x):
    return x * 2


def half(v):
    return v / 2


@njit
def numbers(x, y):
    return math.hypot(abs(x), y)


@njit
def misjudged(table, name):
    return table["a"] + name


def plain(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = half(x[i])
    return out


@cuda.jit("void(float32[:], float32[:])")
def good(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2.0


@cuda.jit("void(float64[:])")
def deeper(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i, 0] = 1.0


@vectorize(["float64(float64)"])
def plus(x):
    return x + 1


print("a statement that must not run")
raise SystemExit(9)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return analyzed(tmp_path_factory.mktemp("compiled") / "a.py", COMPILED, "--compile")


def line_of(text: str) -> int:
    return COMPILED[: COMPILED.index(text)].count("\n") + 1


def words(found: dict[str, Any], name: str) -> list[tuple[str, str, str]]:
    known = [w for f in found["functions"] for w in f["numba"]] + found["numba"]
    return [(w["mode"], w["signature"], w["known"]) for w in known if w["name"] == name]


def test_compile_needs_no_calls(compiled: dict[str, Any]) -> None:
    assert words(compiled, "bubblesort") == [("nopython", "float64[::1]", "inferred")]
    assert words(compiled, "cannot_compile") == [("failed", "float64[::1]", "inferred")]
    assert words(compiled, "several") == [
        ("nopython", "float64", "decorator"),
        ("nopython", "int64", "decorator"),
    ]
    assert words(compiled, "plus") == [("nopython", "float64", "decorator")]


def test_compile_says_what_numba_rejects_where_no_rule_did(compiled: dict[str, Any]) -> None:
    assert words(compiled, "known") == [("failed", "float64[:]", "decorator")]
    assert places(compiled, "PRT190") == [
        (line_of('"text"'), "`+` of float64[:] and str is not known to Numba")
    ]
    # PRT101 has said it of `cannot_compile`
    assert [d["code"] for d in compiled["diagnostics"] if d["line"] == line_of("hashlib.md5")] == [
        "PRT101"
    ]


def test_compile_tries_numbers_where_arrays_do_not_fit(compiled: dict[str, Any]) -> None:
    assert words(compiled, "numbers") == [("nopython", "float64, float64", "inferred")]


def test_an_error_for_assumed_types_is_no_finding(compiled: dict[str, Any]) -> None:
    ((mode, _, known),) = words(compiled, "misjudged")
    assert (mode, known) == ("failed", "inferred")
    said = [d["code"] for d in compiled["diagnostics"] if d["function"] == "misjudged"]
    assert not {"PRT190", "PRT390"} & set(said)


def test_compile_takes_plain_functions_as_if_decorated(compiled: dict[str, Any]) -> None:
    assert words(compiled, "plain") == [("nopython", "float64[::1]", "inferred")]
    (verdict,) = [f for f in compiled["functions"] if f["name"] == "plain"]
    assert verdict["numba"][0]["decorated"] is False
    # as long as nobody decorates it, it runs in the interpreter
    assert verdict["stage"] == "object mode"


def test_compile_asks_the_cuda_target(compiled: dict[str, Any]) -> None:
    (good,) = words(compiled, "good")
    if good[0] == "unknown":
        pytest.skip("no CUDA compiler")
    assert good == ("nopython", "float32[:], float32[:]", "decorator")
    assert words(compiled, "deeper") == [("failed", "float64[:]", "decorator")]
    ((line, message),) = places(compiled, "PRT390")
    assert (line, message) == (line_of("x[i, 0]"), "2 indices for float64[:]")


def test_compile_has_a_time_limit(folder: Folder) -> None:
    folder.write("while True:\n    pass\n", "endless.py")
    folder.write("""
        import endless
        from numba import njit


        @njit
        def f(x):
            return x + endless.START
    """)
    found = folder.json("--compile", "a.py", "--timeout", "3")
    (word,) = folder.word(found, "f")
    assert word["mode"] == "unknown"
    assert word["error"]["sentence"] == "the file was not loaded within 3 s"


def test_comments_suppress_what_numba_says(folder: Folder) -> None:
    folder.write("""
        from numba import njit


        @njit("float64(float64)")
        def f(x):
            return x.foo  # porter: ignore[PRT190]
    """)
    assert folder.json("--compile", "a.py")["diagnostics"] == []
    # without Numba's word the comment is not called unused
    assert folder.json("a.py")["diagnostics"] == []


def test_compile_takes_the_types_of_a_recorded_run(folder: Folder) -> None:
    folder.write("""
        import numpy as np


        def scale(x, f):
            return x.T * f


        scale(np.ones((3, 4), np.float32), 2.0)
    """)
    with pytest.raises(SystemExit):
        main(["trace", "a.py"])
    folder.capsys.readouterr()
    (word,) = folder.word(folder.json("--compile", "a.py", "--timeout", "300"), "scale")
    assert (word["signature"], word["returns"]) == ("float32[:, ::1], float64", "float64[::1, :]")
    assert (word["known"], word["assumed"]) == ("trace", False)
