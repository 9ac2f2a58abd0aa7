"""What must hold for the statements of a program, at the start and after every pass.

A violation is a mistake in porter, never in the user's function, hence an exception of its
own and not a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from porter.dtypes.dtype import INT64, KINDS, DType
from porter.ir import nodes as ir
from porter.ir.effects import defs
from porter.ir.ops import COMBINES, OPS, REDUCTIONS
from porter.ir.printer import lines
from porter.ir.recurrences import (
    MOST_STATES,
    Bounded,
    Linear,
    Quotient,
    Recurrence,
    StateMaps,
    operands,
)
from porter.ir.scalars import DTypeError, types_of
from porter.ir.walk import data_of, host_level, statements, walk
from porter.sizes.polynomial import Dim, Poly
from porter.support.reserved import CONSTANTS


class IRError(Exception):
    """The statements break a rule of the IR: a mistake in porter itself."""

    def __init__(self, message: str, where: ir.Stmt | None = None) -> None:
        self.message = message
        self.where = where

    def __str__(self) -> str:
        if self.where is None:
            return self.message
        return f"{self.message}, in: {next(lines([self.where]), '').strip()}"


@dataclass(frozen=True)
class Rule:
    """What must hold for every statement of the host from some pass on; `broken` says what is
    wrong where it does not."""

    broken: str
    holds: Callable[[ir.Stmt], bool]


def check(
    body: Sequence[ir.Stmt],
    program: ir.Program,
    buffers: Mapping[str, ir.Buffer],
    rules: Sequence[Rule] = (),
    *,
    whole: bool = True,
) -> None:
    """Raise IRError, with the statement printed, where a rule of the IR is broken.

    `buffers` are the arrays known after the passes so far, `rules` what these see to.
    Without `whole` only the rules are tried: the statements were checked before.
    """
    if whole:
        checker = _Checker(program, buffers, body)
        checker.block(body, frozenset(checker.sizes), stage=False, loops=0)
    for s in host_level(body) if rules else ():
        for rule in rules:
            if not rule.holds(s):
                raise IRError(rule.broken, s)


def _alike(a: DType, b: DType) -> bool:
    """The same dtype, and generic over the same parameter; a weak one fits both."""
    return a.name == b.name and (a.weak or b.weak or a.var == b.var)


def _text(dtype: DType) -> str:
    return f"{'weak ' * dtype.weak}{dtype.name}{f' of {dtype.var}' if dtype.var else ''}"


class _Checker:
    """The names that exist in a program, and the rules."""

    def __init__(
        self,
        program: ir.Program,
        buffers: Mapping[str, ir.Buffer],
        body: Sequence[ir.Stmt],
    ) -> None:
        self.buffers = buffers
        self.arrays = {p.name for p in program.parameters if p.ndim is not None}
        self.arrays |= {name for name, buffer in buffers.items() if buffer.draws}
        self.sizes = {Dim(p.name, d).name for p in program.parameters for d in range(p.ndim or 0)}
        self.scalars = {q.name for p in program.parameters for q in p.scalars}
        self.scalars |= program.constants.keys()
        self.variables: set[str] = set()
        for s in statements(tuple(body)):
            self.variables |= defs(s).scalars
            # a store does not make its array
            self.arrays |= set() if isinstance(s, ir.Write) else defs(s).arrays
        self.sizes |= self.scalars | self.variables
        self.where: ir.Stmt | None = None

    def rule(self, holds: bool, message: str) -> None:
        """Raise IRError unless the rule holds."""
        if not holds:
            raise IRError(message, self.where)

    def alike(self, e: ir.Expr, wanted: DType, what: str) -> None:
        """Raise IRError unless the expression has the dtype that its place needs."""
        if not _alike(e.dtype, wanted):
            found = f"{_text(e.dtype)}, not {_text(wanted)}"
            raise IRError(f"{what}: `{e}` is {found}", self.where)

    # -- statements --------------------------------------------------------------------

    def block(
        self, body: Sequence[ir.Stmt], names: frozenset[str], *, stage: bool, loops: int
    ) -> None:
        """Check statements; `names` are the indices bound around them."""
        for s in body:
            self.where = s
            if stage:
                self.rule(isinstance(s, _THREAD), f"a {type(s).__name__} inside a stage")
            match s:
                case ir.For() | ir.While() | ir.If() | ir.Stage():
                    self.nested(s, names, stage, loops)
                case ir.Jump(kind=kind):
                    # `continue` in a stage ends the thread: the stage was a loop
                    ends = loops > 0 or (stage and kind == "continue")
                    self.rule(kind in ("break", "continue") and ends, f"{kind} outside a loop")
                case ir.Write():
                    self.rule(not (stage and s.axes), "a store with axes inside a stage")
                    self.write(s, names)
                case _:
                    self.plain(s, names)

    def nested(self, s: ir.Stmt, names: frozenset[str], stage: bool, loops: int) -> None:
        """Check a statement with statements inside."""
        match s:
            case ir.For(index=index, lo=lo, hi=hi, step=step):
                self.rule(step != 0, "a step of 0")
                self.poly(lo, names)
                self.poly(hi, names)
                self.block(s.body, names | {index}, stage=stage, loops=loops + 1)
            case ir.While(cond, body, _):
                self.condition(cond, names)
                self.block(body, names, stage=stage, loops=loops + 1)
            case ir.If(cond, body, orelse, _):
                self.condition(cond, names)
                self.block(body, names, stage=stage, loops=loops)
                self.block(orelse, names, stage=stage, loops=loops)
            case ir.Stage(axes, body, _):
                self.block(body, self.axes(axes, names), stage=True, loops=0)

    def write(self, s: ir.Write, names: frozenset[str]) -> None:
        """Check a store."""
        inner = self.axes(s.axes, names)
        buffer = self.element(s.buffer, s.index, inner)
        self.rule(not buffer.draws, "a store into random numbers")
        self.expr(s.body, inner)
        self.alike(s.body, buffer.dtype, "store")
        if s.mask is not None:
            self.condition(s.mask, inner)
        if s.combine is not None:
            self.rule(s.combine in COMBINES, f"the combination `{s.combine}`")
            own = [e for e in walk(s.body) if isinstance(e, ir.Load) and e.buffer == s.buffer]
            self.rule(s.combine == "once" or not own, "a combination that reads its target")

    def plain(self, s: ir.Stmt, names: frozenset[str]) -> None:
        """Check a statement without others inside that no thread runs (but Let)."""
        match s:
            case ir.Def(name, axes, dtype, body, _):
                inner = self.axes(axes, names)
                self.expr(body, inner)
                self.alike(body, dtype, "definition")
                self.known(name, len(axes), dtype)
            case ir.Alloc(buffer, _):
                for n in buffer.shape:
                    self.poly(n, names)
                self.known(buffer.name, len(buffer.shape), buffer.dtype)
            case ir.Let(value=value):
                self.expr(value, names)
            case ir.Fetch(buffer=buffer_name):
                kind = self.known(buffer_name, 0).dtype.kind
                self.rule(kind in "iu", f"`{buffer_name}` is no size")
            case ir.Bind(left, right, _):
                for one, other in zip(left, right, strict=True):
                    have = self.known(other)
                    self.known(one, len(have.shape), have.dtype)
            case ir.Host(values=values, arrays=arrays, makes=makes):
                for _, e in values:
                    self.expr(e, names)
                for name in (*(a for _, a in arrays), *makes):
                    self.known(name)
            case ir.Return(values=values):
                for v in values:
                    if isinstance(v, str):
                        self.known(v)
                    elif v is not None:
                        self.expr(v, names)

    # -- names -------------------------------------------------------------------------

    def known(self, name: str, ndim: int | None = None, dtype: DType | None = None) -> ir.Buffer:
        """The declaration of an array that exists, with this ndim and dtype if given."""
        self.rule(name in self.arrays and name in self.buffers, f"the array `{name}` is not made")
        buffer = self.buffers[name]
        self.rule(ndim in (None, len(buffer.shape)), f"`{name}` has {len(buffer.shape)} dimensions")
        self.rule(
            dtype is None or _alike(dtype, buffer.dtype), f"`{name}` is {_text(buffer.dtype)}"
        )
        return buffer

    def element(self, name: str, index: Sequence[Poly], names: frozenset[str]) -> ir.Buffer:
        """The declaration of an array, subscripted rightly."""
        for p in index:
            self.poly(p, names)
        return self.known(name, len(index))

    def axes(self, axes: Iterable[ir.Axis], names: frozenset[str]) -> frozenset[str]:
        """The bound names with those of the axes; a bound may use the axes before it."""
        for a in axes:
            self.poly(a.lo, names)
            self.poly(a.hi, names)
            names |= {a.name}
        return names

    def poly(self, poly: Poly, names: frozenset[str]) -> None:
        """Check a size, bound or subscript."""
        free = sorted(poly.names() - names - CONSTANTS)
        self.rule(not free, f"`{free[0] if free else ''}` is not bound")
        for e in data_of(poly):
            self.expr(e, names)
            self.rule(e.dtype.kind in "iu", f"{_text(e.dtype)} as a subscript")

    # -- expressions -------------------------------------------------------------------

    def condition(self, e: ir.Expr, names: frozenset[str]) -> None:
        """Check an expression that must be true or false."""
        self.expr(e, names)
        self.rule(e.dtype.kind == "b", f"the condition `{e}` is {_text(e.dtype)}")

    def expr(self, e: ir.Expr, names: frozenset[str]) -> None:
        """Check an expression and everything below it."""
        self.rule(e.dtype.name in KINDS, f"`{e.dtype.name}` is no dtype")
        match e:
            case ir.Const(value, dtype):
                self.rule(isinstance(value, _LITERAL[dtype.kind]), f"{value!r} as {_text(dtype)}")
            case ir.Value(poly, dtype):
                self.poly(poly, names)
                self.rule(dtype.kind != "b", f"the integer `{poly}` as {_text(dtype)}")
            case ir.Scalar(name=name):
                known = name in self.scalars or name in self.variables
                self.rule(known, f"the scalar `{name}` is not assigned")
            case ir.Local(name=name) | ir.Object(name=name):
                self.rule(name in self.variables, f"the variable `{name}` is not assigned")
            case ir.Load(buffer=name, index=index):
                buffer = self.element(name, index, names)
                self.alike(e, buffer.dtype, "load")
                self.rule(isinstance(e, ir.Draw) == bool(buffer.draws), f"`{e}` is no such element")
            case ir.Op():
                for a in e.args:
                    self.expr(a, names)
                self.op(e)
            case ir.Cast(arg, _):
                self.expr(arg, names)
            case ir.Select(cond, then, other, dtype):
                self.condition(cond, names)
                for choice in (then, other):
                    self.expr(choice, names)
                    self.alike(choice, dtype, "choice")
            case ir.Reduce(op, axes, _, dtype):
                self.rule(op in REDUCTIONS and bool(axes), f"the reduction `{op}`")
                kind = _FOLDS.get(op)
                others = (Recurrence, StateMaps)
                alike = isinstance(e, kind) if kind else not isinstance(e, others)
                self.rule(alike, f"the fold `{op}`")
                if isinstance(e, StateMaps):
                    self.rule(dtype == INT64 and 2 <= e.count <= MOST_STATES, f"the maps `{e}`")
                if isinstance(e, ir.Scan):
                    self.rule(len(axes) == 1 and (axes[0].hi - 1).symbol is not None, "a scan")
                inner = self.axes(axes, names)
                self.variables |= {*e.olds} if isinstance(e, Recurrence) else set()
                for name, operand in operands(e).items():
                    self.expr(operand, names if name.endswith("start") else inner)
                    self.alike(operand, dtype, op)

    def op(self, e: ir.Op) -> None:
        """Check the operands of an operation against the dtype that NumPy computes in."""
        self.rule(e.op in OPS and len(e.args) == OPS[e.op].arity, f"the operation `{e.op}`")
        args = list(e.args)
        if e.op == "pow" and isinstance(args[1], ir.Const) and args[1].dtype.weak:
            args = args[:1]  # an integer exponent stays an integer
        try:
            operand, result = types_of(e.op, args)
        except DTypeError as error:
            self.rule(False, f"{error} in `{e}`")
        for a in args:
            self.alike(a, operand, e.op)
        self.alike(e, result, e.op)


#: the nodes of folds that are none of NumPy's
_FOLDS: dict[str, type[ir.Scan]] = {
    "linear": Linear, "bounded": Bounded, "quotient": Quotient, "states": StateMaps,
}  # fmt: skip
_THREAD = (ir.Let, ir.Write, ir.For, ir.While, ir.If, ir.Jump)
_LITERAL: dict[str, type | tuple[type, ...]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": (complex, float, int),
}
