"""Cases from a recorded trace: its types and sizes, and its values where they were kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from porter.dtypes.signatures import ArgType, parse_types
from porter.trace.lookup import split_types
from porter.trace.record import Size, Sizes, TracedFunction
from porter.verify.inputs.arguments import Argument, Inputs, Parameter, build
from porter.verify.inputs.cases import MOST_POINTS, CaseSpec
from porter.verify.inputs.resizing import resized, sizes_of

#: recorded sizes that are tried for each of a function's types, those with the most time first
EACH = 8
#: a count of steps is cut to this
MOST_STEPS = 40


@dataclass(frozen=True)
class TracedCase:
    """One case; `inputs` hold recorded values if `recorded`; `cut` says that it was larger."""

    label: str
    parameters: list[Parameter]
    inputs: Inputs
    recorded: bool
    cut: bool


@dataclass
class TracedCases:
    """The cases of one function; `left_out` says what could not be used."""

    function: TracedFunction
    variants: Sequence[list[Parameter]]
    folder: Path
    seed: int
    left_out: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[TracedCase]:
        for signature in self.function.signatures:
            variant = self._variant(signature.types)
            if variant is None:
                self._leave(f"({signature.types}) is not what the module was made for")
                continue
            for shapes in signature.shapes[:EACH]:
                case = self._case(variant, signature.types, shapes)
                if case is not None:
                    yield case

    def _leave(self, reason: str) -> None:
        if reason not in self.left_out:
            self.left_out.append(reason)

    def _types(self, text: str) -> dict[str, str]:
        return dict(zip(self.function.parameters, split_types(text), strict=False))

    def _variant(self, text: str) -> list[Parameter] | None:
        """The parameters with exactly these types; None if the module has no such."""
        types = self._types(text)
        return next((v for v in self.variants if all(_fits(p, types) for p in v)), None)

    def _case(self, variant: list[Parameter], text: str, shapes: Sizes) -> TracedCase | None:
        sizes = dict(zip(self.function.parameters, shapes.sizes, strict=False))
        found = _dimensions(variant, sizes)
        if found is None:
            self._leave(f"{_shown(sizes)} does not fit the shapes in the header")
            return None
        small = _cut(found)
        recorded = self._recorded(variant, shapes, found)
        inputs = resized(recorded, variant, small) if recorded else None
        inputs = inputs or self._built(variant, self._types(text), small, sizes)
        label = f"traced call: {_shown(sizes)}" + (" (cut)" if small != found else "")
        return TracedCase(label, variant, inputs, recorded is not None, small != found)

    def _recorded(
        self, variant: list[Parameter], shapes: Sizes, found: dict[str, int]
    ) -> Inputs | None:
        """The values that the trace kept of such a call."""
        if not shapes.inputs:
            return None
        try:
            with np.load(self.folder / Path(shapes.inputs).name, allow_pickle=False) as data:
                values = {name: data[name] for name in data.files}
        except (OSError, ValueError):
            self._leave(f"{shapes.inputs} cannot be read")
            return None
        made = []
        for p in variant:
            value: Any = values.get(f"a:{p.name}")
            if value is None and f"n:{p.name}" in values:
                value = values[f"n:{p.name}"].item()
            elif value is not None and p.type.kind == "scalar":
                value = value[()]
            elif value is None and p.type.kind not in ("none", "omitted"):
                return None
            made.append(Argument(p.name, p.default if value is None else value))
        inputs = Inputs(tuple(made), sizes=found)
        return inputs if sizes_of(inputs, variant) is not None else None

    def _built(
        self, variant: list[Parameter], types: dict[str, str], small: dict[str, int],
        sizes: dict[str, Size],
    ) -> Inputs:  # fmt: skip
        """Random values in the recorded sizes, integers as they were."""
        spec = CaseSpec(tuple("5"), domain="normal")
        rng = np.random.default_rng([self.seed, len(self.left_out)])
        made = build(variant, spec, {}, rng, {n: (size, size) for n, size in small.items()})
        arguments = []
        for argument in made.arguments:
            size = sizes.get(argument.name)
            value = argument.value
            if isinstance(size, int) and not isinstance(value, np.ndarray):
                value = type(value)(small.get(argument.name, min(size, MOST_STEPS)))
            strided = types.get(argument.name, "").endswith(":]")
            layout = "strided" if strided and isinstance(value, np.ndarray) else "C"
            arguments.append(replace(argument, value=value, layout=layout))
        return replace(made, arguments=tuple(arguments), form="host")


def _fits(parameter: Parameter, types: dict[str, str]) -> bool:
    if parameter.type.kind in ("none", "omitted"):
        return True
    try:
        (found,) = parse_types(types.get(parameter.name, ""))
    except ValueError:
        return False
    return _plain(found) == _plain(parameter.type)


def _plain(type_: ArgType) -> tuple[str, str, int]:
    return type_.kind, type_.dtype, type_.ndim


def _dimensions(variant: Sequence[Parameter], sizes: dict[str, Size]) -> dict[str, int] | None:
    """The extents of the dimensions, from recorded shapes."""
    arrays = [
        Argument(p.name, np.broadcast_to(np.int8(0), shape))
        for p in variant
        if isinstance(shape := sizes.get(p.name), tuple)
    ]
    return sizes_of(Inputs(tuple(arrays)), variant)


def _cut(found: dict[str, int]) -> dict[str, int]:
    """Sizes of at most `MOST_POINTS` points together, the largest halved until they are."""
    small = dict(found)
    while math.prod(max(n, 1) for n in small.values()) > MOST_POINTS:
        name = max(small, key=lambda n: small[n])
        small[name] = (small[name] + 1) // 2
    return small


def _shown(sizes: dict[str, Size]) -> str:
    known = {n: s for n, s in sizes.items() if s is not None}
    return ", ".join(
        f"{n} {'x'.join(map(str, s)) if isinstance(s, tuple) else s}" for n, s in known.items()
    )
