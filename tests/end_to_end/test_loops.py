"""Modules of `--target loops`: what they compute, and that Numba compiles what was written."""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import convert_file, emit_stage
from porter.options import ConvertOptions
from porter.source.files import SourceFile

NUMBER = itertools.count()

SOURCE = '''
import numpy as np

def scaled(x, w):
    """Elementwise, of any rank."""
    return np.sqrt(x) * w + 1.0

def in_place(x, t):
    x[x > t] = t

def rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def columns(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)

def product(a, b):
    return np.maximum(a @ b, 0.0)

def single(a, b):
    return a @ b

def totals(x):
    return x.sum(), x.max(), np.abs(x).sum() / x.size

def running(x):
    return np.cumsum(x)

def histogram(k, n):
    h = np.zeros(n)
    for i in range(k.shape[0]):
        h[k[i]] += 1.0
    return h

def recurrence(x):
    out = np.empty_like(x)
    state = 0.0
    for i in range(x.shape[0]):
        state = 0.1 * state * state + x[i]
        out[i] = state
    return out

def seidel(a, n):
    for t in range(n):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j]) / 4.0

def remainder(x, w):
    return np.remainder(x, w)

def relaxed(u, n):
    u = u.copy()
    new = u.copy()
    for _ in range(n):
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, new = new, u
    return u

def products(a, b, c, x):
    return np.maximum(a @ b + 1.0, 0.0) @ c, a @ (b.T @ x[:, None])[:, 0]

def power(a, x, n):
    for _ in range(n):
        y = a @ x
        x = y / np.abs(y).sum()
    return x

def masked(x, low, high):
    return np.where((low <= x) & (x < high), x, 0.0).sum()

def rising(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if i + 1 < x.shape[0] and x[i + 1] > x[i]:
            out[i] = 1.0
    return out

def counted(k):
    return k.sum(axis=1)

def positions(x):
    return x.max(), x.argmax(), x.argmin(), x.min()

def extremes(x):
    return x.max(axis=1), x.min(axis=0), x.max(), np.min(x[:, ::-1] * 2)

def below(x, n):
    total = 0.0
    for i in range(-3, x.shape[0] - 3):
        total += x[i + 3] * i
    for _ in range(n):
        for i in range(-2, x.shape[0] - 2):
            x[i + 2] = x[i + 2] * 0.5 + i
    return total
'''
SIGNATURES = {
    "scaled": "float64[:], float64[:]", "in_place": "float64[:], float64",
    "rows": "float64[:, :]", "columns": "float64[:, :]",
    "product": "float64[:, :], float64[:, :]",
    "single": "float64[:, :], float64[:, :]", "totals": "float64[:, :]",
    "running": "float64[:]", "histogram": "int64[:], int64", "recurrence": "float64[:]",
    "seidel": "float64[:, :], int64", "remainder": "float64[:], float64[:]",
    "products": "float64[:, :], float64[:, :], float64[:, :], float64[:]",
    "relaxed": "float64[:], int64", "power": "float64[:, :], float64[:], int64",
    "masked": "float64[:], float64, float64", "rising": "float64[:]", "counted": "int64[:, :]",
    "below": "float64[:], int64", "extremes": "float64[:, :]",
    "positions": "float64[:]",
}  # fmt: skip
#: those that take longest
LONG = ("positions", "power", "extremes", "relaxed", "below", "columns")


def arguments(name: str, size: int) -> tuple[Any, ...]:
    """The arguments of a call."""
    r = np.random.default_rng(size)
    x, m = r.uniform(0.1, 1, size), r.uniform(0.1, 1, (size, size + 3))
    square = r.uniform(0.1, 1, (size, size))
    return {
        "scaled": (x, x[::-1]), "in_place": (x, 0.5), "rows": (m,), "columns": (m,),
        "product": (m, m.T.copy()), "single": (m, m.T), "totals": (m,), "running": (x,),
        "histogram": (r.integers(0, 7, size), 7), "recurrence": (x,), "seidel": (square, 3),
        "remainder": (x, 0.1 - x), "relaxed": (x, 5),
        "products": (m.T.copy(), square[:, ::-1], m, x[::-1]),
        "power": (square, x, 3), "masked": (x, 0.3, 0.6), "rising": (x,),
        "counted": (r.integers(-9, 9, (size, 5)),), "below": (x, 3), "extremes": (m,),
        "positions": (x,),
    }[name]  # fmt: skip


@pytest.fixture(scope="module")
def original() -> dict[str, Any]:
    """The functions as NumPy runs them."""
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    return names


def text_of(name: str, source: str = SOURCE, signature: str | None = None) -> str:
    """The module of one function, not verified."""
    options = ConvertOptions(
        ("f.py",), functions=(name,), signature=signature or SIGNATURES[name],
        target="loops", verify=False,
    )  # fmt: skip
    place = Path("f_loops.py")
    made = convert_file(SourceFile("f.py", source), options, Config(), place, lambda _: None)
    assert made.text is not None, made.diagnostics
    return made.text


