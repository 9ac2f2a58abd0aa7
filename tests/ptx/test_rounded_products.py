"""Indices and bins on a compiled kernel: products and sums round twice there, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.commands.convert import run
from porter.options import ConvertOptions
from tests.support.machine import compiler, module

pytestmark = pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")

SOURCE = """
import numpy as np

def histogram(x):
    return np.histogram(x)

def spaced(x):
    return x + np.linspace(-0.5, 0.5, 11)

def cell(x):
    return (x * 10.0 - 3.0).astype(np.int64)

def step_by_step(x):
    scaled = x * 10.0
    moved = scaled - 3.0
    return np.floor(moved)

def square(x):
    return (x**2 - x[0] * x[0]) // 1.0

def taken(x, table):
    place = 10.0 * x - 3.0 + 1.0
    return table[np.floor(place).astype(np.int64)]

def smooth(x):
    return x * 10.0 - 3.0
"""
TABLE = np.arange(20.0)
#: the products are halfway between two numbers, or next to a whole one
VALUES = np.array([0.3, 0.7, 0.1, 0.6, 1.1, 1.4])
CALLS: dict[str, tuple[Any, ...]] = {
    "histogram": (VALUES,), "spaced": (np.zeros(11),), "cell": (VALUES,),
    "step_by_step": (VALUES,), "square": (VALUES,), "taken": (VALUES[:4], TABLE),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rounded")
    (made / "source.py").write_text(SOURCE)
    return made


def converted(folder: Path, name: str, arguments: int) -> Path:
    path = folder / f"{name}_cuda.py"
    if not path.exists():
        run(
            ConvertOptions(
                paths=(str(folder / "source.py"),), functions=(name,), output=str(path),
                signature=", ".join(["float64[:]"] * arguments), verify=False,
            )
        )  # fmt: skip
    return path


def original(name: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    found: Callable[..., Any] = names[name]
    return found


@pytest.mark.parametrize(("arch", "dtype"), [("sm_75", "float32"), ("sm_90", "float64")])
@pytest.mark.parametrize("name", CALLS)
def test_it_is_numpys_to_the_last_bit(name: str, dtype: str, arch: str, folder: Path) -> None:
    args = tuple(a.astype(dtype) for a in CALLS[name])
    made = module(converted(folder, name, len(args)), arch)
    found, wanted = getattr(made, name)(*args), original(name)(*args)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("value", [0.0, 0.3, 7.0])
def test_a_value_on_an_edge_is_in_the_bin_behind_it(value: float, folder: Path) -> None:
    x = np.array([value])
    counts, edges = module(converted(folder, "histogram", 1), "sm_90").histogram(x)
    np.testing.assert_array_equal(counts, np.histogram(x)[0])
    np.testing.assert_array_equal(edges, np.histogram(x)[1])


def test_one_rounding_would_give_another_cell() -> None:
    """The inputs above tell the two apart."""
    exact = Fraction(0.3) * 10 - 3
    assert exact < 0 and int(original("cell")(np.array([0.3]))[0]) == 0
    assert np.floor(float(exact)) == -1 != original("step_by_step")(np.array([0.3]))[0]


def test_where_nothing_whole_is_made_the_compiler_may_join(folder: Path) -> None:
    assert "rounded" not in converted(folder, "smooth", 1).read_text()
    assert "rounded(" in converted(folder, "cell", 1).read_text()
