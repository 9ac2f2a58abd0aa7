"""Inputs that no longer fit together: both functions refuse them, or both take them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Protocol

from porter.verify.checks.subject import Found, Subject
from porter.verify.engines.launches import LaunchError
from porter.verify.engines.scheduler import from_kernel
from porter.verify.inputs import narrowing, variations
from porter.verify.inputs.arguments import Inputs, Parameter
from porter.verify.inputs.cases import CaseSpec
from porter.verify.oracle import calls, compare
from porter.verify.oracle.errors import alike, arithmetic, told

_REFUSALS = (ValueError, TypeError, IndexError)


class Judge(Protocol):
    """The proof that the inputs are tried for."""

    subject: Subject
    counts: Counter[str]
    in_order: tuple[Inputs, list[Parameter]] | None

    def report(self, number: int, inputs: tuple[str, ...], signature: str, /) -> None:
        """Say which input comes next."""

    def signature(self, variant: int) -> str:
        """The header's words for the argument types of a variant."""

    def _variant(self, parameters: list[Parameter]) -> int: ...

    def _converted(self, spec: CaseSpec, inputs: Inputs) -> compare.Outcome: ...

    def differ(
        self, inputs: Inputs, expected: compare.Outcome, actual: compare.Outcome
    ) -> compare.Difference | None:
        """The first difference between two outcomes that did not raise."""

    def _found(self, spec: CaseSpec, inputs: Inputs, what: str, message: str,
               difference: compare.Difference | None = None) -> Found: ...  # fmt: skip


def run(proof: Judge, inputs: Inputs, parameters: list[Parameter]) -> None:
    """Try inputs that do not fit together; raises `Found` where the two do not agree."""
    spec = CaseSpec(("5",), number=-1, variant=proof._variant(parameters))
    for label, changed in variations.wrong(inputs, parameters):
        _one(proof, spec, label, changed)
    ordered, of = proof.in_order or (inputs, parameters)
    spec = replace(spec, variant=proof._variant(of))
    for label, changed in variations.beyond(ordered, of):
        _one(proof, spec, label, changed, indices=True)


def _one(
    proof: Judge, spec: CaseSpec, label: str, inputs: Inputs, *, indices: bool = False
) -> None:
    if not narrowing.holds(proof.subject.domain, inputs):
        return
    proof.report(-1, (label, *inputs.describe()), proof.signature(spec.variant))
    expected = calls.original(proof.subject.original, inputs, casts=True)
    if expected.error is not None and arithmetic(expected.error):
        return
    actual = proof._converted(spec, inputs)
    if indices and isinstance(actual.error, IndexError) and expected.error is None:
        text = f"{label}: raises {told(actual.error, actual.line)}; the original returns"
        raise proof._found(spec, inputs, "exception", text)
    _judge(proof, spec, label, inputs, expected, actual)
    proof.counts["wrong_inputs"] += 1


def _judge(
    proof: Judge,
    spec: CaseSpec,
    label: str,
    inputs: Inputs,
    expected: compare.Outcome,
    actual: compare.Outcome,
) -> None:
    if actual.error is not None and from_kernel(actual.error):
        text = f"{label}: not rejected before the launch: {told(actual.error, actual.line)}"
        raise proof._found(spec, inputs, "exception", text)
    if isinstance(actual.error, _REFUSALS) and not isinstance(actual.error, LaunchError):
        proof.counts["stricter"] += expected.error is None
    elif actual.error is not None:
        same = expected.error is not None and alike(expected.error, actual.error)
        if not same:
            text = f"{label}: raises {told(actual.error, actual.line)}"
            raise proof._found(spec, inputs, "exception", text)
    elif expected.error is not None:
        text = f"{label}: only the original raises {told(expected.error)}"
        raise proof._found(spec, inputs, "exception", text)
    else:
        difference = proof.differ(inputs, expected, actual)
        if difference is not None:
            text = f"{label}: {difference.message}"
            raise proof._found(spec, inputs, difference.what, text, difference)
