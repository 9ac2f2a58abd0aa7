"""Variables of a loop that take few values: finite-state machines.

An iteration of `if state == 0 and x > hi: state = 1 elif state == 1 and x < lo: state = 0` says for
each state which one follows.  Composing such maps is associative, so the states of all iterations
are a scan of them (W. D. Hillis and G. L. Steele, Data parallel algorithms, 1986).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from porter import ir
from porter.dtypes.dtype import BOOL, INT64, strengthen
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.recurrences import FIELD, MOST_STATES, packed
from porter.ir.scalars import cast, choose, constant_of, number, operate
from porter.ir.walk import always, children, rewrite, walk
from porter.sizes.polynomial import Data, Poly
from porter.transforms.loops.scans.recurrences import fold_up_to

_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COUNTED: dict[str, Callable[..., int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg,
    "mod": operator.mod, "floordiv": operator.floordiv, "minimum": min, "maximum": max,
    "abs": abs,
}  # fmt: skip
#: integers of more bits are no states
_LARGEST = 2**31


@dataclass(frozen=True)
class Machine:
    """The values that a variable takes, the number of that which it starts from, and the map of an
    iteration as `ir.StateMaps` has it.

    With a `failure` there is one state more, without a value: an element that does not exist was
    read, and no iteration leads out of it.  The failure reads such an element.
    """

    values: tuple[ir.Expr, ...]
    start: ir.Expr
    moves: ir.Expr
    failure: ir.Expr | None = None

    def running(self, axis: ir.Axis, place: dict[str, Poly], context: Context) -> ir.Expr:
        """The variable after the iteration of the axis; `place` is the loop's own index there."""
        k, moved = fold_up_to(axis, place, INT64, context)
        count = len(self.values) + (self.failure is not None)
        maps = ir.StateMaps("states", (k,), moved(self.moves), INT64, count=count)
        field = operate("mul", self.start, number(FIELD))
        from_start = maps if constant_of(field) == 0 else operate("rshift", maps, field)
        state = operate("band", from_start, number(2**FIELD - 1))
        if self.failure is None:
            return self._value(state)
        failed = operate("eq", state, number(len(self.values)))
        value = self._value(state)
        return ir.Select(failed, cast(self.failure, value.dtype), value, value.dtype)

    def _value(self, state: ir.Expr) -> ir.Expr:
        """The value of a state by its number."""
        dtype = strengthen(self.values[0].dtype)
        known = [constant_of(e) for e in self.values]
        if dtype.kind == "b" and known == [False, True]:
            return operate("eq", state, number(1))
        first = known[0]
        if (
            dtype == INT64
            and isinstance(first, int)
            and known == [first + k for k in range(len(known))]
        ):
            op = "add" if first > 0 else "sub"
            return operate(op, state, number(abs(first))) if first else state
        *others, value = (cast(e, dtype) for e in self.values)
        for k, e in reversed([*enumerate(others)]):
            value = ir.Select(operate("eq", state, number(k)), e, value, dtype)
        return value


def machine(
    step: ir.Expr, old: ir.Local, start: ir.Expr, buffers: Mapping[str, ir.Buffer]
) -> Machine | None:
    """What the steps of a variable do, if it takes few values; None if it is another one.

    `step` is the new value, of the `old` one and of what depends on the iteration only.  `start` is
    the value before the loop: a constant, or an expression that has it.  Values are constants and
    variables that do not change in the loop; conditions are tried with each of them.
    """
    dtype = old.dtype
    counted = dtype.kind == "i" and dtype.itemsize == 8
    if not (dtype.kind == "b" or counted or dtype.name in ("float32", "float64")) or dtype.var:
        return None
    if step.dtype != dtype or start.dtype != dtype or not all(_may_be_tried(step)):
        return None
    found = _states(step, old, start)
    if found is None:
        return None
    known, follow = found
    if len(known) == 1:
        return None
    keys = sorted(known, key=lambda key: _order(known[key]))
    numbers = {key: n for n, key in enumerate(keys)}
    reads = _Reads(step, buffers)
    fields = [reads.field(follow[key], numbers, n) for n, key in enumerate(keys)]
    if reads.failure is not None:
        fields.append(len(keys) << FIELD * len(keys))
    moves = _packed(fields)
    if len(fields) > MOST_STATES or not reads.checked <= {*always(moves)}:
        return None
    values = tuple(known[key] for key in keys)
    first = number(numbers.get(_key(start), 0))
    if _key(start) not in numbers:  # a truth value that is not known here
        first = choose(start, number(1), number(0))
    return Machine(values, first, moves, reads.failure)