def loaded(text: str, name: str, folder: Path) -> Callable[..., Any]:
    """The function of a module, imported from a file: Numba keeps what it compiles beside it."""
    path = folder / f"loops_{next(NUMBER)}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, name)
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in SIGNATURES]
)
def test_results_and_arguments_are_those_of_numpy(
    name: str, original: dict[str, Any], tmp_path: Path
) -> None:
    converted = loaded(text_of(name), name, tmp_path)
    for size in (3, 40):
        mine, theirs = (
            tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments(name, size))
            for _ in range(2)
        )
        result, wanted = converted(*mine), original[name](*theirs)
        pairs = (
            zip(result, wanted, strict=True) if isinstance(wanted, tuple) else [(result, wanted)]
        )
        for one, other in pairs:
            assert type(one) is type(other)
            if other is not None:
                np.testing.assert_allclose(one, other, rtol=1e-12)
                assert one.dtype == other.dtype
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_module_names_nothing_of_a_gpu() -> None:
    for name in ("rows", "totals", "relaxed"):
        text = text_of(name)
        assert "cuda" not in text.split('"""', 1)[1]
        assert "stream" not in text
        assert "# porter: target loops" in text
        # but for the sums, whose order is free
        assert text.count("fastmath") == text.count('fastmath={"reassoc"})\ndef plus(a, b):') <= 1


def test_floats_are_added_in_any_order_and_integers_as_they_are() -> None:
    assert "total = plus(total, out[i, k])" in text_of("rows")
    assert "plus(" not in text_of("counted")
    # what the parts of a total give is added in order: threads do not change it
    assert "total += total_parts[part]" in text_of("totals")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_are_folded_several_at_a_time(
    dtype: str, original: dict[str, Any], tmp_path: Path
) -> None:
    text = text_of("extremes", signature=f"{dtype}[:, :]")
    assert "larger(" in text
    assert "smaller(" in text
    assert "maximum(" not in text.replace("llvm.maximum", "")
    converted = loaded(text, "extremes", tmp_path)
    r = np.random.default_rng(3)
    for odd in (None, np.nan, -np.nan, np.inf, -np.inf):
        for shape in ((1, 1), (3, 5), (65, 67), (70, 513)):
            x = r.standard_normal(shape).astype(dtype)
            if odd is not None:
                x[r.random(shape) < 0.03] = odd
            for one, other in zip(converted(x), original["extremes"](x), strict=True):
                np.testing.assert_array_equal(one, other)
                assert one.dtype == other.dtype
    # vectors of several numbers: one instruction of LLVM for each
    (rows,) = (getattr(f, "inspect_asm", None) for n, f in converted.__globals__.items()
               if n == "extremes_rows")  # fmt: skip
    assert rows is not None
    assert any(re.search(r"v?(max|min)p[sd]\b", t) for t in rows().values())


def test_conditions_have_no_branches_where_both_operands_are_there() -> None:
    assert "(low <= x[first + i]) & (x[first + i] < high)" in text_of("masked")
    assert "i + 1 < x.shape[0] and x[" in text_of("rising")


def test_what_is_costly_is_computed_once() -> None:
    assert text_of("rows").count("vector_exp(x[") == 1


def test_numpy_multiplies_matrices_where_loops_are_left_beside_it() -> None:
    text = text_of("products")
    assert text.count("np.matmul(") == 4
    # a single product is what was asked to become loops; in a loop the matrix is read once anyway
    assert all("np.matmul(" not in text_of(name) for name in ("single", "power"))


def test_updates_that_may_meet_are_not_made_in_parallel() -> None:
    text = text_of("histogram")
    loop = text[text.index("def histogram_loops2_part") :].split("@njit", 1)[0]
    assert "+= 1.0" in loop
    assert "prange" not in loop
    assert "prange(k.shape[0])" not in text


def test_a_time_loop_is_a_compiled_function() -> None:
    text = text_of("relaxed")
    assert "@njit(cache=True)\ndef relaxed_steps(" in text
    # little work does not start threads
    assert "< GRAIN" in text


def test_sequential_loops_need_no_permission() -> None:
    assert "allow-serial" not in text_of("recurrence")
    # nor do diagonals take their place
    assert "for j in range(1, a.shape[1] - 1):" in text_of("seidel")


def test_the_plan_is_that_of_the_target() -> None:
    options = ConvertOptions(("f.py",), functions=("rows",), target="loops", emit="plan")
    text, _ = emit_stage(SourceFile("f.py", SOURCE), options, Config())
    assert "loops over the elements" in text
    assert "block" not in text


def test_an_argument_that_a_loop_does_not_change_is_itself(tmp_path: Path) -> None:
    converted = loaded(text_of("power"), "power", tmp_path)
    a, x = np.eye(4), np.ones(4)
    assert converted(a, x, 0) is x
    assert not np.may_share_memory(converted(a, x, 2), x)


