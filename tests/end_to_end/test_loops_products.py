"""Products in modules of loops: by BLAS where it is faster, in loops where it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.end_to_end.test_loops import loaded
from tests.end_to_end.test_loops import text_of as text_of_function

SOURCE = """
import numpy as np

def correlation(n, x):
    c = np.eye(n, dtype=x.dtype)
    for i in range(n - 1):
        c[i + 1:n, i] = c[i, i + 1:n] = x[:, i] @ x[:, i + 1:n]
    return c

def gram(x):
    n = x.shape[0]
    g = np.zeros((n, n), x.dtype)
    for i in range(n):
        for j in range(i, n):
            g[i, j] = np.sum(x[i] * x[j]) * 2
            g[j, i] = g[i, j]
    return g

def beside(a, b):
    c = np.zeros((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0] - i):
            c[i, j] = np.dot(a[i], b[i + j])
    return c

def band(x):
    c = np.zeros((x.shape[0], 3), x.dtype)
    for i in range(x.shape[0] - 2):
        for d in range(3):
            c[i, d] = np.dot(x[i], x[i + d])
    return c

def chosen(x, near):
    c = np.zeros((x.shape[0], x.shape[0]), x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if near[i, j]:
                c[i, j] = np.dot(x[i], x[j])
    return c

def part(n, x):
    c = np.zeros((x.shape[1], x.shape[1]), x.dtype)
    for i in range(x.shape[1]):
        for j in range(x.shape[1] - i):
            c[i, i + j] = (x[:n, i] * x[:n, i + j]).sum()
    return c

def scaled(a, b, x):
    return 2 * a @ x + 3 * b @ x

def turns(a, b, n):
    for i in range(n):
        for j in range(n):
            a = 0.5 * a @ b
    return a

def stacked(x, w):
    return 2 * (x @ w)

def weighted(x, v):
    return x @ v + 1

def turned(x, w):
    return x.transpose(0, 2, 1) @ w + 1

def computed(x, w):
    return (2 * x) @ w

def in_place(x, w):
    n, m, k = x.shape
    x[:] = np.reshape(np.reshape(x, (n, m, 1, k)) @ w, (n, m, k))
    return x

def folded(x, w):
    return x.reshape(-1, w.shape[0]) @ w

def across(x, w):
    return x.reshape(x.shape[1], x.shape[0]).T @ w

def first(x, w, n):
    return x.ravel()[: n * w.shape[0]].reshape(n, w.shape[0]) @ w
"""
SIGNATURES = {
    "correlation": "int64, {0}[:, :]", "gram": "{0}[:, :]", "beside": "{0}[:, :], {0}[:, :]",
    "band": "{0}[:, :]", "chosen": "{0}[:, :], boolean[:, :]", "part": "int64, {0}[:, :]",
    "scaled": "{0}[:, :], {0}[:, :], {0}[:]", "turns": "{0}[:, :], {0}[:, :], int64",
    "stacked": "{0}[:, :, :], {0}[:, :]", "weighted": "{0}[:, :, :, :], {0}[:]",
    "turned": "{0}[:, :, :], {0}[:, :]", "computed": "{0}[:, :, :], {0}[:, :]",
    "in_place": "{0}[:, :, :], {0}[:, :]", "folded": "{0}[:, :, :], {0}[:, :]",
    "across": "{0}[:, :], {0}[:, :]", "first": "{0}[:, :], {0}[:, :], int64",
}  # fmt: skip


def text_of(name: str, dtype: str = "float64") -> str:
    """The module of one function, not verified."""
    return text_of_function(name, SOURCE, SIGNATURES[name].format(dtype))


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        return function(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
    except Exception as error:
        return type(error)


def calls(name: str, dtype: str) -> list[tuple[Any, ...]]:
    """Arguments of awkward shapes, strided and reversed views among them."""
    found: list[tuple[Any, ...]] = []
    rng = np.random.default_rng(3)
    for rows, columns in ((0, 0), (0, 4), (1, 1), (3, 2), (17, 13), (40, 64)):
        x = rng.normal(size=(rows, columns)).astype(dtype)
        if dtype.startswith("complex"):
            x = x + 1j * x[::-1]
        for view in (x, np.asfortranarray(x), x[::-1, ::-1], np.repeat(x, 2, axis=0)[::2]):
            square, stack = view.T @ view, np.stack((view, 2 * view, view))
            stacks = (stack, stack[::-1], np.repeat(stack, 2, axis=1)[:, ::2])
            counts = {0, 1, columns - 1, columns, columns + 1} - {-1}
            found += {
                "correlation": [(n, view) for n in counts],
                "part": [(n, view) for n in counts],
                "chosen": [(view, np.abs(view @ view.T) > 0.5)],
                "gram": [(view,)], "band": [(view,)],
                "beside": [(view, view + 1), (view[1:], view), (view, view[2:])],
                "scaled": [(view, view[::-1], view[0] if rows else np.zeros(columns, dtype))],
                "turns": [(view @ view.T / 40, view @ view.T / 40, n) for n in (0, 1, 2)],
                "stacked": [(x, square[:, :3]) for x in stacks],
                "weighted": [(x[:, None], np.resize(view, columns)) for x in stacks],
                "turned": [(x, view) for x in stacks],
                "computed": [(x, square) for x in stacks],
                "in_place": [(x, w) for x in stacks for w in (square, square[:, :1], square[1:])],
                "folded": [(x, square) for x in stacks] + [(stack, square[: columns // 2])],
                "across": [(view, w) for w in (view.T, view.T @ view)],
                "first": [(view, w, n) for w in (square, square[:2]) for n in (0, 1, rows)],
            }[name]  # fmt: skip
    return found


@pytest.mark.parametrize(
    "dtype",
    ["float64", *(pytest.param(d, marks=pytest.mark.long) for d in ("float32", "complex128"))],
)
@pytest.mark.parametrize("name", list(SIGNATURES))
def test_results_are_those_of_numpy(name: str, dtype: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    converted = loaded(text_of(name, dtype), name, tmp_path)
    near = 1e-4 if dtype == "float32" else 1e-11
    for arguments in calls(name, dtype):
        wanted, found = outcome(names[name], arguments), outcome(converted, arguments)
        if isinstance(wanted, type):
            assert found is wanted, (found, [np.shape(a) for a in arguments])
            continue
        assert isinstance(found, np.ndarray), (found, [np.shape(a) for a in arguments])
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


def test_the_products_of_a_triangle_are_made_at_once() -> None:
    text = text_of("correlation")
    assert "np.matmul(x[:, : max(n - 1, 0)].T, x[:, 1 : max(n, 1)])" in text
    assert "np.matmul(x, x.T)" in text_of("gram")
    # all rows of a stack are one matrix, which a reshaped argument is where it lies
    rows = "x.reshape(x.shape[0] * x.shape[1], x.shape[2]), w)"
    assert f"np.matmul({rows}" in text_of("stacked")
    assert f"np.matmul(own_{rows}" in text_of("in_place")
    assert "operand" not in text_of("in_place") + text_of("folded")
    assert "np.matmul(x.transpose(0, 2, 1), w)" in text_of("turned")
    # another array may have fewer columns where no iteration looks at them
    assert "matmul" not in text_of("part")


def test_a_band_of_them_stays_in_its_loop() -> None:
    assert "matmul" not in text_of("band")
    # nor is one made where data decides, which may be for few of its elements
    assert "matmul" not in text_of("chosen")


def test_a_matrix_that_is_computed_costs_no_pass_beside_a_vector() -> None:
    text = text_of("scaled")
    assert "matmul" not in text
    assert "np.empty(a.shape," not in text


def test_nested_loops_keep_their_small_products() -> None:
    assert "matmul" not in text_of("turns")


def test_threads_leave_their_cores_to_blas() -> None:
    setting = 'os.environ.setdefault(\n    "GOMP_SPINCOUNT", "1000"'
    assert setting in text_of("gram") or setting.replace("\n    ", "") in text_of("gram")
    assert "GOMP_SPINCOUNT" not in text_of("scaled")
