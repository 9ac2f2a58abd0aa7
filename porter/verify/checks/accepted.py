"""Calls with other dtypes and types that a module says it takes: the results are NumPy's, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from porter.dtypes.conversions import Conversions
from porter.verify.checks.judge import Judge
from porter.verify.engines.launches import TooCostly
from porter.verify.evidence import CONVERTED
from porter.verify.inputs import narrowing, variations
from porter.verify.inputs.arguments import Inputs, Parameter
from porter.verify.inputs.cases import CaseSpec
from porter.verify.oracle import calls, compare
from porter.verify.oracle.errors import alike, arithmetic, described


def run(judge: Judge, inputs: Inputs, parameters: list[Parameter]) -> None:
    """Try such calls; raises `MismatchFound` where one is refused, or gives something else."""
    spec = CaseSpec(("5",), number=-1, variant=judge.drawing.variant_of(parameters))
    form = judge.drawing.form_of(parameters)
    conversions = Conversions.parse(judge.subject.record.converts_of(form))
    arrays = ((a.name, a.value) for a in inputs.arguments if isinstance(a.value, np.ndarray))
    dtypes = {name: str(value.dtype) for name, value in arrays if value.ndim}
    given = {n for n in _converted(conversions) if n in dtypes}
    if any(dtypes[n] not in ("float32", "float64") for n in given):
        conversions = replace(Conversions(), complexes=conversions.complexes,
                              whole=conversions.whole)  # fmt: skip
    # what is converted becomes float64, which the kernels for float32 take, too
    inputs = variations.in_float64(inputs)
    names = tuple(n for n in conversions.names if n in given)  # another form has the others
    mixed = tuple(g for g in conversions.mixed if set(g) <= given)
    complexes = tuple(n for n in conversions.complexes if dtypes.get(n) == "complex128")
    lone = tuple(one for one in conversions.lone if one[0] in given)
    conversions = replace(conversions, names=names, mixed=mixed, complexes=complexes, lone=lone)
    for label, changed in variations.converted(inputs, parameters, conversions):
        if narrowing.holds(judge.subject.domain, changed):
            _one(judge, spec, label, changed, label.endswith((" numbers", " everything")))


def _converted(conversions: Conversions) -> set[str]:
    alone = (n for n, _ in conversions.lone)
    return {*conversions.names, *alone, *(n for group in conversions.mixed for n in group)}


def _one(judge: Judge, spec: CaseSpec, label: str, inputs: Inputs, may_refuse: bool) -> None:
    judge.settings.report(-1, (label, *inputs.describe()), judge.drawing.signature(spec.variant))
    expected = calls.original(judge.subject.original, inputs, casts=True)
    if isinstance(expected.error, calls.UndefinedCast):
        return
    if expected.error is not None and arithmetic(expected.error):
        return
    actual = judge.converted(spec, inputs)
    if isinstance(actual.error, TooCostly):
        return
    if may_refuse and expected.error is None and isinstance(actual.error, TypeError):
        judge.tally.counts["stricter"] += 1
        return
    if may_refuse and actual.error is None and isinstance(expected.error, TypeError):
        return  # it asks for the class of a number, which a 0-d array is for us
    text = _raised(label, expected, actual)
    if expected.error is not None and actual.error is not None:
        if not alike(expected.error, actual.error):
            return  # both refuse it
    found = None
    if text:
        found = judge.found(spec, inputs, "exception", text)
    elif expected.error is None:
        difference = judge.differ(inputs, expected, actual) or _of_type(expected, actual)
        if difference and difference.what == "kind" and _given_back(expected, inputs):
            return  # the module's own is Python's number
        if difference is not None:
            text = f"{label}: {difference.message}"
            found = judge.found(spec, inputs, difference.what, text, difference)
    if found is not None:
        if not may_refuse:
            found.mismatch = replace(found.mismatch, signature=CONVERTED)
        raise found
    judge.tally.counts["converted"] += 1


def _raised(label: str, expected: compare.Outcome, actual: compare.Outcome) -> str:
    """What is wrong where only one of the two raises."""
    if expected.error is not None and actual.error is None:
        return f"{label}: only the original raises {described(expected.error)}"
    if expected.error is None and actual.error is not None:
        return f"{label}: raises {described(actual.error, actual.line)}; the original returns"
    return ""


def _given_back(expected: compare.Outcome, inputs: Inputs) -> bool:
    """Whether the original returns one of its numbers as it was given, NumPy's or 0-d."""
    numbers = [a.value for a in inputs.arguments if not np.ndim(a.value)]
    return any(
        type(leaf) is type(n) and bool(leaf == n) for leaf in _leaves(expected.result)
        for n in numbers if not np.ndim(leaf)
    )  # fmt: skip


def _of_type(expected: compare.Outcome, actual: compare.Outcome) -> compare.Difference | None:
    """A result that is Python's number in one function and NumPy's in the other."""
    pairs = zip(_leaves(expected.result), _leaves(actual.result), strict=True)
    for e, a in pairs:
        # a Python zero may be what no element was added to: the data decide
        undecided = isinstance(a, np.generic) and not isinstance(e, np.generic) and e == 0
        if isinstance(e, np.generic) != isinstance(a, np.generic) and not undecided:
            text = f"result is {_kind(a)}, not {_kind(e)}"
            return compare.Difference("kind", text, "result")
    return None


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for v in value:
            yield from _leaves(v)
    else:
        yield value


def _kind(value: Any) -> str:
    return f"a number of {'NumPy' if isinstance(value, np.generic) else 'Python'}"
