"""Forms of elementwise functions for integers and real numbers that no kernel serves otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """import numpy as np


def rounded(x):
    return np.floor(x) * 10 + np.trunc(x)


def remainder(x, y):
    return x % y + x // y


def cleaned(x):
    y = x.copy()
    y[np.isnan(y)] = -1
    return y


def powers(x, power):
    return x**power + 1.0


def squared(z):
    return np.real(z) ** 2 + np.imag(z) ** 2


def mirrored(z, a):
    return (a * z + 1) / (z + 2)


def product(a, b):
    return a * np.conj(b)


def damped(w, v, g, rate=0.5):
    v[:] = rate * v - g
    w += v
    return w


def phasors(x):
    return np.exp(1j * x)


def wrapped(x):
    a = x * 2
    return a + x * (x + 1)
"""
#: the types of the arrays of each, where they are not floats
SIGNATURES = {
    "squared": "complex128[:]",
    "mirrored": "complex128[:], float64",
    "product": "complex128[:], complex128[:]",
    "powers": "float64[:], int64",
}
CHILD = """
import copy, itertools, json, sys
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
rng = np.random.default_rng(1)
DTYPES = ["int64", "int32", "int8", "uint8", "bool", "float32", "float64", "complex128"]


def made(dtype, shape):
    if dtype == "complex128":
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return rng.integers(1, 100, shape).astype(dtype)


def outcome(f, args):
    args = copy.deepcopy(args)
    try:
        result = f(*args)
    except Exception as e:
        return type(e).__name__, str(e), None
    return "", type(result).__name__, [np.asarray(v) for v in (result, *args)]


def single(v):
    return v.dtype.name in ("float32", "complex64")


def differs(wanted, found):
    for w, g in zip(wanted[2], found[2], strict=True):
        if w.dtype != g.dtype or w.shape != g.shape:
            return f"{g.dtype}{g.shape} instead of {w.dtype}{w.shape}"
        if not np.allclose(g, w, rtol=1e-5 if single(w) else 1e-12, equal_nan=True):
            return f"{g} instead of {w}"
    # an array in place of a number, Python's number in place of NumPy's
    return "" if wanted[1] == found[1] else f"{found[1]} instead of {wanted[1]}"


bad, refused = [], {}
np.seterr(all="ignore")
COUNTS = {"remainder": 2, "product": 2, "damped": 3}
for name in sys.argv[1:]:
    count = COUNTS.get(name, 1)
    more = {"mirrored": [2.5], "powers": [2]}.get(name, [])
    for dtypes in itertools.product(DTYPES, repeat=count):
        # `v[:]` of an array of no dimensions raises
        for shape in [(0,), (1,), (33,), (2, 3), ()][: 4 if name == "damped" else 5]:
            args = [made(d, shape) for d in dtypes]
            if len(shape) == 2:
                args[0] = np.asfortranarray(args[0])
            wanted, found = (outcome(getattr(m, name), args + more) for m in (a, a_cuda))
            if found[0] and found[0] == wanted[0]:
                continue
            if found[0] in ("TypeError", "ValueError"):
                refused.setdefault(name, []).append(" ".join(dtypes))
            elif found[0] or wanted[0]:
                bad.append(f"{name} {dtypes} {shape}: {wanted[:2]} {found[:2]}")
            elif text := differs(wanted, found):
                bad.append(f"{name} {dtypes} {shape}: {text}")
    numbers = [3, 2.5, np.float32(2), np.int8(3), np.array([4, 5])]
    for args in itertools.product(numbers, repeat=count):
        wanted, found = (outcome(getattr(m, name), [*args, *more]) for m in (a, a_cuda))
        if found[0] not in ("TypeError", "ValueError") and not wanted[0]:
            if text := differs(wanted, found):
                bad.append(f"{name} {args}: {text}")
