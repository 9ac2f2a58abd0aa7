"""The record of a function; a function that is added from here goes through the same door."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from porter.inference.signature import candidates
from porter.lowering.arrays.calculus import elementwise
from porter.lowering.functions.reductions import Fold, extreme_of
from porter.lowering.functions.registry import Call, function
from porter.numpy_functions import SPECS, Rank, known, method_of, methods, spec, spec_of
from porter.resolve.values import Value
from porter.source.module import SourceModule
from tests.numpy_names.case import Row, trials
from tests.numpy_names.page import page
from tests.numpy_names.run import differs, on_machine


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`np.midrange`, which neither NumPy nor porter has, and `x.midrange()`."""
    before = dict(SPECS), dict(spec._CALLED)

    @function("numpy.midrange", "a axis=None keepdims=False", rank=Rank.REDUCED, axes=1, method=0)
    def midrange(call: Call) -> Value:
        fold = Fold.of(call)
        return elementwise(call.b, "add", extreme_of(fold, "max"), extreme_of(fold, "min"))

    monkeypatch.setattr(
        np, "midrange", lambda a, axis=None: np.max(a, axis) + np.min(a, axis), raising=False
    )
    yield
    for register, known_before in zip((SPECS, spec._CALLED), before, strict=True):
        register.clear()
        register.update(known_before)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registered")
def test_a_function_of_this_file_is_converted() -> None:
    row = Row("np.midrange(A, axis=1)", "np.midrange(v)", least=1, special="")
    for trial in trials({"numpy.midrange": row}):
        assert (trial.label, differs(trial, on_machine(trial), quick=True)) == (trial.label, "")


@pytest.mark.usefixtures("registered")
def test_it_is_a_method_and_says_so_on_the_page() -> None:
    assert "midrange" in methods()
    assert "`.midrange`, `np.midrange`" in page()


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("call", ["np.midrange(x, axis=1)", "x.midrange(axis=1)"])
def test_its_use_says_what_a_parameter_is(call: str) -> None:
    text = f"import numpy as np\ndef f(x, y):\n    return {call} * y[0]\n"
    (given,) = (next(candidates(SourceModule(text, "f.py").functions[0], None)),)
    assert [p.ndim for p in given] == [2, 1]


def test_a_function_is_found_by_its_last_name() -> None:
    assert spec_of("norm").name == "numpy.linalg.norm"
    assert spec_of("sum").name == "numpy.sum"
    assert spec_of("nobody's") == known("nobody's")


def test_a_method_is_its_own_or_a_function() -> None:
    found = {name: method_of(name) for name in ("sum", "sort", "flip")}
    assert {n: s and s.name for n, s in found.items()} == {
        "sum": "numpy.sum", "sort": "ndarray.sort", "flip": None,
    }  # fmt: skip


def test_what_changes_an_argument_is_no_function_of_values() -> None:
    both = [s.name for s in SPECS.values() if s.changes and s.creates]
    assert both == []
