"""What the original launches after an import swap, counted on arrays that count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from porter.bench.child.operations import TooManyElements, Total, counted, counting
from porter.bench.child.swap import Original, Thinner, _scaled, _vanishes
from porter.bench.gpus import COLUMN, GPUS
from porter.bench.model import step_time
from porter.bench.records import Step

N = 1000
BYTES = 8 * N


def count(function: Any, *args: Any) -> tuple[Any, dict[str, tuple[int, int]]]:
    """The result, and launches and bytes by the operation's name."""
    namespace: dict[str, Any] = {"np": np, "__builtins__": __builtins__}
    made = type(function)(function.__code__, namespace, closure=function.__closure__)
    with counted(namespace, __file__) as operations:
        result = made(*(counting(a) for a in args))
    assert namespace["np"] is np
    found: dict[str, tuple[int, int]] = {}
    for (name, _), total in operations.totals.items():
        launches, size = found.get(name, (0, 0))
        found[name] = int(launches + total.launches), int(size + total.bytes)
    return result, found


def test_each_ufunc_reads_its_arguments_and_writes_its_result() -> None:
    x = np.arange(float(N))
    result, found = count(lambda x: 2 * x + x, x)
    np.testing.assert_array_equal(result, 3 * x)
    assert found == {"multiply": (1, 2 * BYTES), "add": (1, 3 * BYTES)}


def test_views_are_free_and_broadcasts_are_read_once() -> None:
    x = np.arange(float(N))

    def f(x):  # type: ignore[no-untyped-def]
        rows = np.broadcast_to(x[1:-1].reshape(2, -1).T[::-1], (3, 499, 2))
        return rows + np.expand_dims(x[:2], 0)

    _, found = count(f, x)
    assert found == {"add": (1, 998 * 8 + 16 + 3 * 998 * 8)}


def test_reductions_and_what_cupy_has_in_one_kernel() -> None:
    x = np.arange(float(N)).reshape(10, -1)
    _, found = count(lambda x: (x.sum(axis=1), np.max(x), x.mean(), np.std(x, axis=0)), x)
    assert found == {
        "add.reduce": (1, BYTES + 80),
        "maximum.reduce": (1, BYTES + 8),
        "mean": (1, BYTES + 8),
        "std": (3, 3 * (BYTES + 800)),
    }


def test_launches_of_one_operation_that_read_different_arrays() -> None:
    _, found = count(lambda x: np.bincount(x, minlength=50), np.arange(40))
    # x < 0, any of that, the largest, zeros, and the count
    assert found == {"bincount": (5, (320 + 40) + 40 + 320 + 400 + (320 + 400))}


def test_histogram() -> None:
    """Both limits and whether they are finite, edges, zeros, counts; with edges, if they rise."""
    x, number = 40 * 8, 8
    _, found = count(lambda x: np.histogram(x, 5)[0], np.arange(40.0))
    assert found == {"histogram": (9, 2 * x + 4 * number + 48 + 40 + (x + 48 + 40))}
    _, found = count(lambda x: np.histogram(x, 5, (0, 1), weights=x)[0], np.arange(40.0))
    assert found == {"histogram": (3, 48 + 40 + (2 * x + 48 + 40))}
    _, found = count(lambda x, e: np.histogram(x, bins=e)[0], np.arange(40.0), np.arange(6.0))
    assert found == {"histogram": (5, 3 * 48 + number + 40 + (x + 48 + 40))}


def test_indices_and_masks_gather_and_scatter() -> None:
    x, at = np.arange(float(N)), np.arange(10)

    def f(x, at):  # type: ignore[no-untyped-def]
        x[at] = 1.0
        x[2:12] += x[at]
        return x[x > 5]

    _, found = count(f, x, at)
    assert found["[]"][0] == 1 + 2 and found["[] ="][0] == 2
    assert found["add"] == (1, 240) and found["greater"] == (1, BYTES + N)


def test_a_value_that_python_needs_is_read_back() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        while x.max() > 10:
            x = x / 2
        return float(x[0])

    result, found = count(f, np.full(N, 100.0))
    assert result == 6.25
    assert found["read back"][0] == 6
    assert found["maximum.reduce"][0] == 5 and found["divide"][0] == 4


def test_arrays_that_the_function_makes_count_too() -> None:
    def f(n):  # type: ignore[no-untyped-def]
        out = np.zeros(n)
        out[1:] = np.arange(n - 1)
        return np.concatenate([out, np.zeros_like(out), np.empty_like(out)])

    _, found = count(f, N)
    assert found["zeros"] == (1, BYTES) and found["arange"][0] == 1
    assert found["[] ="][0] == 1 and found["concatenate"] == (1, 6 * BYTES)
    assert found["copyto"][0] == 1


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a @ b,
        lambda a, b: np.dot(a, b),
        lambda a, b: a.dot(b),
        lambda a, b: np.einsum("ij,jk->ik", a, b),
        lambda a, b: np.tensordot(a, b, axes=1),
    ],
)
def test_products_of_matrices_count_what_they_sum(product: Any) -> None:
    a, b = np.ones((30, 40)), np.ones((40, 50))
    namespace: dict[str, Any] = {"np": np}
    with counted(namespace, __file__) as operations:
        made = type(product)(product.__code__, namespace)
        np.testing.assert_array_equal(made(counting(a), counting(b)), a @ b)
    assert sum(t.products for t in operations.totals.values()) == pytest.approx(30 * 40 * 50)


def test_results_that_are_too_large_are_not_computed() -> None:
    x = np.zeros(1 << 13)
    with pytest.raises(TooManyElements):
        count(lambda x: x[:, None] - x[None, :], x)