def _states(
    step: ir.Expr, old: ir.Local, start: ir.Expr
) -> tuple[dict[str | ir.Expr, ir.Expr], dict[str | ir.Expr, ir.Expr]] | None:
    """The values that a variable may take, and what follows each of them; None if too many."""
    dtype = old.dtype
    known: dict[str | ir.Expr, ir.Expr] = {}
    follow: dict[str | ir.Expr, ir.Expr] = {}
    truth = [cast(number(x), dtype) for x in (False, True)]
    ahead = truth if dtype.kind == "b" else [start]
    while ahead:
        value = ahead.pop()
        if _key(value) in known:
            continue
        if len(known) == MOST_STATES:
            return None
        known[_key(value)] = value
        after = _tried(step, old, value)
        after = follow[_key(value)] = _decided(after) if dtype.kind == "b" else after
        if old in walk(after):
            return None
        leaves = list(_leaves(after))
        if not all(map(_is_state, leaves)):
            return None
        ahead += leaves
    return known, follow


def stored(made: ir.Def, context: Context) -> list[ir.Stmt]:
    """An array of which each element is computed, also where nothing reads it: one may fail."""
    index = tuple(symbols(made.axes))
    write = ir.Write(made.name, made.axes, index, made.body, made.origin)
    return [ir.Alloc(context.buffers[made.name], made.origin), write]


def _may_be_tried(step: ir.Expr) -> Iterator[bool]:
    """Whether parts of a step may be computed in states in which the source does not.

    A divisor may be zero there, and a subscript of data out of range.
    """
    computed = set(always(step))
    for e in walk(step):
        if isinstance(e, (ir.Draw, ir.Reduce)) or (isinstance(e, ir.Op) and e.op == "sound"):
            yield False
        elif isinstance(e, ir.Op) and e not in computed:
            divided = e.op in ("floordiv", "mod", "fmod") or (e.op == "truediv" and e.dtype.weak)
            yield not (divided and not constant_of(e.args[1]))
        elif isinstance(e, ir.Load) and e not in computed and _is_checked(e):
            yield _subscript(e) is not None


def _is_checked(e: ir.Load) -> bool:
    """Whether a kernel tests its subscript."""
    atoms = (a for p in e.index for a in p.atoms())
    return any(isinstance(a, Data) and not (a.inside or a.proved) for a in atoms)


def _subscript(e: ir.Load) -> ir.Value | None:
    """The subscript of a line, if it is not negative and depends on the loop's index alone."""
    if len(e.index) == 1:
        match e.index[0].terms:
            case (((Data(ir.Value(p) as value),), 1),) if p.is_nonneg():
                return value
    return None


def _is_state(e: ir.Expr) -> bool:
    """Whether a value is the same in all iterations."""
    if isinstance(e, ir.Cast):
        return isinstance(e.arg, (ir.Scalar, ir.Local))
    return constant_of(e) is not None or isinstance(e, (ir.Scalar, ir.Local))


def _key(e: ir.Expr) -> str | ir.Expr:
    """What tells states apart: 0.0 and -0.0 are two."""
    known = constant_of(e)
    return e if known is None else repr(known)


def _order(e: ir.Expr) -> tuple[bool, complex | float]:
    """Numbers from the smallest one on, then variables."""
    known = constant_of(e)
    return (True, 0.0) if known is None or known != known else (False, known)


# -- a step from a given state -------------------------------------------------------------


def _tried(e: ir.Expr, old: ir.Local, value: ir.Expr) -> ir.Expr:
    """An expression with a value for the old one; what is known then is computed."""
    if e == old:
        return value
    match e:
        case ir.Select(cond, then, other):
            test = _tried(cond, old, value)
            known = constant_of(test)
            if known is not None:
                return _tried(then if known else other, old, value)
            yes, no = _tried(then, old, value), _tried(other, old, value)
            if yes == no and not _may_fail(test):
                return yes
            return replace(e, cond=test, then=yes, other=no)
        case ir.Op(op, args):
            tried = [_tried(a, old, value) for a in args]
            found = _logic(e, *tried) if op in ("and", "or") else _known(e, tried)
            return replace(e, args=tuple(tried)) if found is None else found
        case ir.Cast(arg, dtype):
            return cast(_tried(arg, old, value), dtype)
    return e


def _logic(e: ir.Op, first: ir.Expr, second: ir.Expr) -> ir.Expr | None:
    """`and` and `or` with an operand that is known; the first one is computed in any case."""
    for one, other in ((first, second), (second, first)):
        known = constant_of(one)
        if known is not None:
            decided = bool(known) == (e.op == "or")
            lost = decided and one is second and _may_fail(first)
            return None if lost else cast(one if decided else other, e.dtype)
    return None


def _may_fail(e: ir.Expr) -> bool:
    """Whether computing it may show that an element does not exist."""
    return any(isinstance(x, ir.Load) and _is_checked(x) for x in walk(e))


def _known(e: ir.Op, args: Sequence[ir.Expr]) -> ir.Expr | None:
    """An operation of constants, where it is one of truth values, integers, or a comparison."""
    known = [constant_of(a) for a in args]
    if any(x is None or isinstance(x, complex) for x in known):
        return None
    if e.op == "not":
        return cast(number(not known[0]), e.dtype)
    if e.op in _COMPARED:
        return cast(number(bool(_COMPARED[e.op](*known))), e.dtype)  # type: ignore[arg-type]
    if e.dtype.kind != "i" or e.op not in _COUNTED or not all(type(x) is int for x in known):
        return None
    if e.op in ("mod", "floordiv") and known[1] == 0:
        return None
    found = _COUNTED[e.op](*known)
    return cast(number(found), e.dtype) if abs(found) < _LARGEST else None


