"""`promote` against NumPy itself: all pairs, Python scalars (NEP 50), dtype variables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from porter import ir
from porter.dtypes.dtype import (
    KINDS,
    SIBLINGS,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    promote,
    strengthen,
)
from porter.ir.scalars import DTypeError, number, operate
from tests.tools import make_promotion

NAMES = make_promotion.NAMES
PAIRS = list(itertools.product(NAMES, NAMES))
#: a Python number of each weak dtype; 3 fits every integer dtype, so that NumPy takes it
WEAK: list[tuple[DType, Any]] = [
    (WEAK_BOOL, True),
    (WEAK_INT, 3),
    (WEAK_FLOAT, 3.5),
    (WEAK_COMPLEX, 3j),
]


def test_the_table_is_what_numpy_says() -> None:
    assert make_promotion.TABLE.read_text(encoding="utf-8") == make_promotion.text()


def test_every_dtype_is_in_the_table() -> None:
    assert list(KINDS) == NAMES
    for name in NAMES:
        assert DType(name).kind == np.dtype(name).kind
        assert DType(name).itemsize == np.dtype(name).itemsize


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_strong_pairs(a: str, b: str) -> None:
    assert promote(DType(a), DType(b)) == DType(np.result_type(np.dtype(a), np.dtype(b)).name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("weak", "value"), WEAK)
def test_python_scalars_with_arrays(name: str, weak: DType, value: Any) -> None:
    """The dtype of `array + scalar`, in both orders."""
    expected = np.result_type(np.zeros(2, name), value)
    assert expected == (np.zeros(2, name) + value).dtype
    assert promote(DType(name), weak) == DType(expected.name)
    assert promote(weak, DType(name)) == DType(expected.name)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(WEAK, WEAK)))
def test_python_scalars_among_themselves(a: tuple[DType, Any], b: tuple[DType, Any]) -> None:
    """Stay weak; of the kind that Python's own arithmetic gives (bools count as bools)."""
    found = promote(a[0], b[0])
    assert found.weak
    both_bools = isinstance(a[1], bool) and isinstance(b[1], bool)
    assert type(a[1] + b[1]) is {"i": int, "f": float, "c": complex, "b": int}[found.kind]
    assert (found.kind == "b") == both_bools


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_dtype_variable_survives_only_if_it_would_for_every_dtype(a: str, b: str) -> None:
    found = promote(DType(a, var="x"), DType(b))
    assert found.name == np.result_type(np.dtype(a), np.dtype(b)).name
    kept = {np.result_type(np.dtype(d), np.dtype(b)).name == d
            for d in SIBLINGS[DType(a).kind]}  # fmt: skip
    if found.var == "x":
        assert kept == {True}
    else:
        assert found.var is None
        assert found.name != a or kept != {True}


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("weak", [WEAK_BOOL, WEAK_INT, WEAK_FLOAT])
def test_a_literal_never_promotes_a_generic_float(name: str, weak: DType) -> None:
    generic = DType(name, var="x")
    assert promote(generic, weak) == promote(weak, generic) == generic


def test_two_variables_of_one_kind_keep_one_of_them() -> None:
    assert promote(DType("float64", var="x"), DType("float64", var="y")).var == "x"


def test_strengthen() -> None:
    assert strengthen(WEAK_FLOAT) == DType("float64")
    assert strengthen(DType("int8", var="x")) == DType("int8", var="x")


@pytest.mark.parametrize("op", ["hypot", "arctan2", "copysign", "logaddexp"])
def test_the_floating_loop_of_two_operands(op: str) -> None:
    real = [n for n in NAMES if not n.startswith(("complex", "float16"))]
    operands = [*((np.ones(1, n), ir.Local("x", DType(n))) for n in real),
                (2, number(2)), (2.0, number(2.0))]  # fmt: skip
    for (a, x), (b, y) in itertools.product(operands, repeat=2):
        wanted = getattr(np, op)(a, b).dtype.name
        if not (isinstance(a, np.ndarray) or isinstance(b, np.ndarray)):
            continue
        try:
            assert operate(op, x, y).dtype.name == wanted
        except DTypeError:
            assert wanted == "float16"  # which kernels do not compute
