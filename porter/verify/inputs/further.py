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
from porter.verify.checks.subject import Found
from porter.verify.checks.verifier import Proof
from porter.verify.inputs import narrowing, strategies
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.traced import TracedCases


class Further:
    """The further cases of a request, numbered after the verifier's own: strategies, then trace."""

    def __init__(self, request: dict[str, Any], count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.strategies: dict[str, Any] = {}
        if request.get("inputs"):
            self.strategies = strategies.load(Path(request["inputs"]))
        self.file = Path(request["trace"]) if request.get("trace") else None
        self.trace: Trace | None = read_trace(self.file) if self.file else None

    def run(self, proof: Proof, source: str, only: int | None) -> None:
        """All further cases of one function; raises `Found` on a difference."""
        name = proof.subject.record.name
        if name in self.strategies and (only is None or only // self.count == 1):
            self._strategies(proof, self.strategies[name], only)
        for function in self._functions(name, source):
            self._traced(proof, function, only)

    def _strategies(self, proof: Proof, strategy: Any, only: int | None) -> None:
        parameters = proof.variants[0]
        drawn = 0

        def check(inputs: Inputs) -> None:
            nonlocal drawn
            number = self.count + drawn % self.count
            drawn += 1
            # device arrays in turn; the same draws come again with the same seed
            form = "device" if drawn % 4 == 0 else "host"
            try:
                proof.given(replace(inputs, form=_form(inputs, form)), parameters, number)
            except Found as found:
                # hypothesis makes it smaller, and stays within the strategy
                found.spec = None
                raise

        done = strategies.explore(
            strategy, parameters, self.count, self.seed, proof.deadline, check
        )
        proof.counts["strategies"] += done

    def _functions(self, name: str, source: str) -> Iterator[TracedFunction]:
        if self.trace is None or self.file is None:
            return
        root = self.file.resolve().parent.parent
        wanted = Path(source).resolve()
        for function in self.trace.functions:
            if function.name == name and (root / function.path).resolve() == wanted:
                yield function

    def _traced(self, proof: Proof, function: TracedFunction, only: int | None) -> None:
        assert self.file is not None
        folder = self.file.parent / INPUTS
        cases = TracedCases(function, proof.variants, folder, self.seed)
        rng = np.random.default_rng(self.seed)
        for k, case in enumerate(cases):
            number = 2 * self.count + k
            if only not in (None, number):
                continue
            if time.monotonic() > proof.deadline:
                proof.reasons.append("time limit")
                break
            inputs: Inputs | None = case.inputs
            if not case.recorded:
                domain = proof.subject.domain
                inputs = narrowing.narrowed(case.inputs, case.parameters, domain, "normal", rng)
            if inputs is not None:
                proof.given(inputs, case.parameters, number)
                proof.counts["traced"] += 1
        proof.reasons += [f"not traced: {reason}" for reason in cases.left_out]


def _form(inputs: Inputs, form: str) -> str:
    arrays = any(isinstance(a.value, np.ndarray) for a in inputs.arguments)
    return form if arrays else "host"
