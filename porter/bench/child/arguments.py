"""Arguments of any size for one call of a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from porter.bench.child.virtual import aligned, stretched
from porter.bench.sizes import STEPS, usual_sizes
from porter.trace.lookup import split_types
from porter.verify.checks.drawing import Drawing
from porter.verify.checks.subject import Subject
from porter.verify.inputs import narrowing
from porter.verify.inputs.arguments import Argument, Inputs, Parameter, build, pointers
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.resizing import sizes_of
from porter.verify.inputs.shapes import evaluate, symbols
from porter.verify.oracle import calls

#: from some values of an array all of a larger one
Enlarged = Callable[[np.ndarray[Any, Any], tuple[int, ...]], np.ndarray[Any, Any]]
#: elements of the floats of a call that all have values of their own
FILLED = 1 << 22
#: kinds of integers that bounds of slices can be
_WHOLE = "iu"
#: extents with which the original is tried: one after the other, as names come
_TRIED = (12, 9, 14, 11)


class Chosen(NamedTuple):
    """The types of a call and its sizes: extents and integer arguments."""

    types: str
    parameters: list[Parameter]
    extents: dict[str, int]
    numbers: dict[str, int]

    @property
    def names(self) -> list[str]:
        """The names that a size can have."""
        return list(dict.fromkeys((*self.extents, *self.numbers)))

    @property
    def sizes(self) -> dict[str, int]:
        """All sizes, those of extents first."""
        return {**self.numbers, **self.extents}

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the arrays."""
        return [_shape(p, self.extents) for p in self.parameters if p.type.kind == "array"]

    def of(self, extents: Mapping[str, int]) -> Chosen:
        """The same call with other extents; numbers follow that are extents, or as large as one."""
        known = {n: extents.get(name, n) for name, n in self.extents.items()}
        numbers = {name: extents.get(name, known.get(n, n)) for name, n in self.numbers.items()}
        return self._replace(extents=dict(extents), numbers=numbers)


class Kind(NamedTuple):
    """The values of a call: those of a case; bounds of slices in order, up to the longest axis."""

    spec: CaseSpec
    ordered: bool


