"""Forms for calls that nobody shows: other ranks, texts, axes, tuples, arguments for None."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from porter.convert.function import convert_function
from porter.inference.docstrings import read_type
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = '''import numpy as np

REFERENCE = 1000.0
RATIO = 10.0 ** (3.0 / 10.0)


def curve(x, form="linear"):
    if form == "linear":
        out = np.minimum(x, 1.0)
    elif form in ("atan", "arctan"):
        out = np.arctan(x)
    elif form != "logistic":
        raise ValueError("no such form")
    else:
        out = np.exp(x) / (1.0 + np.exp(x))
    return out


def level(x, axis=-1):
    return np.log10((x**2.0).mean(axis=axis))


def total(x, axis=None):
    return x.sum(axis=axis)


def weighted(day, night, hours=(15.0, 9.0)):
    return (np.cumsum(day) * hours[0] + np.cumsum(night) * hours[1]) / 24.0


def projected(x, n):
    return x.dot(n)


def sphere(r, theta, phi):
    return r * np.sin(theta) * np.cos(phi), r * np.cos(theta)


def crossings(x, axis=-1, relative=False):
    """How often the sign changes.

    Parameters
    ----------
    x : list or np.array
        1D or N-D data.
    """
    x = np.asarray(x)
    n = np.diff(np.signbit(x - 0.5), axis=axis).sum(axis=axis)
    if relative:
        n = n / x.shape[axis]
    return n


def term(w, depth):
    return np.log(w) * depth**2


def centers(x, fraction=1, ref=REFERENCE, ratio=RATIO):
    fraction = np.asarray(fraction)
    odd = (fraction % 2).astype("bool")
    even = ref * ratio ** ((2.0 * x + 1.0) / (2.0 * fraction)) * np.logical_not(odd)
    return even + odd * ref * ratio ** (x / fraction)


def cycle(n_seconds, fs):
    """A cycle.

    Parameters
    ----------
    n_seconds : float
        Its length.
    fs : float
        The sampling rate.
    """
    return np.cos(np.linspace(0.0, n_seconds, int(np.ceil(n_seconds * fs))))


def moved(x, by=None, origin=None):
    """Scaled and moved.

    Parameters
    ----------
    x : (n, 3) float
    by : float, how much larger the picture of the matrix is
    origin : (3,) float
    """
    if by is not None:
        x = x * by
    if origin is not None:
        x = x + origin
    return np.cumsum(x, axis=0)


cycle(1, 8)
'''
#: a call each: all of them return what NumPy returns
CALLS = """
curve(y), curve(z, "atan"), curve(x, form="arctan"), curve(y, "logistic"), curve(x)
level(y), level(x), level(cube), level(x, 0), level(x, axis=1), level(z)
total(y), total(x), total(x, 0), total(x, axis=-1), total(x, 1), total(cube, -1)
weighted(y, y), weighted(y, y, (16.0, 8.0)), weighted(y, y, hours=(20.0, 4)), weighted(z, z)
projected(y, y), projected(x, y), projected(x, x.T)
sphere(1.0, y, y), sphere(y, y, y), sphere(2.0, 0.5, 1.0)
term(y, 2.0), term(y, y), term(x, y), term(z, 0.5)
centers(y, 3), centers(y), centers(x, 2, 440.0), centers(y, 1, 1000.0, 2.0), centers(y, 2, ratio=y)
cycle(1, 8), cycle(0.3, 10.0), cycle(2.0, 8), cycle(1, 7.5)
crossings(y), crossings(x), crossings(y, relative=True), crossings(x, relative=True)
moved(p), moved(p, 2.0), moved(p, origin=p[0]), moved(p, 0.5, p[0]), moved(p, 2.5, [0.0, 0.0, 1.0])
"""
CHILD = """
import json, sys
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
rng = np.random.default_rng(1)
x, y, z = rng.random((3, 4)) + 0.1, rng.random(4) + 0.1, rng.random(5).astype(np.float32)
cube, p = rng.random((2, 3, 4)), rng.random((6, 3))

def leaves(value):
    return [v for part in value for v in leaves(part)] if isinstance(value, tuple) else [value]

def differs(name, args, kw):
    wanted, found = (leaves(getattr(m, name)(*args, **kw)) for m in (a, a_cuda))
    for w, f in zip(wanted, found, strict=True):
        kinds = [(type(v), np.asarray(v).dtype, np.shape(v)) for v in (w, f)]
        if kinds[0] != kinds[1]:
            return str(kinds)
        if not np.allclose(f, w, rtol=1e-6 if np.asarray(w).dtype.itemsize == 4 else 1e-12):
            return f"{w} and {f}"
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
names = ["curve", "level", "total", "weighted", "projected", "sphere", "term", "cycle", "moved",
         "centers", "crossings"]
space = {"x": x, "y": y, "z": z, "cube": cube, "p": p} | {n: call(n) for n in names}
for line in sys.stdin.read().strip().splitlines():
    eval(line, space)
print(json.dumps(bad))
"""


def test_other_calls_are_served(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        input=CALLS, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def forms(text: str) -> list[str]:
    module = SourceModule("import numpy as np\n" + text, "a.py")
    made = convert_function(module.by_name["f"])
    return [made.signature, *(v.signature for v in made.variants[1:])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # any number of dimensions is served, or the use says how many there are
        ("def f(x):\n    return x * 2.0\n", ["float64[:]"]),
        ("def f(x):\n    return x[1:, :] * x.sum()\n", ["float64[:, :]"]),
        ("def f(x):\n    return x[1:] * 2.0\n", ["float64[:]"]),
        # a default that is not asked for
        ("def f(x, k='a'):\n    return x * (2.0 if k == 'a' else 1.0)\n", ["float64[:], omitted"]),
        # types that are given are those
        ("def f(x: float, y):\n    return np.exp(y) * x\n", ["float64, float64[:]"]),
    ],
)
def test_no_form_where_none_is_needed(text: str, found: list[str]) -> None:
    assert forms(text) == found


def test_six_at_most() -> None:
    text = "def f(x, k='a'):\n    n = 1.0\n"
    text += "".join(f"    if k == '{c}':\n        n = {i}.0\n" for i, c in enumerate("bcdefghi"))
    assert len(forms(text + "    return x * n\n")) == 6


def test_what_docstrings_say() -> None:
    either = read_type("1d or 2d array")
    assert either is not None
    assert (either.kind, either.ndim, either.also) == ("array", 1, 2)
    remark = read_type("float, what pitch was the voxel matrix computed with")
    assert remark is not None and remark.kind == "number"
    several = read_type("float, array_like or series")
    assert several is not None and several.kind == "any"
