"""Integers as floats, where that is the same to the last bit: a program for those of arrays in
float64, and how large Python's may be in float32."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite, prod

from porter import ir
from porter.dtypes.conversions import LARGEST
from porter.dtypes.dtype import FLOAT64, INT64, DType, limits
from porter.inference.types import ParameterType
from porter.ir.effects import expressions
from porter.ir.rebuild import map_parts
from porter.ir.walk import children, rewrite, statements, walk
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
#: the integers that float32 holds, all of them; larger ones than it has at all are not tried
_SINGLE, _BITS = 2**24, 126
#: what shows the digits that its operands lost
_LOSING = {"add", "sub", "floordiv", "mod", "fmod", "lt", "le", "gt", "ge", "eq", "ne"}
Types = Sequence[ParameterType]


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


# -- Python's integers in float32 ----------------------------------------------------------------


def exact_of(
    made: Callable[[Types], ir.Program | None], types: Types, numbers: Sequence[int]
) -> dict[tuple[str, ...], int]:
    """Groups of arguments, and the largest integers of which float32 makes what Python makes.

    What is only multiplied may be any: its last digit differs at most.  A difference of two large
    numbers shows the digits that they lost.
    """
    program = made(types)
    values = None if program is None else values_of(program)
    if program is None or values is None:
        return {}
    order = [program.parameters[k].name for k in numbers]
    operands: dict[tuple[str, ...], list[ir.Expr]] = {}
    for x in each_expression(program):
        if isinstance(x, ir.Op) and x.op in _LOSING and not _is_near_small(x, values):
            names = arguments_of(x, values)
            if names and names <= {*order}:
                operands.setdefault(tuple(n for n in order if n in names), []).extend(x.args)
    found = {}
    for group, args in operands.items():
        bits = [k for k in range(_BITS) if all(_size(a, 2**k, values) <= _SINGLE for a in args)]
        if len(bits) < _BITS:
            found[group] = 2 ** max(bits) if bits else 0
    return found


def _is_near_small(e: ir.Op, values: Mapping[str, ir.Expr]) -> bool:
    """Whether a product meets a small constant: near that it is small, too, and lost no digit."""
    constants = [a for a in e.args if isinstance(a, ir.Const) and abs(a.value) <= _SINGLE // 2]
    others = [a for a in e.args if not isinstance(a, ir.Const)]
    parts = [x for a in others for x in _parts(a, values) if isinstance(x, ir.Op)]
    return (
        e.op not in ("floordiv", "mod", "fmod")
        and len(constants) == len(others) == 1
        and all(x.op in ("mul", "neg", "pos", "abs") for x in parts)
    )


def _parts(e: ir.Expr, values: Mapping[str, ir.Expr]) -> Iterator[ir.Expr]:
    """All that an expression is made of, by way of names."""
    for x in walk(e):
        yield x
        if isinstance(x, (ir.Load, ir.Local)):
            name = x.buffer if isinstance(x, ir.Load) else x.name
            yield from _parts(values[name], values) if name in values else ()


def _size(e: ir.Expr, most: int, values: Mapping[str, ir.Expr]) -> int:
    """How large an expression is at most, if its numbers are at most so large."""
    if e.dtype.kind == "b":
        return 1
    match e:
        case ir.Load(buffer=name) | ir.Local(name=name):
            return _size(values[name], most, values) if name in values else most
        case ir.Const(value=value):
            return ceil(abs(value)) if isfinite(abs(value)) else 0
        case ir.Cast(arg=arg):
            return _size(arg, most, values)
        case ir.Select(_, then, other):
            return max(_size(then, most, values), _size(other, most, values))
        case ir.Op("pow", (base, ir.Const(value=int() | float() as power))) if 0 < power < _BITS:
            return int(_size(base, most, values) ** ceil(power))
        case ir.Op("pow" | "lshift"):
            return _SINGLE + 1
        case ir.Op(op=op, args=args):
            sizes = [_size(a, most, values) for a in args]
            known = {"add": sum(sizes), "sub": sum(sizes), "mul": prod(sizes)}
            return known.get(op, max(sizes))
    return most


def values_of(program: ir.Program) -> dict[str, ir.Expr] | None:
    """What each name stands for; None where a variable has several values."""
    values: dict[str, ir.Expr] = {}
    for s in statements(program.body):
        if isinstance(s, (ir.Let, ir.Def)):
            if s.name in values:
                return None
            values[s.name] = s.value if isinstance(s, ir.Let) else s.body
    return values


def each_expression(program: ir.Program) -> Iterator[ir.Expr]:
    """The expressions of a program, and those that they are made of."""
    return (x for s in statements(program.body) for e in expressions(s) for x in walk(e))


def arguments_of(e: ir.Expr, values: Mapping[str, ir.Expr]) -> set[str]:
    """The arrays that an element is computed of; not those that choose between others."""
    match e:
        case ir.Load(buffer=name) | ir.Local(name=name):
            return arguments_of(values[name], values) if name in values else {name}
        case ir.Select(_, then, other):
            return arguments_of(then, values) | arguments_of(other, values)
    return set().union(*(arguments_of(c, values) for c in children(e)))