class Arguments:
    """Makes the arguments of one function."""

    def __init__(self, subject: Subject, traced: Mapping[str, Any] | None) -> None:
        self.subject = subject
        self.drawing = Drawing(subject, 0)
        self.drawing.prepare()
        self.traced = traced or {}
        self._suitable: Kind | None = None
        #: how the call was made
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep something to be said of the call, once."""
        if text not in self.notes:
            self.notes.append(text)

    def choose(self, given: Mapping[str, int]) -> Chosen:
        """The sizes of a call: those given, then those of the trace, then the usual ones."""
        number, recorded = self._recorded()
        parameters = self.drawing.variants[number]
        arrays = [p.dims for p in parameters if p.type.kind == "array"]
        usual = usual_sizes(arrays) | recorded
        extents = {name: given.get(name, n) for name, n in usual.items()}
        extents = {name: extents[name] for name in symbols(e for dims in arrays for e in dims)}
        whole = [p for p in parameters if p.type.kind == "scalar" and p.type.letter in "iu"]
        numbers = {
            p.name: extents.get(p.name, given.get(p.name, recorded.get(p.name, STEPS)))
            for p in whole
        }
        return Chosen(self.drawing.signature(number), parameters, extents, numbers)

    def _recorded(self) -> tuple[int, dict[str, int]]:
        """The variant whose types the trace has, and its sizes."""
        if not self.traced:
            return 0, {}
        names, sizes = self.traced["parameters"], self.traced["sizes"]
        types = dict(zip(names, split_types(self.traced["types"]), strict=False))
        said = dict(zip(names, sizes, strict=False))
        for number, parameters in enumerate(self.drawing.variants):
            arrays = [p for p in parameters if p.type.kind == "array"]
            shapes = {n: tuple(s) for n, s in said.items() if isinstance(s, list)}
            if all(_fits(p, types.get(p.name, "")) and p.name in shapes for p in arrays):
                known = sizes_of(_shown(arrays, shapes), parameters)
                if known is not None:
                    return number, known | {n: s for n, s in said.items() if isinstance(s, int)}
        return 0, {}

    def make(self, chosen: Chosen, enlarged: Enlarged = stretched) -> list[tuple[str, Any]]:
        """The name and the value of each argument; `enlarged` fills large arrays of floats."""
        kind = self._kind(chosen)
        large = {p.name: shape for p in chosen.parameters if (shape := _large(p, chosen.extents))}
        stretching = [p for p in chosen.parameters if p.name in large]
        small = dict(chosen.extents)
        while any(math.prod(_shape(p, small)) > FILLED for p in stretching):
            small[max(small, key=lambda name: small[name])] //= 2
        inputs = self._built(chosen.parameters, kind, small)
        exact = [p for p in chosen.parameters if p.name not in large]
        if large and exact:
            # indices and what counts them have to fit together
            known = {a.name: a for a in self._built(exact, kind, chosen.extents).arguments}
            merged = tuple(known.get(a.name, a) for a in inputs.arguments)
            inputs = replace(inputs, arguments=merged)
        made = []
        for argument in inputs.arguments:
            value = argument.value
            if argument.name in large:
                value = enlarged(value, large[argument.name])
            elif isinstance(value, np.ndarray):
                value = aligned(value)
            elif argument.name in chosen.numbers:
                value = type(value)(chosen.numbers[argument.name])
            made.append((argument.name, value))
        return made

    def _built(self, parameters: list[Parameter], kind: Kind, extents: Mapping[str, int]) -> Inputs:
        rng = np.random.default_rng(0)
        names = symbols(e for p in parameters for e in p.dims)
        bounds = {name: (extents[name], extents[name]) for name in names}
        inputs = build(parameters, kind.spec, {}, rng, bounds)
        if kind.ordered:
            top = max(extents.values(), default=0)
            inputs = replace(
                inputs, arguments=tuple(_ordered(a, parameters, top, rng) for a in inputs.arguments)
            )
        if len(parameters) == len(self.drawing.variants[0]):
            domain = self.subject.domain
            found = narrowing.narrowed(inputs, parameters, domain, kind.spec.domain, rng)
            return inputs if found is None else found
        return inputs

    def _kind(self, chosen: Chosen) -> Kind:
        """The kind of values with which the original raises nothing."""
        if self._suitable is None:
            plain = CaseSpec(("5",), exact=True, points=1 << 60, count=STEPS)
            kinds = [
                Kind(replace(plain, domain=domain, ints=ints), ordered)
                for ints in ("index", "sorted", "ones", "any")
                for domain in ("positive", "normal")
                for ordered in ((True, False) if pointers(chosen.parameters, _WHOLE) else (False,))
            ]
            tried = {
                name: min(n, _TRIED[k % len(_TRIED)])
                for k, (name, n) in enumerate(chosen.extents.items())
            }
            fitting = (kind for kind in kinds if self._takes(chosen, kind, tried))
            self._suitable = next(fitting, Kind(plain, False))
        return self._suitable

    def _takes(self, chosen: Chosen, kind: Kind, tried: Mapping[str, int]) -> bool:
        inputs = self._built(chosen.parameters, kind, tried)
        return calls.original(self.subject.original, inputs, patience=0.3).error is None


def _ordered(
    argument: Argument, parameters: list[Parameter], top: int, rng: np.random.Generator
) -> Argument:
    """Bounds of slices in order, as the row pointers of a sparse matrix are."""
    if argument.name not in pointers(parameters, _WHOLE):
        return argument
    values = np.sort(rng.integers(0, top + 1, argument.value.shape), axis=-1)
    if values.size:
        values[..., 0], values[..., -1] = 0, top
    most = np.iinfo(argument.value.dtype).max
    return replace(argument, value=np.minimum(values, most).astype(argument.value.dtype))


def _shape(parameter: Parameter, extents: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(max(0, evaluate(e, extents)) for e in parameter.dims)


def _large(parameter: Parameter, extents: Mapping[str, int]) -> tuple[int, ...] | None:
    """The shape of an array that has too many elements to fill, and no indices."""
    if parameter.type.kind != "array" or (parameter.type.letter not in "fc" and parameter.index):
        return None
    shape = _shape(parameter, extents)
    return shape if math.prod(shape) > FILLED else None


def _fits(parameter: Parameter, text: str) -> bool:
    """Whether an array's type is the recorded one, whatever its layout."""
    dtype, _, axes = text.partition("[")
    return parameter.type.dtype == dtype and parameter.type.ndim == axes.count(":") - (
        axes.count("::")
    )


def _shown(arrays: Sequence[Parameter], shapes: Mapping[str, tuple[int, ...]]) -> Inputs:
    return Inputs(
        tuple(Argument(p.name, np.broadcast_to(np.int8(0), shapes[p.name])) for p in arrays)
    )
