"""Modules of `--target cupy`: the text of functions, results beside NumPy's, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.run import verify_module

#: a function, and the body of what it becomes
TEXTS = {
    # NumPy's scalars of arrays are arrays of no dimensions
    "def f(x):\n    m = x.max()\n    if m > 1.0:\n        return x / m\n    return x": (
        "m = x.max()\nif bool(m > 1.0):\n    return x / m\nreturn x"
    ),
    "def f(x):\n    m = max(x.max(), 1.0)\n    return x / m": (
        "m = max(_scalar(x.max()), 1.0)\nreturn x / m"
    ),
    "def f(x):\n    s = math.sqrt(np.sum(x))\n    return x / s": (
        "s = math.sqrt(_scalar(cp.sum(x)))\nreturn x / s"
    ),
    "def f(x):\n    s = x.sum()\n    if 0.0 < s < 9.0:\n        return x + s\n    return x": (
        "s = x.sum()\nif 0.0 < _scalar(s) < 9.0:\n    return x + s\nreturn x"
    ),
    "def f(x):\n    k = x.argmax()\n    return x[k:] * 2.0": (
        "k = x.argmax()\nreturn x[int(k) :] * 2.0"
    ),
    # a name that is a number of the host elsewhere is read back where it is assigned
    "def f(x, n):\n    s = 0.0\n    for _ in range(n):\n        s = (x * s).sum()\n"
    "    return x * s": (
        "s = 0.0\nfor _ in range(n):\n    s = _scalar((x * s).sum())\nreturn x * s"
    ),
    # NumPy's scalars neither show their array nor change in place
    "def f(x):\n    t = x[0]\n    x[0] = x[1]\n    x[1] = t": (
        "t = x[0].copy()\nx[0] = x[1].copy()\nx[1] = t"
    ),
    "def f(x):\n    x[0], x[1] = x[1], x[0]": "x[0], x[1] = x[1].copy(), x[0].copy()",
    "def f(x):\n    t = x.sum()\n    u = t\n    t += u * 2.0\n    return x * t + u": (
        "t = x.sum()\nu = t\nt = t + (u * 2.0)\nreturn x * t + u"
    ),
    "def f(x):\n    y = x[1:]\n    y *= 2.0": "y = x[1:]\ny *= 2.0",
    "def f(x, out):\n    np.multiply(x, 2.0, out=out)": "cp.multiply(x, 2.0, out=out)",
    # whatever the names of the imports are
    "from numpy import exp, newaxis\nimport numpy.linalg as la\n\n\n"
    "def f(x):\n    return exp(x)[:, newaxis] / la.norm(x)": (
        "return cp.exp(x)[:, cp.newaxis] / cp.linalg.norm(x)"
    ),
    # what has nothing to do with arrays stays NumPy's
    "def f(x):\n    return x * np.sqrt(x.shape[0]) + np.float32(2.0)": (
        "return x * np.sqrt(x.shape[0]) + cp.float32(2.0)"
    ),
    "def f(x):\n    return x[:3] * np.outer([1.0, 2.0], [3.0])[0]": (
        "return x[:3] * cp.asarray(np.outer([1.0, 2.0], [3.0]))[0]"
    ),
    # a loop over elements: what it leaves is Python's number as it was
    "def f(x):\n    n = 0\n    for i in range(x.shape[0]):\n        if x[i] > 0:\n"
    "            n += 1\n    return x * n": (
        "n = 0\nn = int(_scalar(f_loop(x, n, stream=_numba_stream())))\nreturn x * n"
    ),
    # comments stay, statements of several lines are laid out anew
    "def f(x):\n    # the mean\n    m = x.mean(\n    )  # of all\n    return x - m": (
        "# the mean\nm = x.mean()  # of all\nreturn x - m"
    ),
    # a branch for other arguments than the module is for
    "def f(x, mode=None):\n    if mode is None:\n        return x * 2.0\n"
    "    return np.insert(x, 0, mode)": "if mode is None:\n    return x * 2.0\n"
    'raise AssertionError("for other arguments")',
}  # fmt: skip
REFUSED = {
    "def f(x):\n    return np.insert(x, 0, 1.0)": "CuPy has no `np.insert`",
    "def f(x):\n    return np.minimum.reduce(x)": "CuPy has no `np.minimum.reduce`",
    "def f(x):\n    return np.sum(x, where=x > 0)": "CuPy's `np.sum` has no parameter `where`",
    "def f(x):\n    return x.sum(where=x > 0)": "has no parameter `where`",
    "def f(x):\n    return np.sort(x, kind='stable')": "has no parameter `kind`",
    "def f(x):\n    return x + [1.0]": "computes with a list and an array",
    "def f(x):\n    return np.maximum(x, [1.0])": "is given a list",
    "def f(x):\n    x[:2] = [1.0, 2.0]": "stores a list or a tuple",
    "def f(x):\n    x[np.argsort(x)] = x * 2.0": "CuPy leaves open which one stays",
    "def f(x):\n    a = x[1:]\n    b = x[:-1]\n    for i in range(len(a)):\n        b[i] = a[i]": (
        "may show a part of another array"
    ),
    "def f(x, k):\n    out = np.zeros(9, dtype=np.int64)\n    np.add.at(out, np.argsort(x), 1)\n"
    "    return out + x": "`np.add.at` has no form for int64",
    "W = np.array([1.0, 2.0])\n\n\ndef f(x):\n    return x[:2] * W": "the module-level array `W`",
    "def f(x):\n    return np.array([x[i] for i in range(3)])": "works with single parts",
    "def f(x):\n    for i in range(len(x)):\n        if x[i] > 1.0:\n            return i\n"
    "    return 0": "returns out of a loop over elements",
    "def f(x):\n    for i in range(1, len(x)):\n        x[i] = np.sin(x[i - 1]) + x[i]": (
        "the loop over `i` runs in order"
    ),
    "def f(x):\n    return x + np.random.rand(3)": "only CUDA kernels draw random numbers",
    "def g(x):\n    def h(a):\n        return a * 2.0\n    return h(x)": (
        "is not rewritten for CuPy"
    ),
}  # fmt: skip
CHECKED = """
import math

