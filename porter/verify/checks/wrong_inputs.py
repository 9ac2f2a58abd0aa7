"""Inputs of other shapes or types: both functions refuse them, or both take them."""

from __future__ import annotations

from dataclasses import replace

from porter.verify.checks.judge import Judge
from porter.verify.checks.ranks import ranked
from porter.verify.engines.launches import LaunchError, TooCostly
from porter.verify.engines.scheduler import from_kernel
from porter.verify.inputs import narrowing, variations
from porter.verify.inputs.arguments import Inputs, Parameter
from porter.verify.inputs.cases import CaseSpec
from porter.verify.oracle import calls, compare
from porter.verify.oracle.errors import alike, arithmetic, described

_REFUSALS = (ValueError, TypeError, IndexError)


#: inputs and the parameters that they are of
Sample = tuple[Inputs, list[Parameter]]


def run(judge: Judge, sample: Sample, in_order: Sample) -> None:
    """Try inputs that need not fit together; raises `MismatchFound` where the two do not agree."""
    inputs, parameters = sample
    spec = CaseSpec(("5",), number=-1, variant=judge.drawing.variant_of(parameters))
    others = (*variations.wrong(inputs, parameters), *ranked(inputs, parameters))
    for label, changed in others:
        _one(judge, spec, label, changed)
    ordered, of = in_order
    spec = replace(spec, variant=judge.drawing.variant_of(of))
    for label, changed, inside in variations.beyond(ordered, of):
        _one(judge, spec, label, changed, inside)


def _one(
    judge: Judge, spec: CaseSpec, label: str, inputs: Inputs, inside: tuple[Inputs, ...] = ()
) -> None:
    """One such input; of indices out of bounds with the same ones `inside`."""
    if not narrowing.holds(judge.subject.domain, inputs):
        return
    judge.settings.report(-1, (label, *inputs.describe()), judge.drawing.signature(spec.variant))
    expected = calls.original(judge.subject.original, inputs, casts=True)
    if expected.error is not None and arithmetic(expected.error):
        return
    actual = judge.converted(spec, inputs)
    if isinstance(actual.error, TooCostly):
        return  # a kernel that no case of the table launches was not compiled
    if inside and isinstance(actual.error, IndexError) and expected.error is None:
        text = f"{label}: raises {described(actual.error, actual.line)}; the original returns"
        raise judge.found(spec, inputs, "exception", text)
    raised = isinstance(expected.error, IndexError) and actual.error is None
    if not (raised and inside and is_unused(judge, inputs, inside, actual)):
        _compare(judge, spec, label, inputs, expected, actual)
    judge.tally.counts["wrong_inputs"] += 1


def is_unused(
    judge: Judge, inputs: Inputs, inside: tuple[Inputs, ...], actual: compare.Outcome
) -> bool:
    """Whether no result depends on the element at an index: NumPy reads it all the same.

    `np.where(index >= 0, x[index], 0.0)` is the same for all negative indices.
    """
    for other in inside:
        expected = calls.original(judge.subject.original, other, casts=True)
        # the indices themselves are others
        pairs = zip(inputs.arguments, other.arguments, strict=True)
        for k, (a, b) in enumerate(pairs):
            if a is not b and expected.error is None:
                expected.arguments[k] = actual.arguments[k]
        if expected.error is not None or judge.differ(other, expected, actual) is not None:
            return False
    return True


def _compare(
    judge: Judge,
    spec: CaseSpec,
    label: str,
    inputs: Inputs,
    expected: compare.Outcome,
    actual: compare.Outcome,
) -> None:
    if actual.error is not None and from_kernel(actual.error):
        text = f"{label}: not rejected before the launch: {described(actual.error, actual.line)}"
        raise judge.found(spec, inputs, "exception", text)
    if isinstance(actual.error, _REFUSALS) and not isinstance(actual.error, LaunchError):
        judge.tally.counts["stricter"] += expected.error is None
    elif actual.error is not None:
        same = expected.error is not None and alike(expected.error, actual.error)
        if not same:
            text = f"{label}: raises {described(actual.error, actual.line)}"
            raise judge.found(spec, inputs, "exception", text)
    elif expected.error is not None:
        text = f"{label}: only the original raises {described(expected.error)}"
        raise judge.found(spec, inputs, "exception", text)
    else:
        difference = judge.differ(inputs, expected, actual)
        if difference is not None:
            text = f"{label}: {difference.message}"
            raise judge.found(spec, inputs, difference.what, text, difference)
