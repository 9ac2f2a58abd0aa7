"""The signatures that a decorator of Numba's states, to which arguments are cast."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from porter import ir
from porter.codegen.module.as_ufunc import AsUfunc
from porter.convert.served.siblings import Sibling
from porter.diagnostics import UsageError
from porter.inference.signature import ufunc_signatures
from porter.inference.types import parse_signature
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan, items_of
from porter.schedule.overlap import overlaps
from porter.source.module import FunctionSource
from porter.support.names import NameSupply
from porter.support.reserved import given

#: the argument that takes arrays for the results
OUT = "out"


@dataclass(frozen=True)
class Casts:
    """What `@vectorize` or `@guvectorize` states: the dtypes of arguments and of results.

    A gufunc takes the very dtypes of the arguments where there is a signature of them.
    """

    arguments: tuple[tuple[str, ...], ...]
    results: tuple[str, ...] = ()
    exact: bool = False

    def holds(self, types: str) -> bool:
        """Whether types are those of a signature, but for the dimensions."""
        return tuple(t.dtype.name for t in parse_signature(types)) in self.arguments

    @property
    def lines(self) -> tuple[str, ...]:
        """The signatures of a ufunc, as the header has them."""
        pairs = zip(self.results, self.arguments, strict=False)
        return tuple(f"{result}({', '.join(own)})" for result, own in pairs)


def casts_of(function: FunctionSource, asked: Sequence[str] | None) -> Casts | None:
    """What is stated of a function; None where nothing is, or where other types are asked for."""
    if function.parts is not None:
        inputs = function.parts.layout.inputs
        each = tuple(tuple(d for d, _ in types[:inputs]) for types in function.parts.types)
        return Casts(each, exact=True)
    texts = ufunc_signatures(function)
    if texts is None:
        return None
    try:
        each = tuple(tuple(t.dtype.name for t in parse_signature(text)) for text in texts)
        results = tuple(parse_signature(text.partition("(")[0])[0].dtype.name for text in texts)
    except (UsageError, ValueError, IndexError):
        return None
    found = Casts(each, results)
    return found if all(map(found.holds, asked or texts)) else None


def stated_alone(casts: Casts | None, also: Sequence[Sibling]) -> tuple[Sibling, ...]:
    """The siblings that the decorator has a signature for; all where there is none."""
    return tuple(s for s in also if casts is None or casts.holds(s.signature))


def as_ufunc_of(
    function: FunctionSource, forms: Sequence[Plan], casts: Casts | None, around: Collection[str]
) -> AsUfunc:
    """What the public function of a ufunc's module does beside calling the private one."""
    signatures = () if casts is None else casts.arguments
    names = {given(p.name) for p in forms[0].parameters}
    stores = OUT not in names and all(map(_makes_all, forms))
    cores: tuple[int, ...] | None = () if all(map(is_elementwise, forms)) else None
    if function.parts is not None:
        cores = tuple(map(len, function.parts.layout.results))
    taken = NameSupply({given(n) for n in around}, [f.name for f in forms])
    private = taken.unused(re.sub(r"\W", "_", f"_{function.name}"))
    return AsUfunc(private, signatures, casts is not None and casts.exact, stores, cores)


def _makes_all(planned: Plan) -> bool:
    """Whether all results are arrays that the function makes, and it changes no argument."""
    returns = [i for i in items_of(planned.items) if isinstance(i, ir.Return)]
    values = [v for i in returns for v in i.values]
    made = [_made(planned, v) for v in values]
    listed = any(i.listed or i.given for i in returns)
    return bool(made) and all(made) and not listed and not overlaps(planned).written


def _made(planned: Plan, value: str | ir.Expr | None) -> bool:
    if isinstance(value, ir.Load) and not value.index:
        return not value.dtype.weak
    if not isinstance(value, str):
        return False
    return not (planned.buffers[value].parameter or planned.aliases.arguments(value))