import numpy as np

EPS = 1e-6


def power_iteration(A, n):
    v = np.ones(A.shape[0])
    lam = 0.0
    for _ in range(n):
        w = A @ v
        lam = np.sqrt((w * w).sum())
        v = w / (lam + EPS)
    return v * lam


def swapped(x):
    t = x[0]
    x[0], x[1] = x[1], x[0]
    t += 1.0
    return x * t


def shrunk(x):
    n = 0
    while np.abs(x).max() > 1.0 and n < 50:
        x = x * 0.5
        n += 1
    return x, n, x.sum(), math.exp(-n)


def moments(x):
    m = x.mean()
    return m, x.std()


def scaled(x, *, floor=0.5):
    a, b = moments(x)
    c = 2.0 if a > 0.0 else b
    return (x - a) / max(b, floor) * c


def in_place(x, y):
    x += y
    y[1:] = x[:-1]
    return x
"""
LOOPS = """
import numpy as np


def smoothed(x, steps):
    for _ in range(steps):
        new = x.copy()
        for i in range(1, x.shape[0] - 1):
            new[i] = 0.5 * (x[i - 1] + x[i + 1])
        x = new
    return x


def normed(x):
    total = 0.0
    for v in x:
        total += v * v
    return x / np.sqrt(total + 1.0)
"""


def convert(folder: Path, text: str, **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / "source.py"
    source.write_text(text, "utf-8")
    module = folder / "source_cupy.py"
    chosen = ConvertOptions((str(source),), target="cupy", **options)
    made = convert_file(SourceFile(str(source), text), chosen, Config(), module, lambda _: None)
    module.write_text(made.text or "", "utf-8")
    return made


def body(text: str, name: str) -> str:
    """The lines of a function without its docstring, not indented."""
    _, _, rest = text.partition(f"\ndef {name}(")
    lines = rest.split("\n\n\n")[0].split("\n")
    start = next(k for k, line in enumerate(lines) if '"""' in line)
    return "\n".join(line.removeprefix("    ") for line in lines[start + 1 :])