def test_views_lists_and_read_only_arrays_are_taken(tmp_path: Path) -> None:
    converted = loaded(text_of("scaled"), "scaled", tmp_path)
    x = np.linspace(0, 1, 24).reshape(4, 6)
    fixed = x.copy()
    fixed.flags.writeable = False
    wanted = np.sqrt(x) * x + 1.0
    for view in (x, np.asfortranarray(x), np.ascontiguousarray(x[:, ::-1])[:, ::-1], fixed):
        np.testing.assert_allclose(converted(view, view), wanted, rtol=1e-15)
    np.testing.assert_allclose(converted([1.0, 4.0], np.ones(2)), [2.0, 3.0])
    with pytest.raises(ValueError, match="broadcast"):
        converted(np.ones(3), np.ones(4))


def test_strided_arguments_are_changed_in_place(tmp_path: Path) -> None:
    converted = loaded(text_of("in_place"), "in_place", tmp_path)
    base = np.arange(10.0)
    converted(base[::2], 3.0)
    np.testing.assert_array_equal(base, [0, 1, 2, 3, 3, 5, 3, 7, 3, 9])


TWICE = """
import numpy as np

def read_again(x, y):
    x += y
    return x * y

def read_at_once(x, y):
    x += y
    return x * 2.0
"""


def test_one_array_for_two_is_refused_where_numba_takes_them_for_distinct(tmp_path: Path) -> None:
    """LLVM may read `y` once, although the store into `x` has changed it."""
    signature = "float64[:], float64[:]"
    again, at_once = (
        loaded(text_of(n, TWICE, signature), n, tmp_path) for n in ("read_again", "read_at_once")
    )
    x = np.arange(5.0)
    with pytest.raises(ValueError, match="x and y are one array"):
        again(x, x)
    np.testing.assert_array_equal(x, np.arange(5.0))
    np.testing.assert_array_equal(again(x.copy(), x), 2 * x * x)
    np.testing.assert_array_equal(at_once(x, x), 4 * np.arange(5.0))
    np.testing.assert_array_equal(x, 2 * np.arange(5.0))


COUNTS = """
import numpy as np

def counted(k, w, n, m):
    rows = np.zeros((n, m))
    seen = np.zeros(n, np.int64)
    for i in range(k.shape[0]):
        rows[k[i] % n, k[i] % m] += w[i]
        seen[k[i] % n] += 1
    return rows, seen

def last(k, w, n):
    out = np.zeros(n)
    for i in range(k.shape[0]):
        out[k[i]] += w[i]
        out[k[i]] = out[k[i]] * 0.5
    return out
"""


def test_parts_of_a_loop_add_to_arrays_of_their_own(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(COUNTS, names)
    signature = "int64[:], float64[:], int64, int64"
    text = text_of("counted", COUNTS, signature)
    assert "rows_parts = np.zeros((PARTS, n, m)" in text
    assert "rows += rows_parts[part]" in text
    function = loaded(text, "counted", tmp_path)
    r = np.random.default_rng(5)
    for size, n, m in ((0, 3, 2), (1, 1, 1), (19_999, 7, 5), (20_000, 7, 5), (70_001, 40, 30)):
        k, w = r.integers(0, 1000, size), r.integers(0, 9, size).astype(float)
        for kept in (slice(None), slice(None, None, -2)):
            found, wanted = (f(k[kept], w[kept], n, m) for f in (function, names["counted"]))
            # whole numbers: no order of addition changes them
            assert all(map(np.array_equal, found, wanted))
            assert [a.dtype for a in found] == [a.dtype for a in wanted]


def test_an_element_that_is_read_between_updates_is_nobodys_own() -> None:
    text = text_of("last", COUNTS, "int64[:], float64[:], int64")
    assert "_parts" not in text


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_absolute_values_of_complex_numbers(dtype: str, tmp_path: Path) -> None:
    source = "import numpy as np\n\ndef size(z):\n    return np.abs(z)\n"
    function = loaded(text_of("size", source, f"{dtype}[:]"), "size", tmp_path)
    info = np.finfo(dtype)
    parts = [0.0, -0.0, 1.0, -3.5, info.tiny, info.smallest_subnormal, info.max, np.inf, np.nan,
             info.max / 2, np.sqrt(info.tiny), np.sqrt(info.max) * 2]  # fmt: skip
    z = np.array([complex(a, b) for a in parts for b in parts], dtype)
    z = np.concatenate([z, np.random.default_rng(2).normal(size=(200, 2)).view(complex)[:, 0]])
    with np.errstate(all="ignore"):
        wanted = np.abs(z.astype(dtype))
    found = function(z.astype(dtype))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_max_ulp(found[np.isfinite(wanted)], wanted[np.isfinite(wanted)], 2)
    np.testing.assert_array_equal(found[~np.isfinite(wanted)], wanted[~np.isfinite(wanted)])


def test_indices_of_parts_are_seen_not_to_be_negative() -> None:
    # without this the loops are not vectorised
    part = text_of("relaxed").split("def relaxed_loops2_part", 1)[1].split("@njit", 1)[0]
    assert "first = max(first, 0)" in part
    assert "for i in range(last - first):" in part
    assert "for j in range(width):\n                    sums[j] +=" in text_of("single")
