"""Small tools that several passes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from porter.diagnostics import Diagnostic
from porter.dtypes.dtype import DType
from porter.ir.nodes import (
    Axis,
    Buffer,
    Cast,
    Check,
    Const,
    Expr,
    For,
    If,
    Load,
    Local,
    Op,
    Program,
    Reduce,
    Scalar,
    Select,
    Stage,
    Stmt,
    Value,
    While,
)
from porter.ir.rebuild import map_parts
from porter.ir.walk import (
    rewrite,
    rewrite_poly,
    statements,
    substitute,
    substitute_poly,
    walk,
)
from porter.sizes.polynomial import Poly, sym
from porter.support.reserved import is_reserved, marked

__all__ = ["Context", "Poly", "Program", "rename_axes", "weight"]


@dataclass
class Context:
    """What the passes know beside the statements: buffers and the names in use."""

    program: Program
    buffers: dict[str, Buffer]
    taken: set[str] = field(default_factory=set)
    outer_exposed: set[str] = field(default_factory=set)
    allow_serial: bool = False
    notes: list[Diagnostic] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)  # variables that may have a value by now
    surely: set[str] = field(default_factory=set)  # variables that have one whatever happened
    # (written, read) arguments: what was to be read before is read behind the store
    apart: set[tuple[str, str]] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)  # 0-d arrays that `transforms/loops/flags.py` made
    used_later: frozenset[str] = frozenset()  # arrays that are used behind the statement at hand
    around: tuple[Any, ...] = ()  # the ranges of the host loops around a statement

    @staticmethod
    def of(program: Program) -> Context:
        """The context at the start."""
        taken = set(program.buffers) | {q.name for p in program.parameters for q in (p, *p.items)}
        taken |= set(program.constants)
        for s in statements(program.body):
            taken |= {a.name for a in getattr(s, "axes", ())}
            name = getattr(s, "name", None) or getattr(s, "index", None)
            if isinstance(name, str):
                taken.add(name)
            taken |= set(getattr(s, "objects", ()))
        taken |= _bound_names(program)
        return Context(program, dict(program.buffers), taken, apart=set(program.apart),
                       allow_serial=program.allow_serial)  # fmt: skip

    @property
    def checks(self) -> tuple[Check, ...]:
        """The run-time checks of the program."""
        return self.program.checks

    def user(self, name: str) -> str:
        """What the user calls a variable, an index or an array."""
        return self.program.shown.get(name, name)

    def fresh(self, name: str) -> str:
        """An unused name."""
        name = marked(name) if is_reserved(name) else name
        candidate, k = name, 2
        while candidate in self.taken:
            candidate, k = f"{name}{k}", k + 1
        self.taken.add(candidate)
        return candidate

    def buffer(self, name: str, axes: Sequence[Axis], dtype: DType) -> Buffer:
        """A new array over a domain."""
        new = Buffer(self.fresh(name), tuple(a.extent for a in axes), replace(dtype, weak=False))
        self.buffers[new.name] = new
        return new

    def fresh_axes(self, axes: Sequence[Axis]) -> tuple[tuple[Axis, ...], dict[str, Poly]]:
        """The axes under new names, and the renaming."""
        names = {a.name: sym(self.fresh(a.name), True) for a in axes}
        new = tuple(
            Axis(
                names[a.name].name or "",
                substitute_poly(a.hi, names),
                substitute_poly(a.lo, names),
            )
            for a in axes
        )
        return new, names


def _bound_names(program: Program) -> set[str]:
    """The indices that reductions bind: a new index of that name would be captured."""
    names: set[str] = set()

    def note(e: Expr) -> Expr | None:
        if isinstance(e, Reduce):
            names.update(a.name for a in e.axes)
        return None

    for s in program.body:
        map_exprs(s, note)
    return names


def rename_axes(stmt: Stmt, values: Mapping[str, Poly]) -> Stmt:
    """A statement with index symbols replaced in it."""
    return map_parts(
        stmt, lambda e: substitute(e, values), lambda p: substitute_poly(p, values), lambda d: d
    )


def map_exprs(stmt: Stmt, change: Callable[[Expr], Expr | None]) -> Stmt:
    """A statement with sub-expressions replaced, those in subscripts included."""
    return map_parts(
        stmt, lambda e: rewrite(e, change), lambda p: rewrite_poly(p, change), lambda d: d
    )


def map_blocks(stmt: Stmt, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """A statement with each of its statement lists replaced."""
    if isinstance(stmt, If):
        return replace(stmt, body=change(stmt.body), orelse=change(stmt.orelse))
    if isinstance(stmt, (For, While, Stage)):
        return replace(stmt, body=change(stmt.body))
    return stmt


_HEAVY = {"sqrt": 4, "truediv": 4, "pow": 4, "floordiv": 4, "mod": 4}
_LIGHT = {"add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "abs",
          "band", "bor", "bxor", "maximum", "minimum", "real", "imag"}  # fmt: skip


def op_weight(op: str) -> int:
    """What one operation costs, in additions."""
    return 1 if op in _LIGHT else _HEAVY.get(op, 12)


def weight(expr: Expr) -> int:
    """What recomputing an expression costs, in additions; loads count two."""
    total = 0
    for e in walk(expr):
        match e:
            case Load():
                total += 2
            case Op(op=op):
                total += op_weight(op)
            case Select() | Cast():
                total += 1
            case Reduce():
                total += 10_000
    return total


def is_trivial(expr: Expr) -> bool:
    """Whether an expression reads no array: a constant, an index, a scalar."""
    return all(isinstance(e, (Const, Value, Scalar, Cast, Op, Select)) for e in walk(expr)) and (
        weight(expr) <= 8
    )


def locals_of(expr: Expr) -> set[str]:
    """The variables an expression reads."""
    return {e.name for e in walk(expr) if isinstance(e, Local)}


def same_extents(a: Sequence[Axis], b: Sequence[Axis]) -> bool:
    """Whether two domains have the same sizes."""
    return len(a) == len(b) and all(x.extent == y.extent for x, y in zip(a, b, strict=True))


def symbols(axes: Iterable[Axis]) -> tuple[Poly, ...]:
    """The axes' indices as polynomials."""
    return tuple(sym(a.name, True) for a in axes)


def loop_axis(loop: For) -> tuple[Axis, dict[str, Poly]]:
    """A parallel loop as a domain axis counting from its start, and what its index becomes."""
    if loop.step == 1:
        return Axis(loop.index, loop.hi, loop.lo), {}
    k = sym(loop.index, True)
    span = loop.hi - loop.lo if loop.step > 0 else loop.lo - loop.hi
    size = abs(loop.step)
    count = span if size == 1 else (span + (size - 1)) // size
    return Axis(loop.index, count), {loop.index: loop.lo + k * loop.step}
