"""One function to the text of its kernels: candidates, front end, plan, code generation."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from porter import ir
from porter.codegen.module.marks import dtypes_of, meeting_of, with_numbers
from porter.codegen.module.module import FunctionText, function_text
from porter.convert.attempt import assumable, assumptions, front_end, method_apart
from porter.convert.promotion import Question, conversions
from porter.convert.strides import Served, served
from porter.diagnostics import Diagnostic, Refusal
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import SIBLINGS, DType
from porter.inference.types import ParameterType
from porter.lowering.program import build
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.nodes import Plan
from porter.sizes.polynomial import Dim, Integer, Poly
from porter.source.module import FunctionSource
from porter.target.base import Target
from porter.target.registry import CUDA


@dataclass(frozen=True)
class Sibling:
    """Another dtype of the same kind that the very same text serves: of which parameters."""

    types: tuple[ParameterType, ...]
    names: tuple[str, ...]
    dtype: str

    @property
    def signature(self) -> str:
        """Argument types in Numba's syntax."""
        return ", ".join(map(str, self.types))


@dataclass(frozen=True)
class Converted:
    """A function that converts: its types, what was assumed of them, and its text.

    `assumable` is what `assumed` says of types where none are given, but for their source.
    """

    name: str
    types: tuple[ParameterType, ...]
    assumed: tuple[str, ...]
    program: ir.Program
    plan: Plan
    blank: FunctionText
    path: str
    own: tuple[tuple[str, str], ...] = ()
    siblings: tuple[Sibling, ...] = ()
    without: tuple[str, ...] = ()
    assumable: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    conversions: Conversions = Conversions()  # noqa: RUF009 (immutable)

    @property
    def text(self) -> FunctionText:
        """The text, with the dtypes that each array may have."""
        allowed = {name: [dtype] for name, dtype in self.own}
        for sibling in self.siblings:
            for name in sibling.names:
                allowed[name].append(sibling.dtype)
        filled = {dtypes_of(n): " ".join(sorted(d, key=_by_size)) for n, d in allowed.items()}
        needs = self.blank.needs
        if self.conversions:
            needs = replace(needs, helpers={*needs.helpers, "_float64"})
        for group in self.groups:
            own = [n for n in group if n in self.conversions.names]
            rule = self.conversions.words(group)
            for name in own:
                converted = f"from {rule}" if len(group) == 1 else "or integers"
                filled[dtypes_of(name)] += f" {converted}"
            names = " ".join(group)
            filled[meeting_of(group[0])] = f"{names} from {rule}" if rule else names
        beside = " with floats" if self.conversions.floats else ""
        parts = tuple(with_numbers(_filled(part, filled), beside) for part in self.blank.parts)
        return replace(self.blank, parts=parts, needs=needs)

    def leaving_out(self, signatures: Collection[str]) -> Converted:
        """The same without some siblings, which the header then tells."""
        gone = tuple(s.signature for s in self.siblings if s.signature in signatures)
        left = tuple(s for s in self.siblings if s.signature not in signatures)
        return replace(self, siblings=left, without=(*self.without, *gone))

    @property
    def also(self) -> tuple[str, ...]:
        """The argument types of the siblings, as the header has them."""
        return tuple(s.signature for s in self.siblings)

    @property
    def signature(self) -> str:
        """Argument types in Numba's syntax."""
        return ", ".join(map(str, self.types))


def convert_function(
    function: FunctionSource,
    signature: str | None = None,
    scope: Globals | None = None,
    target: Target = CUDA,
    *,
    siblings: bool = True,
) -> Converted:
    """Convert one function. Raises Refusal with the diagnostic, UsageError for a bad signature.

    Without `siblings` the module takes the signature's dtypes only.
    """
    scope = scope or Globals(function.module)
    try:
        function, scope = method_apart(function, scope)
        types, program, planned = front_end(function, signature, scope, target.schedules)
        found = served(function, types, scope, program, planned, target.schedules)
        program, planned = found.program, found.plan
        text = function_text(planned, target)
        again = _Again(scope, target, bool(program.kept), found) if siblings else None
        own, also = _siblings(function, types, planned, text, again)
        groups = _groups(function, types, planned)
        accepted = Conversions()
        if again is not None:
            question = Question(
                [p.name.value for p in parameters_of(function)], types, program, planned,
                partial(again.program, function),
            )  # fmt: skip
            accepted = conversions(question, groups)
    except Refusal as e:
        raise Refusal(e.diagnostic.at(function.module.path, function.name)) from None
    return Converted(
        function.name, types,
        (*assumptions(function, types, signature), *program.assumed, *_serial(planned)),
        program, planned,
        text, function.module.path, own, also,
        assumable=assumable(function, types), groups=groups, conversions=accepted,
    )  # fmt: skip


def _serial(planned: Plan) -> tuple[str, ...]:
    """What the header says of loops on one thread."""
    return tuple(
        f"the loop at line {d.span.line} may run on one thread (--allow-serial)"
        for d in planned.notes
    )


def _filled(part: str, texts: dict[str, str]) -> str:
    for mark, text in texts.items():
        part = part.replace(mark, text)
    return part