def test_counts_grow_as_powers_of_the_sizes() -> None:
    key = ("add", 3)
    found, smaller = {key: Total(4, 800, 64)}, {key: Total(2, 200, 8)}
    # the sizes were halved three times: launches as n, bytes as n**2, products as n**3
    assert _scaled(found, [Thinner(smaller, 2.0, 8.0)]) == {key: Total(32, 800 * 64, 64 * 512)}
    assert _scaled(found, []) == _scaled(found, [Thinner({}, 2.0, 8.0)]) == found


def test_a_lower_power_beside_the_highest_one_grows_by_itself() -> None:
    def totals(n: int, m: int) -> dict[tuple[str, int], Total]:
        return {("matmul", 3): Total(1, 8 * (n * m + n + m), n * m)}

    thinner = [
        Thinner(totals(281, 687), 562 / 281, 32.0),
        Thinner(totals(562, 343), 687 / 343, 32.0),
    ]
    (total,) = _scaled(totals(562, 687), thinner).values()
    assert total.bytes == pytest.approx(8 * (17_984 * 21_984 + 17_984 + 21_984), rel=1e-5)
    # n log2(n) has no whole power: what it was before
    assert Thinner({}, 2.0, 4.0).factor(64 * 6, 32 * 5) == pytest.approx((384 / 160) ** 2)


def test_what_is_gone_with_half_of_an_extent_tells_nothing() -> None:
    one, other = ("add", 3), ("multiply", 4)
    found = {one: Total(2, 8), other: Total(10, 80)}
    assert _vanishes(found, []) and _vanishes(found, [Thinner({one: Total(1, 4)}, 2.0, 4.0)])
    assert not _vanishes(found, [Thinner({other: Total(5, 40)}, 2.0, 4.0)])


def test_a_factorisation_goes_from_column_to_column() -> None:
    a, b = np.eye(6) + 0j, np.ones((6, 4)) + 0j
    namespace: dict[str, Any] = {}
    with counted(namespace, __file__) as operations:
        np.linalg.solve(counting(a), counting(b))
    (total,) = operations.totals.values()
    assert total.columns == 6 and not total.single
    assert total.products == 4 * (6**3 / 3 + 6 * 6 * 4)
    step = Step("solve", 1, 0, 0, False, 500)
    assert step_time(step, GPUS["h200"]) == pytest.approx(500 * COLUMN / 1e3)


class Call(NamedTuple):
    extents: dict[str, int]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(self.extents.values())]

    def of(self, extents: dict[str, int]) -> Call:
        return Call(extents)


def original(source: str) -> Original:
    """`f` of a source, called with an array of ones."""
    scope: dict[str, Any] = {"np": np}
    exec(source, scope)

    class Made:
        def make(self, chosen: Call) -> list[tuple[str, Any]]:
            return [("x", np.ones(chosen.shapes[0]))]

    source_of: Any = SimpleNamespace(original=SimpleNamespace(namespace=scope), path=__file__)
    arguments: Any = Made()
    return Original(scope["f"], source_of, arguments)


def test_extents_that_are_small_soon_count_as_often_as_they_were_halved() -> None:
    """Each extent grows by itself: 16 of `m` is two halvings away, 512 of `n` seven."""
    chosen: Any = Call({"a": 64, "m": 16, "n": 512, "k": 512})
    found = original("def f(x):\n    return x * 2.0\n").steps(chosen)
    assert [s["bytes"] for s in found["steps"]] == [pytest.approx(16 * 64 * 16 * 512 * 512)]


def test_an_extent_that_cannot_be_halved_again_says_nothing_of_the_others() -> None:
    """A launch a row: rows are counted in proportion, the few columns are not."""
    source = "def f(x):\n    for row in x:\n        row[:] = row * 2.0\n    return x\n"
    chosen: Any = Call({"n": 65_536, "m": 256})
    counted_for = {"n": 1024, "m": 4}
    rows = original(source)
    found = _scaled(rows._totals(chosen.of(counted_for)), rows._thinner(chosen, counted_for))
    assert [t.launches for t in found.values()] == 2 * [pytest.approx(65_536)]
    assert [t.bytes for t in found.values()] == 2 * [pytest.approx(16 * 65_536 * 256, rel=0.01)]


def test_running_sums_change_a_copy_in_place() -> None:
    x = np.ones((3, 50))
    for function in (lambda x: np.cumsum(x, axis=1), lambda x: x.cumsum(1)):
        _, found = count(function, x)
        assert found == {"cumsum": (2, 4 * x.nbytes)}
    _, found = count(lambda x: np.cumprod(x), x)
    assert found == {"cumprod": (2, 4 * x.nbytes)}
    # rows of two blocks: the last elements of the first ones are scanned, and added to the second
    x = np.ones((3, 1000))
    _, found = count(lambda x: np.cumsum(x, axis=-1), x)
    assert found == {"cumsum": (4, 6 * x.nbytes + 3 * (3 * 8))}


def test_a_store_by_a_mask_touches_sectors() -> None:
    def store(x: Any, at: Any) -> None:
        x[at] = 0.0

    at = np.zeros(N, bool)
    at[[0, 1, 6, 999]] = True
    _, found = count(store, np.ones(N), at)
    assert found == {"[] =": (1, N + 3 * 32)}
    _, found = count(store, np.ones(N, np.float32), at)
    assert found == {"[] =": (1, N + 2 * 32)}


def test_statistics_that_numpy_computes_on_plain_arrays_are_several_launches() -> None:
    x = np.random.default_rng(0).random((3, 50))
    result, found = count(lambda x: np.cov(x), x)
    np.testing.assert_allclose(result, np.cov(x))
    assert found == {"cov": (5, 5 * (150 + 9) * 8)}