def _decided(e: ir.Expr) -> ir.Expr:
    """A truth value as a choice of the two."""
    if isinstance(e, ir.Select):
        return replace(e, then=_decided(e.then), other=_decided(e.other))
    yes, no = (cast(number(x), e.dtype) for x in (True, False))
    return e if constant_of(e) is not None else ir.Select(e, yes, no, e.dtype)


def _leaves(e: ir.Expr) -> Iterator[ir.Expr]:
    """What a choice may be."""
    if isinstance(e, ir.Select):
        yield from (*_leaves(e.then), *_leaves(e.other))
    else:
        yield e


# -- the map of an iteration ---------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """Fields of a map by a condition."""

    cond: ir.Expr
    then: _Fields
    other: _Fields


_Fields = int | _Choice


class _Reads:
    """What a step reads, and which of it only in some states: there the element may not exist.

    The maps of other states must not read it, and those of such a state lead to the one of failure.
    """

    def __init__(self, step: ir.Expr, buffers: Mapping[str, ir.Buffer]) -> None:
        loads = {e for e in walk(step) if isinstance(e, ir.Load) and _is_checked(e)}
        #: elements that are read in any case, and tested where they are read
        self.checked = loads & {*always(step)}
        self.unsure = loads - self.checked
        self.sizes = {e: buffers[e.buffer].shape[0] for e in self.unsure}
        self.failure: ir.Expr | None = None

    def field(self, e: ir.Expr, numbers: dict[str | ir.Expr, int], state: int) -> _Fields:
        """The field of one state: where its choices lead."""
        if not isinstance(e, ir.Select):
            return numbers[_key(e)] << FIELD * state
        then, other = (self.field(x, numbers, state) for x in (e.then, e.other))
        missed = self._missed(e.cond)
        if missed is None:
            return then if then == other else _Choice(e.cond, then, other)
        found = then if then == other else _Choice(self._inside(e.cond), then, other)
        return _Choice(missed, len(numbers) << FIELD * state, found)

    def _missed(self, e: ir.Expr) -> ir.Expr | None:
        """Whether an element that is read does not exist; None if that cannot be."""
        if isinstance(e, ir.Load) and e in self.unsure:
            here, size = _subscript(e), self.sizes[e]
            assert here is not None
            end = Poly.atom(Data(ir.Value(size, INT64)))
            self.failure = self.failure or replace(e, index=(end,))
            return ir.Op("ge", (here, ir.Value(size, INT64)), BOOL)
        found = [self._missed(x) for x in children(e)]
        if isinstance(e, ir.Op) and e.op in ("and", "or") and found[1] is not None:
            first = self._inside(e.args[0])
            reached = first if e.op == "and" else operate("not", first)
            found[1] = operate("and", reached, found[1])
        if isinstance(e, ir.Select) and (found[1] or found[2]) is not None:
            then, other = (number(False) if x is None else x for x in found[1:])
            found[1:] = [choose(self._inside(e.cond), cast(then, BOOL), cast(other, BOOL))]
        some = [x for x in found if x is not None]
        return reduce(lambda a, b: operate("or", a, b), some) if some else None

    def _inside(self, e: ir.Expr) -> ir.Expr:
        """An expression whose elements are known to exist."""

        def change(x: ir.Expr) -> ir.Expr | None:
            if isinstance(x, ir.Load) and x in self.unsure:
                return replace(x, index=(Poly.atom(Data(_subscript(x), True, inside=True)),))
            return None

        return rewrite(e, change)


def _packed(fields: Iterable[_Fields]) -> ir.Expr:
    """All fields in one integer; those of states with the same condition in one choice."""
    parts: list[_Fields] = [0]
    for field in fields:
        for k, part in enumerate(parts):
            both = _together(part, field)
            if both is not None:
                parts[k] = both
                break
        else:
            parts.append(field)
    made = [_expr(part) for part in parts if part]
    return reduce(lambda a, b: ir.Op("bor", (a, b), INT64), made) if made else packed([0])


def _together(one: _Fields, two: _Fields) -> _Fields | None:
    """The fields of both, if the same conditions decide them."""
    if isinstance(one, int) and isinstance(two, int):
        return one | two
    if isinstance(one, _Choice) and isinstance(two, _Choice) and one.cond == two.cond:
        then, other = _together(one.then, two.then), _together(one.other, two.other)
        return None if then is None or other is None else _Choice(one.cond, then, other)
    return None


def _expr(fields: _Fields) -> ir.Expr:
    if isinstance(fields, int):
        return packed([fields >> FIELD * s & 2**FIELD - 1 for s in range(MOST_STATES)])
    return ir.Select(fields.cond, _expr(fields.then), _expr(fields.other), INT64)
