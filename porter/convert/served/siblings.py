"""Other dtypes that the very same text serves, and which of them a module has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.codegen.module.marks import dtypes_of
from porter.codegen.module.module import FunctionText
from porter.dtypes.dtype import SIBLINGS, DType
from porter.inference.types import ParameterType
from porter.resolve.attributes import parameters_of
from porter.schedule.nodes import Plan
from porter.source.module import FunctionSource

#: signatures of a ufunc
MOST_SIGNATURES = 8
#: integers of fewer bits than a float32 has digits: with them NumPy makes a float32, and a float64
#: of wider ones
NARROW = ("int8", "uint8", "int16")
#: what identifies the text of a function for these types; None where they are refused
Texts = Callable[[FunctionSource, Sequence[ParameterType]], tuple[object, ...] | None]


@dataclass(frozen=True)
class Sibling:
    """Another dtype of the same kind that the very same text serves: of which parameters.

    If it is `narrow`, only where all other arrays are of float64.
    """

    types: tuple[ParameterType, ...]
    names: tuple[str, ...]
    dtype: str
    narrow: bool = False

    @property
    def signature(self) -> str:
        """Argument types in Numba's syntax."""
        return ", ".join(map(str, self.types))


def siblings_of(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan, text: FunctionText,
    again: Texts | None, kinds: Mapping[tuple[str, ...], tuple[str, ...]],
) -> tuple[tuple[tuple[str, str], ...], tuple[Sibling, ...]]:  # fmt: skip
    """The dtype of each array, and other dtypes that the very same text serves: those of the same
    kind, and those of `kinds`."""
    names = [p.name.value for p in parameters_of(function)]
    given = {
        n: planned.buffers[n].dtype.name
        for n, t in zip(names, types, strict=True)
        if t.ndim is not None
    }
    also: list[Sibling] = []
    served = [tuple(types)]
    for group in groups_of(function, types, planned):
        members = [names.index(n) for n in group]
        own = types[members[0]].dtype
        fixed = planned.buffers[names[members[0]]].dtype.var is None and not planned.any_width
        if again is None or fixed:
            continue
        tried = (*SIBLINGS[own.kind], *kinds.get(group, ()))
        for other in tried:
            if other == own.name or _is_hopeless(other, own, tried, also, names[members[0]]):
                continue
            # beside every dtype of the other parameters: int8 and float32 give float32, but
            # int64 and float32 float64, and so do int8 and float64
            changed = [_with(t, members, other) for t in served if t[members[0]].dtype == own]
            if all(again(function, t) == text.key() for t in reversed(changed)):
                also.append(Sibling(changed[0], tuple(names[k] for k in members), other))
                served += changed
    return tuple(given.items()), tuple(also)


def narrow_siblings(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan, text: FunctionText,
    again: Texts, also: Sequence[Sibling],
) -> Iterator[Sibling]:  # fmt: skip
    """The narrow integers that the text serves where all other arrays are of float64, and that it
    does not serve beside float32: all of them or none."""
    names = [p.name.value for p in parameters_of(function)]
    arrays = [k for k, t in enumerate(types) if t.ndim is not None]
    known = {(n, s.dtype) for s in also for n in s.names}
    for (name,) in (g for g in groups_of(function, types, planned) if len(g) == 1):
        k = names.index(name)
        others = [types[j].dtype.name for j in arrays if j != k]
        wide = types[k].dtype.name == "int64" and (name, "int32") in known
        if wide and {*others} == {"float64"} and not {(name, d) for d in NARROW} & known:
            each = [(d, _with(types, [k], d)) for d in NARROW]
            if all(again(function, t) == text.key() for _, t in each):
                yield from (Sibling(t, (name,), d, narrow=True) for d, t in each)


def narrow_texts(
    siblings: Sequence[Sibling], allowed: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """What stands for the dtypes of arrays with narrow siblings and the end of their text."""
    return {
        f'{dtypes_of(name)}"': f'{" ".join(sorted(allowed[name], key=by_size))}" + '
        f"_narrow({', '.join(n for n in allowed if n != name)})"
        for s in siblings if s.narrow for name in s.names
    }  # fmt: skip


def _is_hopeless(
    other: str, own: DType, tried: Sequence[str], also: Sequence[Sibling], name: str
) -> bool:
    """Whether integers are not served by a text for floats that does not serve int64 either."""
    wanted = own.kind in "fc" and DType(other).kind in "iu" and other != "int64"
    served = any(name in s.names and s.dtype == "int64" for s in also)
    return wanted and "int64" in tried and not served


def fewest(own: Sequence[tuple[str, str]], also: Sequence[Sibling]) -> tuple[Sibling, ...]:
    """The siblings that are as wide as usual, of the same kind first: a ufunc is compiled for all
    dtypes of each array beside all of the others, and at once."""
    known = dict(own)
    counts: dict[tuple[str, ...], int] = {}
    kept: list[Sibling] = []

    def rank(s: Sibling) -> tuple[bool, bool]:
        dtype = DType(s.dtype)
        return dtype.kind != DType(known[s.names[0]]).kind, dtype.itemsize < 4

    for s in sorted(also, key=rank):
        more = counts | {s.names: counts.get(s.names, 1) + 1}
        if math.prod(more.values()) <= MOST_SIGNATURES:
            counts = more
            kept.append(s)
    return tuple(s for s in also if s in kept)


def take_float64(own: Iterable[tuple[str, str]], siblings: Iterable[Sibling]) -> bool:
    """Whether the kernels take float64, as which arguments are converted, for each float array."""
    wide = {n for s in siblings if s.dtype == "float64" for n in s.names}
    return all(dtype != "float32" or name in wide for name, dtype in own)


def groups_of(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan
) -> tuple[tuple[str, ...], ...]:
    """The arrays that must have one dtype, the one first after which it is called."""
    groups: dict[str, list[str]] = {}
    for p, t in zip(parameters_of(function), types, strict=True):
        name = p.name.value
        if t.ndim is not None:
            groups.setdefault(planned.buffers[name].dtype.var or name, []).append(name)
    return tuple(tuple(sorted(g, key=lambda n: n != var)) for var, g in groups.items())


def by_size(name: str) -> tuple[bool, int, str]:
    """Floats last, the widest one at the end."""
    return DType(name).kind in "fc", DType(name).itemsize, name


def _with(
    types: Sequence[ParameterType], members: Sequence[int], name: str
) -> tuple[ParameterType, ...]:
    return tuple(
        ParameterType(DType(name), t.ndim, t.given) if k in members else t
        for k, t in enumerate(types)
    )
