"""A program for integers as one for float64, where that is the same to the last bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.dtypes.conversions import LARGEST
from porter.dtypes.dtype import FLOAT64, INT64, DType, limits
from porter.ir.rebuild import map_parts
from porter.ir.walk import rewrite, statements, walk
from porter.sizes.polynomial import Poly

#: so many numbers are added up at most: an array of more has no place on a device
MOST_SUMMED = 2**31
_COMPARE = {"lt", "le", "gt", "ge", "eq", "ne"}
#: what is the same for 0.0 and -0.0
_UNSIGNED = {*_COMPARE, "abs", "isnan", "isinf", "isfinite", "exp", "exp2", "cos", "cosh"}
#: what makes no integer negative that is not
_RISING = {"add", "mul", "pow", "pos", "abs", "sign", "maximum", "minimum"}
#: what differs in the sign of a zero at most where its operands do
_SIGNED = {"add", "sub", "mul", "neg", "pos", "sqrt"}


class Uneven(Exception):
    """Some integers are used as such; `names` are the arrays that they come from."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = frozenset(names)


@dataclass(frozen=True)
class Number:
    """An integer expression in float64: with elements up to n, it is up to `factor * n**power`.

    `plain` if it is an element as it is, or a number; `zero` if it may be the zero that only
    floats have, -0.0; `positive` if it is a number above zero; `summed` if NumPy computes it in
    64 bits, however narrow the elements are.
    """

    expr: ir.Expr
    factor: int
    power: int
    plain: bool = False
    zero: bool = False
    summed: bool = False
    positive: bool = False