@pytest.mark.parametrize(("source", "wanted"), TEXTS.items())
def test_the_source_is_rewritten(tmp_path: Path, source: str, wanted: str) -> None:
    head = "import math\n\nimport numpy as np\n\n\n"
    made = convert(tmp_path, head + source + "\n", verify=False)
    assert not made.bad, made.diagnostics
    assert body(made.text or "", "f_cupy") == wanted


@pytest.mark.parametrize(("source", "said"), REFUSED.items())
def test_what_cupy_has_not_is_refused(tmp_path: Path, source: str, said: str) -> None:
    made = convert(tmp_path, f"import numpy as np\n\n\n{source}\n", verify=False)
    assert made.text is None
    assert any(said in d.message for d in made.diagnostics), made.diagnostics
    assert {d.code for d in made.diagnostics} <= {"PRT806", "PRT901", "PRT904"}


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The module of `CHECKED`."""
    return convert(tmp_path_factory.mktemp("checked"), CHECKED, verify=False).text or ""


def test_the_host_function_moves_arrays_once(rewritten: str) -> None:
    text = rewritten
    assert text.count("cp.asarray(") == 7  # the array arguments of all functions
    start = text.index("def in_place(x, y, *, stream=None):")
    lines = [line.strip() for line in text[start:].split("\n\n")[0].splitlines()]
    assert lines[4:] == [
        "on_device = _on_device(x) or _on_device(y)",
        "with _on_stream(stream):",
        "d_x = cp.asarray(x)",
        "if _same_memory(x, y):",
        "d_y = d_x",
        "else:",
        "d_y = cp.asarray(y)",
        "own_result = _given_back(in_place_cupy(d_x, d_y), on_device, (d_x, x), (d_y, y))",
        "_stored_back(d_x, x)",
        "_stored_back(d_y, y)",
        "return own_result",
    ]


def test_results_are_those_of_numpy(tmp_path: Path) -> None:
    made = convert(tmp_path, CHECKED)
    assert [f.status for f in made.functions] == ["converted"] * 6, made.functions
    for f in made.functions:
        (evidence,) = f.evidence
        assert evidence.detail["library"] == "NumPy's functions stand in for CuPy's"
    notes = {f.name: f.notes for f in made.functions}
    assert notes["power_iteration"] == ("line 14: a number is read back, for which Python waits",)
    assert "\n# porter: notes shrunk: line 28: a number is read back" in (made.text or "")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("power_iteration", "w = A @ v", "w = np.matmul(A, v)", "does not support ufuncs"),
        pytest.param(
            "power_iteration",
            "d_A = cp.asarray(A)",
            "d_A = A",
            "Unsupported type",
            marks=pytest.mark.slow,
        ),
        ("power_iteration", "v = cp.ones(", "v = np.ones(", "Unsupported type"),
        ("in_place", "_stored_back(d_y, y)", "pass", "argument `y`"),
        ("swapped", "t = x[0].copy()", "t = x[0]", "result"),
        pytest.param(
            "swapped", "x[1].copy(), x[0].copy()", "x[1], x[0]", "result[1]", marks=pytest.mark.slow
        ),
    ],
)
def test_what_is_forgotten_is_found(
    rewritten: str, tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    assert rewritten.count(old) == 1
    (tmp_path / "source.py").write_text(CHECKED, "utf-8")
    module = tmp_path / "source_cupy.py"
    module.write_text(rewritten.replace(old, new), "utf-8")
    (found,) = verify_module(module, functions=(name,), on=("simulator",), seconds=0.1)
    assert found.failed and said in found.why, found.why


@pytest.mark.long
def test_loops_over_elements_have_kernels(tmp_path: Path) -> None:
    made = convert(tmp_path, LOOPS)
    assert [f.status for f in made.functions] == ["converted"] * 2, made.functions
    for f in made.functions:
        assert f.kernels and {e.on for e in f.evidence} >= {"simulator", "ptx"}
    assert body(made.text or "", "smoothed_cupy") == (
        "for _ in range(steps):\n    new = x.copy()\n"
        "    smoothed_loop(x, new, stream=_numba_stream())\n    x = new\nreturn x"
    )
