"""Forms of elementwise functions for dtypes that no kernel serves: integers, and real numbers.

What the host cannot convert, and no text for another dtype serves, has kernels of its own.  Those
of elementwise functions are short.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from porter.convert.served.variants import Made
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import DType
from porter.inference.types import ParameterType
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.schedule.overlap import overlaps

Types = tuple[ParameterType, ...]
#: forms beside a first one: of all its arrays, and of one or two of them
MOST = 3
#: what is tried in place of arrays: integers for floats, real numbers for complex ones
_OTHER = {"float64": "int64", "complex128": "float64"}


@dataclass(frozen=True)
class Taken:
    """What a form takes: its types, and the arrays that may have the other dtype.

    `served` has those that may have it whatever the others have; of those in `some` not all may.
    """

    types: Types
    plan: Plan
    served: frozenset[str]
    some: frozenset[str]


def taken(
    types: Types, plan: Plan, conversions: Conversions, siblings: Collection[tuple[str, str]]
) -> Taken:
    """What a form takes, whose `siblings` are other dtypes of arrays that its text serves."""
    names = [p.name for p in plan.parameters]
    kept = overlaps(plan).written
    own = {n: _OTHER.get(t.dtype.name, "") for n, t in zip(names, types, strict=True)}
    converted = {*conversions.names} - kept
    some = frozenset(converted) if conversions.some else frozenset[str]()
    whole = {n for n, dtype in siblings if dtype == own.get(n)}
    real = {n for n in conversions.complexes if conversions.whole}
    return Taken(types, plan, frozenset((converted - some) | whole | real), some)


def further_types(form: Taken) -> Iterator[Types]:
    """Types with another dtype for arrays for which a form has none: all of them first."""
    if not is_elementwise(form.plan):
        return
    names = [p.name for p in form.plan.parameters]
    open_ = [
        k for k, t in enumerate(form.types)
        if t.ndim is not None and t.dtype.name in _OTHER and names[k] not in form.served
    ]  # fmt: skip
    alone = [k for k in open_ if names[k] not in form.some]
    if open_:
        yield _with(form.types, open_)
    for size in range(1, len(open_)):
        for chosen in combinations(alone, size):
            yield _with(form.types, chosen)


def is_alike(made: Made, first: Made) -> bool:
    """Whether a form is elementwise, too, and takes the same arguments but for their dtypes."""
    pairs = zip(made.types, first.types, strict=True)
    return is_elementwise(made.plan) and all(t.omitted == o.omitted for t, o in pairs)


def _with(types: Sequence[ParameterType], chosen: Collection[int]) -> Types:
    return tuple(
        ParameterType(DType(_OTHER[t.dtype.name]), t.ndim) if k in chosen else t
        for k, t in enumerate(types)
    )