class Exact:
    """Puts float64 in place of the integers that come from some arrays.

    With `literals` also of those of which an array is made that is like one of them.
    `needs` are the bounds (factor, power, summed) within which that is exact: none, where each
    element is converted before anything is computed of it.
    """

    def __init__(self, names: Collection[str], *, literals: bool = False) -> None:
        self.names, self.literals = frozenset(names), literals
        self.stored: dict[str, Number] = {}
        self.locals: dict[str, Number] = {}
        self.assigned: Counter[str] = Counter()
        self.needs: set[tuple[int, int, bool]] = set()

    def statements(self, body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        """The statements; raises `Uneven` where integers are left."""
        self.assigned = Counter(s.name for s in statements(tuple(body)) if isinstance(s, ir.Let))
        made = tuple(map(self._statement, body))
        known = self.names | self.stored.keys()
        left = {
            x.buffer
            for s in made
            for e in _all_expressions(s)
            for x in walk(e)
            if isinstance(x, ir.Load) and x.buffer in known and x.dtype.kind != "f"
        }
        if left:
            raise Uneven(left & self.names)
        return made

    def _statement(self, s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Def) and s.dtype.kind in "biu":
            number = self._number(s.body)
            own = self.literals and s.dtype.var in self.names
            if number is not None and (own or not isinstance(number.expr, ir.Const)):
                self.stored[s.name] = number
                return replace(s, dtype=FLOAT64, body=number.expr)
        if isinstance(s, ir.Let) and s.value.dtype.kind in "iu" and self.assigned[s.name] == 1:
            number = self._number(s.value)
            if number is not None and number.power:
                self.locals[s.name] = number
                return replace(s, value=number.expr)
        if isinstance(s, ir.Write) and s.buffer in self.names:
            s = replace(s, body=self._stored(s.body))
        return map_parts(s, self._expression, lambda p: p, lambda d: d)

    def _stored(self, e: ir.Expr) -> ir.Expr:
        """What is stored into an array of integers, which the host casts to them."""
        if isinstance(e, ir.Cast) and e.arg.dtype.kind == "f":
            if isinstance(e.arg, ir.Const):
                return replace(e.arg, dtype=FLOAT64)
            return ir.Cast(e.arg, FLOAT64) if e.arg.dtype.weak else e.arg
        if isinstance(e, ir.Const) and e.dtype.kind in "iu":
            least, most = limits(e.dtype)
            if not least <= e.value.real <= most:
                return e  # NumPy raises
        number = self._number(e)
        return e if number is None else number.expr

    def _expression(self, e: ir.Expr) -> ir.Expr:
        return rewrite(e, self._change)

    def _change(self, e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Cast(arg, dtype) if dtype.name == "float64" and arg.dtype.kind in "biu":
                number = self._number(arg)
                if number is None or number.zero:
                    return None
                return ir.Cast(number.expr, dtype) if dtype.weak else number.expr
            case ir.Cast(arg, dtype) if dtype.name == "complex128" and arg.dtype.kind in "biu":
                number = self._number(arg)
                if number is None or number.zero:
                    return None
                return ir.Cast(number.expr, dtype)
            case ir.Op(op, (a, b), dtype) if op in _COMPARE and a.dtype.kind in "biu":
                left, right = self._number(a), self._number(b)
                if left is None or right is None:
                    return None
                one = isinstance(left.expr, ir.Const) or isinstance(right.expr, ir.Const)
                if not (one and left.plain and right.plain):
                    self._need(left, INT64)
                    self._need(right, INT64)
                return ir.Op(op, (left.expr, right.expr), dtype)
            case ir.Op("isnan" | "isinf" | "isfinite" | "signbit" as op, (a,), dtype) if (
                a.dtype.kind in "biu"
            ):
                number = self._number(a)
                if number is None or (number.zero and op == "signbit"):
                    return None
                return ir.Op(op, (number.expr,), dtype)
            case ir.Op(op, args, dtype) if op in _UNSIGNED and args[0].dtype.kind == "f":
                return ir.Op(op, tuple(map(self._any_zero, args)), dtype)
            case ir.Op("add" | "sub", args, dtype) if dtype.kind == "f" and any(
                isinstance(a, ir.Const) and a.value for a in args
            ):
                return ir.Op(e.op, tuple(map(self._any_zero, args)), dtype)
        return None

    def _any_zero(self, e: ir.Expr) -> ir.Expr:
        """An expression of floats in float64, but for the sign of a zero."""
        match e:
            case ir.Cast(arg, dtype) if dtype.name == "float64" and arg.dtype.kind in "biu":
                number = self._number(arg)
                if number is not None:
                    return ir.Cast(number.expr, dtype) if dtype.weak else number.expr
            case ir.Op(op, args, dtype) if op in _SIGNED and dtype.kind == "f":
                return ir.Op(op, tuple(map(self._any_zero, args)), dtype)
            case ir.Op("truediv", (a, b), dtype) if dtype.kind == "f":
                return ir.Op("truediv", (self._any_zero(a), self._expression(b)), dtype)
        return self._expression(e)

    def _need(self, number: Number, dtype: DType) -> None:
        if number.power:
            self.needs.add((number.factor, number.power, number.summed))
        elif number.factor > min(LARGEST, limits(dtype)[1]):
            raise Uneven(self.names)

    def _number(self, e: ir.Expr) -> Number | None:
        """An integer expression in float64, or None if it may not be the same there."""
        match e:
            case ir.Load(buffer=name) if name in self.names:
                return Number(replace(e, dtype=FLOAT64), 1, 1, True)
            case ir.Load(buffer=name) if name in self.stored:
                return replace(self.stored[name], expr=replace(e, dtype=FLOAT64))
            case ir.Local(name=name) if name in self.locals:
                return replace(self.locals[name], expr=replace(e, dtype=FLOAT64))
            case ir.Const(value=int() as v) if not isinstance(v, bool) and _fits(v, e.dtype):
                if v < 0 and not e.dtype.weak:
                    self.needs.add((1, 1, False))  # unsigned ones wrap around
                return Number(ir.Const(float(v), FLOAT64), abs(v), 0, True, positive=v > 0)
            case ir.Cast(arg, dtype) if dtype.kind in "iu" and arg.dtype.kind in "biu":
                wider = dtype.itemsize > arg.dtype.itemsize or dtype.kind == arg.dtype.kind
                wider = wider and dtype.itemsize >= arg.dtype.itemsize
                signs = dtype.kind == "i" or arg.dtype.kind != "i"
                return self._number(arg) if arg.dtype.kind == "b" or (wider and signs) else None
            case ir.Select(cond, then, other):
                a, b = self._number(then), self._number(other)
                if a is None or b is None:
                    return None
                expr = ir.Select(self._expression(cond), a.expr, b.expr, FLOAT64)
                return _either(expr, a, b)
            case ir.Reduce():
                return self._reduced(e)
            case ir.Op(op, args) if e.dtype.kind == "i" or (e.dtype.kind == "u" and op in _RISING):
                numbers = [n for n in map(self._number, args) if n is not None]
                found = _operated(e, numbers) if len(numbers) == len(args) else None
                if found is not None and (found.factor > LARGEST or found.power > 53):
                    return None  # of 2 already it is not exact, and both grow and grow
                if found is not None:
                    self._need(found, e.dtype)
                return found
        return None

    def _reduced(self, e: ir.Reduce) -> Number | None:
        body = self._number(e.body) if type(e) is ir.Reduce else None
        if body is None or e.op not in ("max", "min", "sum"):
            return None
        if e.op == "sum" and e.dtype.name != "int64":
            return None
        factor = body.factor * (MOST_SUMMED if e.op == "sum" else 1)
        zero = body.zero and e.op != "sum"
        summed = body.summed or e.op == "sum"
        expr = replace(e, body=body.expr, dtype=FLOAT64)
        found = Number(expr, factor, body.power, False, zero, summed)
        self._need(found, e.dtype)
        return found


def _fits(value: int, dtype: DType) -> bool:
    """Whether an integer is one of its dtype, and the same in float64."""
    least, most = limits(INT64 if dtype.kind == "b" else dtype)
    return least <= value <= most and abs(value) <= LARGEST


def _either(expr: ir.Expr, a: Number, b: Number) -> Number:
    return Number(
        expr, max(a.factor, b.factor), max(a.power, b.power),
        a.plain and b.plain, a.zero or b.zero, a.summed and b.summed,
    )  # fmt: skip


def _operated(e: ir.Op, numbers: Sequence[Number]) -> Number | None:
    """An operation on integers in float64."""
    expr = ir.Op(e.op, tuple(n.expr for n in numbers), FLOAT64)
    a, b = numbers[0], numbers[-1]
    found = replace(a, expr=expr, plain=False, positive=False, power=max(a.power, b.power))
    # a number has no dtype of its own
    kept = [n.summed for n in numbers if n.power]
    found = replace(found, summed=any(kept))
    match e.op, len(numbers):
        case "neg", 1:
            return replace(found, zero=True)
        case "abs", 1:
            return replace(found, zero=False)
        case "pos", 1:
            return found
        case "sign", 1:
            return replace(found, factor=1, power=0)
        case "add", 2:
            return replace(found, factor=a.factor + b.factor, zero=a.zero and b.zero)
        case "sub", 2:
            return replace(found, factor=a.factor + b.factor)
        case "mul", 2:
            # zero by a negative number is -0.0; a square is not
            zero = a.zero or b.zero or not (a.expr == b.expr or a.positive or b.positive)
            power = a.power + b.power
            return replace(found, factor=a.factor * b.factor, power=power, zero=zero)
        case (("maximum" | "minimum"), 2):
            return replace(_either(expr, a, b), plain=False, summed=any(kept))
        case "pow", 2 if isinstance(b.expr, ir.Const) and b.positive and not a.zero:
            # the exponent stays an integer for floats too
            same = replace(expr, args=(a.expr, e.args[1]))
            k = b.factor
            power = a.power * k
            return replace(found, expr=same, factor=a.factor**k, power=power) if k <= 8 else None
    return None


def _all_expressions(stmt: ir.Stmt) -> list[ir.Expr]:
    """All expressions of a statement and of those in it, subscripts included."""
    found: list[ir.Expr] = []

    def keep(e: ir.Expr) -> ir.Expr:
        found.append(e)
        return e

    def size(p: Poly) -> Poly:
        keep(ir.Value(p, INT64))
        return p

    map_parts(stmt, keep, size, lambda d: d)
    return found