@dataclass(frozen=True)
class _Again:
    """How a function was converted, to convert it again for other types."""

    scope: Globals
    target: Target
    partial: bool
    served: Served

    def program(
        self, function: FunctionSource, types: Sequence[ParameterType]
    ) -> ir.Program | None:
        """The array program for these types; None where they are refused."""
        try:
            return build(function, types, self.scope, self.partial, loose=self.served.names)
        except (Refusal, RecursionError):
            return None
        except Exception:
            if os.environ.get("PORTER_DEBUG"):
                raise
            return None  # an error of porter's own: the types that were asked for do without

    def text(
        self, function: FunctionSource, types: Sequence[ParameterType]
    ) -> tuple[object, ...] | None:
        """What identifies the text for these types; None where they are refused."""
        program = self.program(function, types)
        if program is None:
            return None
        try:
            planned = self.served.again(program, self.target.schedules)
            return function_text(planned, self.target).key()
        except (Refusal, RecursionError):
            return None
        except Exception:
            if os.environ.get("PORTER_DEBUG"):
                raise
            return None  # an error of porter's own: the types that were asked for do without


def _siblings(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan, text: FunctionText,
    again: _Again | None,
) -> tuple[tuple[tuple[str, str], ...], tuple[Sibling, ...]]:  # fmt: skip
    """The dtype of each array, and other dtypes of the same kind that the very same text serves."""
    names = [p.name.value for p in parameters_of(function)]
    given = {
        n: planned.buffers[n].dtype.name
        for n, t in zip(names, types, strict=True)
        if t.ndim is not None
    }
    also: list[Sibling] = []
    served = [tuple(types)]
    for group in _groups(function, types, planned):
        members = [names.index(n) for n in group]
        own = types[members[0]].dtype
        if again is None or planned.buffers[names[members[0]]].dtype.var is None:
            continue
        for other in SIBLINGS[own.kind]:
            if other == own.name:
                continue
            # beside every dtype of the other parameters: int8 and float32 give float32, but
            # int64 and float32 float64, and so do int8 and float64
            changed = [_with(t, members, other) for t in served if t[members[0]].dtype == own]
            if all(again.text(function, t) == text.key() for t in reversed(changed)):
                also.append(Sibling(changed[0], tuple(names[k] for k in members), other))
                served += changed
    return tuple(given.items()), tuple(also)


def _groups(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan
) -> tuple[tuple[str, ...], ...]:
    """The arrays that must have one dtype, the one first after which it is called."""
    groups: dict[str, list[str]] = {}
    for p, t in zip(parameters_of(function), types, strict=True):
        name = p.name.value
        if t.ndim is not None:
            groups.setdefault(planned.buffers[name].dtype.var or name, []).append(name)
    return tuple(tuple(sorted(g, key=lambda n: n != var)) for var, g in groups.items())


def _by_size(name: str) -> tuple[int, str]:
    return DType(name).itemsize, name


def _with(
    types: Sequence[ParameterType], members: Sequence[int], name: str
) -> tuple[ParameterType, ...]:
    return tuple(
        ParameterType(DType(name), t.ndim, t.given) if k in members else t
        for k, t in enumerate(types)
    )


def shapes_of(converted: Converted) -> str:
    """The parameters' shapes with equal sizes under one name: `x[n, m] w[m] eps[]`."""
    sizes = _SizeNames()
    needed = _least(converted.program)
    entries = []
    for p in converted.program.parameters:
        if p.ndim is None:
            entries.append(f"{p.name}[]")
            continue
        shape = converted.program.buffers[p.name].shape
        dims = [sizes.name(needed.get(n.dim, n)) for n in shape]
        entries.append(f"{p.name}[{', '.join(dims)}]")
    return " ".join(entries)


def _least(program: ir.Program) -> dict[Dim | None, Poly]:
    """Sizes for which only a least value is known, in terms of others: `x[n+4] y[n]`."""
    found: dict[Dim | None, Poly] = {}
    for c in program.checks:
        size, others = c.right.dim, c.left.dims()
        if c.kind != "index" or size is None or not len(others) == len(c.left.names()) == 1:
            continue
        other = min(others)
        if size == other or other in found or c.left.coefficient(other.name) != 1:
            continue
        known = found.get(size)
        if known is None or (c.left - known).is_nonneg():
            found[size] = c.left
    return found


class _SizeNames:
    """Short names for the sizes of the arguments."""

    def __init__(self) -> None:
        self.names: dict[Dim, str] = {}

    def name(self, size: object) -> str:
        """The name of a size, or an expression of names; `*` for what is more than arithmetic."""
        assert isinstance(size, Poly)
        if size.constant is not None:
            return str(size.constant)
        if not all(isinstance(a, Dim) for a in size.atoms()):
            return "*"
        for dim in sorted(size.dims()):
            if dim not in self.names:
                self.names[dim] = next(self._letters())
        values = {d.name: Poly.atom(Integer(n, True)) for d, n in self.names.items()}
        short = size.replace(values)
        return str(short).replace(" ", "")

    def _letters(self) -> Iterator[str]:
        yield from (c for c in "nmklpqrstuvwabcdefgh" if c not in self.names.values())


__all__ = ["Converted", "Diagnostic", "convert_function", "front_end", "shapes_of"]
