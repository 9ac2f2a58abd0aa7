"""Cases beyond the verifier's own: the user's strategies, and what a trace recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from porter.trace.place import INPUTS
from porter.trace.record import Trace, TracedFunction, read_trace
from porter.verify.checks.subject import MismatchFound
from porter.verify.checks.verification import Verification
from porter.verify.inputs import narrowing, strategies
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.traced import TracedCases


class ExtraCases:
    """The extra cases of a request, numbered after the verifier's own: strategies, then trace."""

    def __init__(self, inputs: str | None, trace: str | None, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.strategies: dict[str, Any] = strategies.load(Path(inputs)) if inputs else {}
        self.file = Path(trace) if trace else None
        self.trace: Trace | None = read_trace(self.file) if self.file else None

    def run(self, verification: Verification, source: str, only: int | None) -> None:
        """All extra cases of one function; raises `MismatchFound` on a difference."""
        name = verification.subject.record.name
        if name in self.strategies and (only is None or only // self.count == 1):
            self._strategies(verification, self.strategies[name], only)
        for function in self._functions(name, source):
            self._traced(verification, function, only)

    def _strategies(self, verification: Verification, strategy: Any, only: int | None) -> None:
        parameters = verification.drawing.variants[0]
        drawn = 0

        def check(inputs: Inputs) -> None:
            nonlocal drawn
            number = self.count + drawn % self.count
            drawn += 1
            # device arrays in turn; the same draws come again with the same seed
            form = "device" if drawn % 4 == 0 else "host"
            try:
                verification.given(replace(inputs, form=_form(inputs, form)), parameters, number)
            except MismatchFound as found:
                # hypothesis makes it smaller, and stays within the strategy
                found.spec = None
                raise

        done = strategies.explore(
            strategy, parameters, self.count, self.seed, verification.settings.deadline, check
        )
        verification.tally.counts["strategies"] += done

    def _functions(self, name: str, source: str) -> Iterator[TracedFunction]:
        if self.trace is None or self.file is None:
            return
        root = self.file.resolve().parent.parent
        wanted = Path(source).resolve()
        for function in self.trace.functions:
            if function.name == name and (root / function.path).resolve() == wanted:
                yield function

    def _traced(
        self, verification: Verification, function: TracedFunction, only: int | None
    ) -> None:
        assert self.file is not None
        folder = self.file.parent / INPUTS
        cases = TracedCases(function, verification.drawing.variants, folder, self.seed)
        rng = np.random.default_rng(self.seed)
        for k, case in enumerate(cases):
            number = 2 * self.count + k
            if only not in (None, number):
                continue
            if time.monotonic() > verification.settings.deadline:
                verification.tally.reasons.append("time limit")
                break
            inputs: Inputs | None = case.inputs
            if not case.recorded:
                domain = verification.subject.domain
                inputs = narrowing.narrowed(case.inputs, case.parameters, domain, "normal", rng)
            if inputs is not None:
                verification.given(inputs, case.parameters, number)
                verification.tally.counts["traced"] += 1
        verification.tally.reasons += [f"not traced: {reason}" for reason in cases.left_out]


def _form(inputs: Inputs, form: str) -> str:
    arrays = any(isinstance(a.value, np.ndarray) for a in inputs.arguments)
    return form if arrays else "host"
