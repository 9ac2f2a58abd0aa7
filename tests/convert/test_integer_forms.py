"""Forms for integers: where NumPy's result needs other kernels, and callers pass integers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """import numpy as np

REFERENCE = np.array([0, 3, 6, 9, 12, 15, 18, 19])


def lowest(level, weight=1.0):
    return np.min(level), np.clip(level, -8, 0).sum() * weight, level - np.max(level)


def residuals(level):
    difference = level - REFERENCE
    return np.clip(difference, np.min(difference), 0)


def to_float(colors):
    colors = np.asanyarray(colors)
    if colors.dtype.kind == "f":
        return colors.astype(np.float64)
    elif colors.dtype.kind in "iu":
        return colors.astype(np.float64) / np.iinfo(colors.dtype).max
    raise ValueError("neither integers nor floats")


def brightness(colors):
    values = to_float(colors)
    return np.where(values <= 0.04, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def show():
    return lowest(np.array([3, 1, 2])), residuals(np.array([3, 1, 2, 5, 8, 13, 21, 34]))
"""
#: a call each: all of them return what NumPy returns
CALLS = """
lowest(i), lowest(i, 0.5), lowest(i, np.float64(2)), lowest(f), lowest(f, 3), lowest(s)
lowest(i, weight=0.25)
lowest(i[::-2]), lowest([3, -4, 2]), lowest([3.5, -4, 2])
residuals(i), residuals(f), residuals(s), residuals(i8), residuals(i.tolist())
brightness(c), brightness(c / 255.0), brightness(s), brightness([0.1, 0.2])
"""
CHILD = """
import json, sys
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
rng = np.random.default_rng(1)
i = rng.integers(-20, 20, 8)
f, s, i8 = i + 0.5, (i / 4).astype(np.float32), i.astype(np.int8)
c = np.arange(24, dtype=np.uint8)

def leaves(value):
    return [v for part in value for v in leaves(part)] if isinstance(value, tuple) else [value]

def differs(name, args, kw):
    wanted, found = (leaves(getattr(m, name)(*args)) for m in (a, a_cuda))
    for w, g in zip(wanted, found, strict=True):
        kinds = [(type(v), np.asarray(v).dtype, np.shape(v)) for v in (w, g)]
        if kinds[0] != kinds[1]:
            return str(kinds)
        if not np.allclose(g, w, rtol=1e-6 if np.asarray(w).dtype.itemsize == 4 else 1e-12):
            return f"{w} and {g}"
    return ""

def call(name):
    def compared(*args, **kw):
        try:
            text = differs(name, args, kw)
        except Exception as e:
            text = f"{type(e).__name__}: {e}"
        if text:
            bad.append(f"{name}{args}{kw}: {text}")
    return compared

bad = []
space = {"np": np, "i": i, "f": f, "s": s, "i8": i8, "c": c}
space |= {n: call(n) for n in ("lowest", "residuals", "brightness")}
for line in sys.stdin.read().strip().splitlines():
    eval(line, space)
for weight in (2, True, np.int8(3)):  # integers beside integers: other results than with a float
    try:
        bad.append(str(a_cuda.lowest(i, weight)))
    except TypeError:
        pass
print(json.dumps(bad))
"""


def test_integers_and_floats_have_kernels_of_their_own(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    options = [x for n in ("lowest", "residuals", "brightness") for x in ("-f", n)]
    assert shell.convert("a.py", "--no-verify", *options) == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        input=CALLS, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_both_are_verified(shell: Shell) -> None:
    """The first form's array has a fixed length, and so no size of its own."""
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "-f", "residuals") == 0, shell.out
    assert "also for: (int64[:])" in shell.out


def forms(text: str, *signatures: str) -> list[str]:
    module = SourceModule("import numpy as np\n" + text, "a.py")
    made = convert_function(module.by_name["f"], signatures or None)
    return [made.signature, *(v.signature for v in made.variants[1:])]


SHOWN = "\n\nf(np.array([1, 2]))\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # nobody shows integers
        ("def f(x):\n    return x[1:].max()\n", False),
        ("def f(x):\n    return x[1:].max()\n" + SHOWN, True),
        ("def f(x):\n    return x[1:].max()\n" + SHOWN.replace("2", "2.5"), False),
        # the kernels for floats serve them, or the host converts them
        ("def f(x):\n    return np.roll(x, 1)\n" + SHOWN, False),
        ("def f(x):\n    return x[1:].mean()\n" + SHOWN, False),
        # floats that the function asks for
        ("def f(x: 'NDArray[np.float64]'):\n    return x[1:].max()\n" + SHOWN, False),
    ],
)
def test_only_where_integers_are_likely(text: str, found: bool) -> None:
    assert any(s.startswith("int64[") for s in forms(text)) == found


def test_signatures_may_differ_in_the_kind_of_dtype() -> None:
    text = "def f(x):\n    return x[1:].max()\n"
    assert forms(text, "float64[:]", "int64[:]") == ["float64[:]", "int64[:]"]


def test_integers_are_asked_for_first() -> None:
    module = SourceModule("import numpy as np\ndef f(x):\n    return x[1:].max()\n", "a.py")
    made = convert_function(module.by_name["f"], ("float64[:]", "int64[:]"))
    (text,) = made.text.parts
    assert text.index('if _kind(x) in "iu":') < text.index("return _f_integers(x")
    assert text.index("return _f_integers(x") < text.index("    return _f_floats(x")
