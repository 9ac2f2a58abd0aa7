"""Arrays that are stored into, of other dtypes than the kernels': the host casts what is stored."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.convert.calls_child import differences
from tests.convert.test_promotion import XY, converted
from tests.support.shell import Shell

SOURCE = """def step(w, g, v, rate):
    v[:] = 0.9 * v + g
    w -= rate * v
    return w


def clipped(x, y, low):
    x[x < low] = y[x < low]


def limited(x, low: float, high: float, value: float):
    x[(x < low) | (x > high)] = value
    return x


def emptied(x):
    doubled = x * 2.5
    x[:] = 0.0
    return doubled
"""
CHILD = """
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
rng = np.random.default_rng(1)


def both(name, *args):
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    wanted = getattr(a, name)(*copies)
    found = getattr(a_cuda, name)(*args)
    assert (found is args[0]) == (wanted is copies[0]), name
    for x, y in zip(args, copies):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


def refused(args, said):
    before = [a.copy() for a in args]
    try:
        a_cuda.step(*args, 0.1)
    except TypeError as e:
        assert said in str(e), e
    else:
        raise AssertionError(said)
    assert all((a == b).all() for a, b in zip(args, before))


for dtypes in ["ffd", "fdd", "dff", "dfd", "fff", "ddd"]:
    both("step", *(rng.random((3, 4)).astype(d) for d in dtypes), 0.1)
for dtypes in ["fdf", "ddf"]:
    # the float32 that v is rounded to is read again
    args = [rng.random((3, 4)).astype(d) for d in dtypes]
    refused(args, "give them one dtype, or run `porter convert")
for one, other in ["fd", "df", "ff"]:
    both("clipped", rng.random(12)[::2].astype(one), rng.random(6).astype(other), 0.5)
    both("clipped", rng.random(12).astype(one)[::2], rng.random(6).astype(other), 0.5)

whole = rng.integers(-90, 90, (4, 6))
for dtype in ["int64", "int32", "int16", "int8", "uint8", "float32"]:
    for x in [np.abs(whole).astype(dtype), whole.astype(dtype)[:, ::2], whole.astype(dtype).T]:
        both("limited", x, -30.5, 40.0, 7.75)
    both("emptied", whole.astype(dtype))
try:
    a_cuda.limited(np.array([1, 2**53 + 2]), 0.0, 9.0, 1.0)
except TypeError as e:
    assert "x has int64 up to 9007199254740994, too large to be the same in float64" in str(e), e
else:
    raise AssertionError("integers that float64 has not are kept")

x, g = rng.random(5).astype("f"), rng.random(5)
for args in [(x, x, g), (x[:-1], x[1:], g[1:])]:
    # copies of one array are not one array
    refused(args, "w is float32 and overlaps another argument: run `porter convert")
print("done")
"""


def test_what_is_stored_is_cast_as_numpy_casts_it(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    text = (shell.folder / "a_cuda.py").read_text()
    assert "step: v: no float32 if all others are float64, because what is rounded" in text
    assert "w, g, v, rate: float32 beside float64 become float64" in text
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=200, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    ("body", "mixed"),
    [
        ("x += y", True),
        ("x += y\n    return x", True),
        ("x[:] = np.where(x > 0, y, x)", True),
        # what float32 rounds is compared, or decides a dtype
        ("x += y\n    return x > 0.5", False),
        ("x += y\n    return x * 2.0", False),
        ("for _ in range(3):\n        x += np.where(x > 1, y, 0.5)", False),
    ],
)
def test_which_functions_cast(body: str, mixed: bool) -> None:
    made = converted(body, XY)
    assert [sorted(g) for g in made.conversions.mixed] == ([["x", "y"]] if mixed else [])
    text = "".join(part for one in made.texts for part in one.parts)
    assert ('stored="x"' in text) is mixed


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("x[x < 0.5] = 0", "exact(1, 1, 1)+iu"),
        ("x[np.isnan(x)] = 1.5", "exact(1, 1, 1)+iub"),
        ("y = x * 0.5\n    x[:] = -1\n    return y", "exact(1, 1, 1)+i"),
        ("x[x > 0.5] = 0.5 * np.sign(x[x > 0.5])", "exact(1, 1, 1)+iu"),
        ("x[x < 0.5] = 300", "exact(1, 1, 1)"),
        # the last digit decides what it is cast to
        ("x[:] = 0.3 * x + 1", ""),
        ("x[:] = np.sqrt(x)", ""),
        # what is read then is what was cast
        ("x[x < 0.5] = 0.5\n    return x * 0.3", ""),
        ("for _ in range(3):\n        x[x < 0.5] = 0.2", ""),
    ],
)
def test_integers_that_are_stored_into(body: str, rule: str) -> None:
    made = converted(body, "float64[:]")
    assert made.conversions.names == (("x",) if rule else ())
    assert not rule or made.conversions.integers.word == rule


def test_the_source_itself_stores_into_what_it_is_given(shell: Shell) -> None:
    shell.write("a.py", "def step(x, y):\n    x += y\n\n\ndef cut(x, t):\n    x[x < t] = 0\n")
    assert shell.convert("a.py", "--target", "cupy", "--no-verify") == 0, shell.out
    text = (shell.folder / "a_cupy.py").read_text()
    assert "converts" not in text.partition("import")[0] and "stored=" not in text


@pytest.mark.parametrize(
    ("body", "forms"),
    [
        ("x += y\n    return x", ["float64, float64[:]"]),
        ("y += 0.5 * x\n    x += y\n    return x * y", []),
        # a number takes the dtype of the array that is stored into
        ("x *= 2.0\n    return x + y", ["float64, float64[:]"]),
        # a number has no elements
        ("x[:] = x * y\n    return x", []),
    ],
)
def test_numbers_in_place_of_what_is_stored_into(body: str, forms: list[str]) -> None:
    made = converted(body, XY)
    assert {*forms} <= {v.signature for v in made.variants}
    assert forms or all("float64, " not in v.signature for v in made.variants)
    found = differences("values", body)
    for arguments, said in found:
        assert not said or said.startswith(("raises TypeError", "raises ValueError")), arguments
    assert sum(not said for _, said in found) > 150
