"""Python's numbers for arrays: the results are Python's where the original's are."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """import numpy as np


def halved(x):
    return x / 2.0


def line(x, slope=1.0, shift=0.0):
    return slope * x + shift


def both(x, y):
    return x * 0.5 + y, np.exp(x)


def clipped(x, y):
    z = x * y
    if y is None:
        return z
    return abs(z)


def rooted(x):
    return np.sqrt(x) * 2


def chosen(x):
    return np.where(x > 1.0, x, 0.0)


def largest(x, y):
    return np.maximum(x, y * 0.5)


def turned(z):
    return z * 1j


def counted(x, n: int):
    return x * n, n / 2, -n
"""

CHILD = """
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

numbers = [2.0, 3, True, np.float64(2.0), np.float32(2.0), np.int64(3), np.array(2.0)]
compared = 0


def kinds(result):
    return [(type(r), np.asarray(r).dtype) for r in (result if type(result) is tuple else [result])]


for name in [n for n in dir(a) if callable(getattr(a, n))]:
    original, made = getattr(a, name), getattr(a_cuda, name)
    count = original.__code__.co_argcount - len(original.__defaults__ or ())
    for x in numbers:
        for y in numbers if count > 1 else [None]:
            if name == "counted" and not isinstance(y, (int, np.int64)):
                continue
            args = [x, y][:count]
            try:
                found = made(*args)
            except TypeError:
                continue  # integers whose results are integers, and mixtures
            wanted = original(*args)
            assert kinds(found) == kinds(wanted), (name, args, found, wanted)
            np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)
            compared += 1
print(compared)
"""


def test_the_types_of_results_are_the_originals(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.err
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 60
    text = (shell.folder / "a_cuda.py").read_text()
    # only where it matters
    assert text.count("plain = _plain(") == 9  # `counted` has forms for integers and bools, too


STRONG = """import numpy as np


def polar(r, theta):
    return r * np.cos(theta), r * np.sin(theta)


def call(S, K, T, v):
    root = v * np.sqrt(T)
    return np.log(S / K) / root


def chosen(c, a, b):
    return np.where(c > 0.5, a, b)


def between(x, lo, hi):
    return np.minimum(np.maximum(x, lo), hi)


def straight(a, x, y):
    return abs(a) * x + y / 2
"""
STRONG_CHILD = """
import itertools
import numpy as np
import a, a_loops

compared = 0
for name in [n for n in dir(a) if callable(getattr(a, n))]:
    original, made = getattr(a, name), getattr(a_loops, name)
    values = [np.array([0.5, 0.75], np.float32), 0.625, np.array([0.5, 1.75])]
    for args in itertools.product(values, repeat=original.__code__.co_argcount):
        try:
            found = made(*args)
        except TypeError as error:
            cures = ("give them one dtype", "pass ", "porter convert")
            assert any(cure in str(error) for cure in cures), error
            continue
        wanted = original(*args)
        for f, w in zip(np.broadcast_arrays(found), np.broadcast_arrays(wanted)):
            assert f.dtype == w.dtype, (name, args, f, w)
            np.testing.assert_allclose(f, w, rtol=1e-6)
        compared += 1
print(compared)
"""


def test_numbers_that_a_function_of_numpys_takes_alone_are_float64(shell: Shell) -> None:
    shell.write("a.py", STRONG)
    assert shell.convert("a.py", "--no-verify", "--target", "loops") == 0, shell.err
    done = subprocess.run([sys.executable, "-c", STRONG_CHILD], cwd=shell.folder,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 60
    text = (shell.folder / "a_loops.py").read_text()
    for groups in ("[(theta,)]", "[(T,), (S, K)]", "[(x, lo)]"):
        assert f"strong={groups})" in text


LISTS = """import numpy as np


def product(p, q):
    a, b = p
    c, d = q
    return a * c - b * d, a * d + b * c


def summed(p, s):
    a, b = p
    return (a + b) * s


def mixed(p):
    a, b = p
    return a * 2.0, np.abs(b)


def divided(p):
    a, b = p
    return a / b


def measured(p):
    a, b = p
    return np.sqrt(a * a + b * b)


def stacked(p):
    a, b = p
    return np.array([a * b, a])


def first(p):
    return p[0] * 2.0
"""
LISTS_CHILD = """
import collections
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

pairs = [
    (1.5, 2.0), [0.5, -1.0], np.array([1.0, 2.5]), np.array([1.0, 2.5], np.float32), (1, 2.5),
    [1, 2], np.array([1, 2]), [np.float64(1), 2.0], (True, 1.0), [np.float64(2), np.float64(3)],
    [np.float32(1), np.float32(2)],
]
compared = collections.Counter()


def kinds(result):
    return [(type(r), np.asarray(r).dtype) for r in (result if type(result) is tuple else [result])]


for name in [n for n in dir(a) if callable(getattr(a, n))]:
    original, made = getattr(a, name), getattr(a_cuda, name)
    others = {"product": pairs, "summed": [2.0, 3, np.float64(2.0)]}.get(name, [None])
    for p in pairs:
        for q in others:
            args = [p] if q is None else [p, q]
            try:
                found = made(*args)
            except TypeError as error:
                assert any(w in str(error) for w in ("pass ", "give them one dtype")), error
                continue
            wanted = original(*args)
            assert kinds(found) == kinds(wanted), (name, args, found, wanted)
            np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)
            compared[name] += 1
print(*(compared[n] for n in ("product", "summed", "mixed", "divided", "measured", "first")))
"""


def test_items_of_lists_are_pythons_numbers(shell: Shell) -> None:
    """`a, b = p` of a list gives Python's numbers, and what is computed of them, too."""
    shell.write("a.py", LISTS)
    assert shell.convert("a.py", "--no-verify") == 0, shell.err
    done = subprocess.run(
        [sys.executable, "-c", LISTS_CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(map(int, done.stdout.split())) == [94, 31, 10, 11, 11, 11]
    text = (shell.folder / "a_cuda.py").read_text()
    calls = [n.strip() for n in text.split("\n") if "_plain_items(" in n and "def " not in n]
    assert calls == [
        'plain = _plain_items("p q", "all", p, q)',
        'plain = _plain_items("p s", "all", p, s)',
        'plain = _plain_items("p", "floats", p)',
        '_plain_items("p", "none", p)',
        'plain = _plain_items("p", "floats", p)',
    ]


def test_another_number_of_results_of_a_tuple() -> None:
    """`*t, = x` is a list of an array's elements, and of as many as a tuple has."""
    text = "import numpy as np\n\ndef f(x):\n    a, *t = x\n    return np.sum(x), *t\n"
    for source in (text, text.replace("a, *t = x", "*t, = x").replace("np.sum(x), *t", "t")):
        (function,) = SourceModule(source, "f.py").functions
        with suppress(Refusal):
            assert "def f(" in "".join(convert_function(function, "float64[:]").text.parts)


@pytest.mark.parametrize(("dtype", "refused"), [("int16", True), ("int64", False)])
def test_a_number_takes_the_dtype_of_an_array_beside_it(dtype: str, refused: bool) -> None:
    """An int64 beside an element of int16 is an int64, Python's number an int16."""
    source = "def f(x, y):\n    x[0] = 1\n    return x[1] + y\n"
    function = SourceModule(source, "f.py").functions[0]
    made = convert_function(function, f"{dtype}[:], int64[:]")
    text = "y is Python's {type(y).__name__}, which computes otherwise than an array"
    assert (text in "".join(made.text.parts)) is refused
