"""The inputs of a function's cases, drawn from its seed."""

from __future__ import annotations

import inspect
import math
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

import numpy as np

from porter.dtypes.signatures import ArgType, parse_types
from porter.verify.checks.subject import MismatchFound, Subject, Version
from porter.verify.checks.trials import Taken, conditions, made_definite
from porter.verify.engines.launches import POISON
from porter.verify.engines.scheduler import ORDER
from porter.verify.evidence import Mismatch
from porter.verify.inputs import large, narrowing
from porter.verify.inputs.arguments import Inputs, Parameter, build
from porter.verify.inputs.cases import CaseSpec, retries, searched
from porter.verify.inputs.shapes import complete, evaluate, parse_shapes, symbols
from porter.verify.oracle import calls
from porter.verify.oracle.chunked import CHUNKINGS

#: in the place of an attempt's number, for inputs that fit together as some that were found
FITTING = 300


class Drawing:
    """Draws the inputs of cases; `variants` are the parameters with each of the signatures."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject, self.seed = subject, seed
        self.signatures = tuple(types for types, _ in subject.record.served)
        self.variants: list[list[Parameter]] = []

    def prepare(self) -> None:
        """Read the parameters; raises `MismatchFound` if the functions do not have the same."""
        served = self.subject.record.served
        self.variants = [self._read(parse_types(types), shapes) for types, shapes in served]
        expected = calls.positional(self.subject.original)
        actual = calls.positional(self.subject.own.function, self.subject.record.own_stream)
        if expected != actual:
            text = f"takes ({', '.join(actual)}), the original ({', '.join(expected)})"
            raise MismatchFound(Mismatch("load", text))

    @property
    def axes(self) -> int:
        """How many dimensions have a size of their own."""
        return max(len(symbols(e for p in v for e in p.dims)) for v in self.variants)

    @property
    def forms(self) -> tuple[int, ...]:
        """How many signatures each form of the function has, in the order of `variants`."""
        record = self.subject.record
        return (1 + len(record.also), *(1 + len(f.also) for f in record.forms))

    def form_of(self, parameters: list[Parameter]) -> int:
        """Which form the parameters are of; the first one for those of a recorded call."""
        ends = list(accumulate(self.forms))
        return next(k for k, end in enumerate(ends) if self.variant_of(parameters) < end)

    def parameters(self, spec: CaseSpec) -> list[Parameter]:
        """The parameters of a case."""
        return self.variants[spec.variant % len(self.variants)]

    def _read(self, types: tuple[ArgType, ...], shapes: str) -> list[Parameter]:
        names = calls.positional(self.subject.original)
        if len(types) > len(names):
            text = f"the header gives {len(types)} argument types for {len(names)} parameters"
            raise MismatchFound(Mismatch("load", text))
        pairs = list(zip(names, types, strict=False))
        ranks = {n: t.ndim for n, t in pairs if t.kind == "array"}
        dims = complete(parse_shapes(shapes), ranks)
        indices, marks = self.subject.indices, self.subject.marks
        known = inspect.signature(self.subject.original).parameters
        return [
            Parameter(n, t, dims.get(n, ()), n in indices, marks, known[n].default)
            for n, t in pairs
        ]

    def signature(self, variant: int) -> str:
        """The header's words for the argument types of a variant."""
        return self.signatures[variant % len(self.signatures)]

    def variant_of(self, parameters: list[Parameter]) -> int:
        """Which variant the parameters are of; 0 for those of a recorded call."""
        return next((k for k, p in enumerate(self.variants) if p is parameters), 0)

    def version(self, spec: CaseSpec) -> Version:
        """The generated function with the blocks and the kernels that a case wants."""
        found = self.subject.own if spec.own else self.subject.small
        if spec.many and self.subject.many is not None:
            found = self.subject.many
        return spec.choice(found.large) or found

    def order(self, number: int) -> None:
        """Let the threads and the poison of this case be the same in every run."""
        name = zlib.crc32(self.subject.record.name.encode())
        ORDER.reset(zlib.crc32(f"{self.seed} {name} {number}".encode()))
        POISON.choose(number)
        CHUNKINGS.choose(number)

    def versions(self, spec: CaseSpec) -> Iterator[tuple[int, CaseSpec, bool]]:
        """The case, then what may suit the original better; the last ones by its own checks."""
        first, *others = retries(spec)
        hinted = list(enumerate(searched(spec), 100)) if self.subject.hints.conditions else []
        yield 0, first, False
        yield from ((attempt, version, True) for attempt, version in hinted[:2])
        yield from ((attempt, version, False) for attempt, version in enumerate(others, 1))
        yield from ((attempt, version, True) for attempt, version in hinted[2:])
        if not hinted:
            yield from ((k, version, False) for k, version in enumerate(searched(spec)[2:], 200))

    def inputs(self, spec: CaseSpec, attempt: int, *, hinted: bool = False) -> Inputs | None:
        """The inputs of a case; None if none of its sizes are in the domain."""
        name = zlib.crc32(self.subject.record.name.encode())
        parameters = self.parameters(spec)
        rng = np.random.default_rng([self.seed, name, spec.number, attempt])
        self.order(spec.number)
        domain = self.subject.domain
        names = symbols(entry for p in parameters for entry in p.dims)
        bounds = narrowing.extents(domain, parameters, names)
        if hinted:
            try:
                domain = domain.joined(self.subject.hints)
                bounds = narrowing.extents(domain, parameters, names)
                inputs = build(parameters, spec, self.version(spec).blocks, rng, bounds)
                return narrowing.narrowed(inputs, parameters, domain, spec.domain, rng)
            except (ValueError, LookupError, TypeError, ArithmeticError):
                return None  # what was read in the checks is no condition on such arguments
        inputs = build(parameters, spec, self.version(spec).blocks, rng, bounds)
        # of others a factorisation takes the root of a negative number, and the rest is NaN
        inputs = made_definite(inputs) if spec.definite else inputs
        return narrowing.narrowed(inputs, parameters, domain, spec.domain, rng)

    def fitting(self, spec: CaseSpec, taken: Taken, *, exact: bool = False) -> Inputs | None:
        """Inputs of a case that fit together as those do that the original was found to take.

        With `exact` they have their sizes.
        """
        name = zlib.crc32(self.subject.record.name.encode())
        parameters, domain = self.parameters(spec), self.subject.domain
        self.order(spec.number)

        def drawn(bounds: dict[str, tuple[int, int]]) -> Inputs:
            rng = np.random.default_rng([self.seed, name, spec.number, FITTING])
            inputs = build(parameters, spec, self.version(spec).blocks, rng, bounds)
            return replace(inputs, found=True)

        sizes = dict(taken.sizes) if exact else fitted(taken, drawn({}).sizes, parameters, spec)
        dims = symbols(entry for p in parameters for entry in p.dims)
        inputs = drawn({n: (sizes[n], sizes[n]) for n in dims})
        inputs = made_definite(inputs) if taken.definite else inputs
        rng = np.random.default_rng([self.seed, name, spec.number, FITTING])
        whole = domain.joined(conditions(sizes, parameters))
        try:
            return narrowing.narrowed(inputs, parameters, whole, spec.domain, rng)
        except (ValueError, LookupError, TypeError, ArithmeticError):
            return None

    def effort(self, spec: CaseSpec) -> tuple[float, float] | None:
        """The bytes and seconds that the original takes in a case; None if it raises."""
        inputs = self._affordable(spec)
        return None if inputs is None else large.effort(self.subject.original, inputs)

    def cost(self, spec: CaseSpec) -> float | None:
        """The bytes that a case takes; None when the original does not return in time."""
        inputs = self._affordable(spec)
        return None if inputs is None else large.bytes_of(self.subject.original, inputs)

    def _affordable(self, spec: CaseSpec) -> Inputs | None:
        try:
            return self.inputs(spec, 0)
        except MemoryError:
            return None


def fitted(
    taken: Taken, own: dict[str, int], parameters: list[Parameter], spec: CaseSpec
) -> dict[str, int]:
    """All sizes for a case with these of its own: halved until no array has more elements than the
    case may have points.

    Those that fit together grow together, and a cube has more elements than one of its edges says.
    """

    def largest(sizes: dict[str, int]) -> int:
        arrays = ([evaluate(entry, sizes) for entry in p.dims] for p in parameters)
        return max((math.prod(lengths) for lengths in arrays), default=0)

    sizes = taken.fitted(own)
    while not spec.exact and largest(sizes) > spec.points and max(own.values()) > 1:
        own = {name: -(-n // 2) for name, n in own.items()}
        sizes = taken.fitted(own)
    return sizes