print(json.dumps([bad, {n: sorted(set(r)) for n, r in refused.items()}]))
"""


def converted(text: str, *signatures: str) -> Converted:
    module = SourceModule("import numpy as np\n" + text, "a.py")
    return convert_function(module.by_name["f"], signatures or None)


def forms(text: str, *signatures: str) -> list[str]:
    made = converted(text, *signatures)
    return [v.signature for v in made.variants or (made,)]


@pytest.mark.parametrize(
    "names",
    [
        ("rounded", "cleaned", "powers", "wrapped"),
        ("remainder",),
        ("squared", "mirrored", "phasors"),
        ("product",),
        ("damped",),
    ],
)
def test_results_are_numpys_for_all_dtypes(shell: Shell, names: tuple[str, ...]) -> None:
    shell.write("a.py", SOURCE)
    given = [f'{n} = "{t}"' for n, t in SIGNATURES.items()]
    shell.write("pyproject.toml", "[tool.porter.signatures]\n" + "\n".join(given) + "\n")
    options = [x for n in names for x in ("-f", n)]
    assert shell.convert("a.py", "--no-verify", *options) == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *names], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    bad, refused = json.loads(done.stdout)
    assert bad == []
    for name in names:
        gone = refused.get(name, [])
        # bools are, where NumPy makes no narrow floats of them
        if name in ("cleaned", "wrapped", "squared", "damped"):
            assert "bool" not in gone, gone
        # integers of 64 bits are served, float32 and float64 are, and so are mixtures with them
        assert not {"int64", "float64", "int64 int64", "float64 float64"} & {*gone}, (name, gone)
        assert not {"float32", "float32 float32"} & {*gone}, (name, gone)
        # others wrap, are cast in another way, or are of narrow floats
        if name not in ("mirrored", "damped", "phasors"):
            assert not {"int32", "int8", "int32 int32", "int8 int8"} & {*gone}, (name, gone)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(x):\n    return np.sin(x) * 2\n", ["float64[:]"]),  # converted
        ("def f(x):\n    return np.maximum(x, 0)\n", ["float64[:]", "boolean[:]"]),  # the same text
        ("def f(x):\n    return np.floor(x) * 0.5\n", ["float64[:]", "int64[:]"]),
        # one text for all widths, where the first one serves int64 alone
        ("def f(x):\n    a = x * 2\n    return a + x * a\n",
         ["float64[:]", "boolean[:]", "int64[:]"]),
        # not elementwise: kernels are long
        ("def f(x):\n    return np.floor(x) * 0.5 + x.max()\n", ["float64[:]"]),
        # complex64 of float32, and complex128 of the rest
        ("def f(x):\n    return np.exp(1j * x)\n", ["float64[:]", "float32[:]"]),
        ("def f(z):\n    return z * 2.0\n", ["complex128[:]", "float64[:]"]),
        # a default that is an integer: with one, NumPy computes integers
        ("def f(x, k=2, s=1.0):\n    return x**k * s\n",
         ["float64[:], float64, float64", "int64[:], int64, float64"]),
        ("def f(x, y):\n    return x // y\n",
         ["float64[:], float64[:]", "int64[:], int64[:]"]),
    ],
)  # fmt: skip
def test_only_where_no_kernel_serves_them(text: str, found: list[str]) -> None:
    assert forms(text, *([] if "=" in text.partition(")")[0] else [found[0]])) == found


def test_the_forms_of_a_header_are_those_that_are_found() -> None:
    text = "def f(x, y):\n    return x // y\n"
    found = converted(text, "float64[:], float64[:]")
    again = converted(text, *(v.signature for v in found.variants))
    assert again.text.parts == found.text.parts
    assert [v.text.parts for v in again.variants] == [v.text.parts for v in found.variants]


def test_one_kernel_wraps_as_integers_of_each_width_do() -> None:
    (_, _, whole) = converted("def f(x):\n    a = x * 2\n    return a + x * a\n").variants
    (kernel, _) = whole.text.parts
    assert "a = I(x[i] * I(2))" in kernel and "I = x.dtype.type" in kernel
    assert {s.dtype for s in whole.siblings} == {"int8", "int16", "int32", "uint8"}


def test_pythons_numbers_beside_complex_arrays_are_what_some_form_takes() -> None:
    made = converted("def f(a, b):\n    return a * np.conj(b)\n", "complex128[:], complex128[:]")
    text = made.text.parts[-1]
    # the form for complex numbers converts `a` alone
    assert 'if _kind(b) != "c"' in text and '_kind(a) != "c" and _kind(b) != "c"' in text


@pytest.mark.parametrize("value", ["300", "-1", "2**8"])
def test_integers_that_do_not_fit_are_not_stored(value: str) -> None:
    text = f"def f(x):\n    x[x > 3] = {value}\n"
    with pytest.raises(Refusal, match="does not fit in uint8"):
        converted(text, "uint8[:]")
    made = converted(text, "float64[:]")
    served = {s.dtype for form in made.variants or (made,) for s in form.siblings}
    assert "uint8" not in served and ("int8" in served) == (value == "-1")


INTEGERS = """
import itertools, json
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
arrays = [np.arange(3), np.arange(3.0), np.arange(3, dtype="i1"), 3, 2.5, np.int8(3), True]
numbers = [(), (2,), (3.0,), (np.int8(2),), (np.int64(2),), (True,)]
bad, taken = [], 0
for name, x, more in itertools.product(("powers", "line", "above"), arrays, numbers):
    wanted = getattr(a, name)(x, *more)
    try:
        found = getattr(a_cuda, name)(x, *more)
    except TypeError:
        continue
    taken += 1
    kinds = [(type(v), np.asarray(v).dtype) for v in (wanted, found)]
    if kinds[0] != kinds[1] or not np.array_equal(wanted, found):
        bad.append(f"{name}({x!r}, {more}): {found!r} instead of {wanted!r}")
print(json.dumps([bad, taken]))
"""


def test_integers_beside_defaults_that_are_integers(shell: Shell) -> None:
    """An `int8` beside Python's integer decides the dtype, beside an array of int64 it does not."""
    shell.write(
        "a.py",
        "import numpy as np\n\n\ndef powers(x, power=2, offset=1.0):\n"
        "    return x**power + offset\n\n\ndef line(x, a=3, b=1):\n    return a * x + b\n"
        "\n\ndef above(x, low=0):\n    return np.where(x > low, np.floor(x), low)\n",
    )
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", INTEGERS], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    bad, taken = json.loads(done.stdout)
    assert bad == [] and taken > 70
