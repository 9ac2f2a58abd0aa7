"""Integers for floats where that is right for some numbers, or in loops that run.

`np.ones_like(x)` is of integers if `x` is, and what a loop makes of it is of floats; so is what one
branch of several makes.  No program has a variable of both.  One that goes one way through the
branches, with the first turn of each loop before it, needs none: on each such way the program for
integers is compared with that for float64.  The host converts where the numbers lead to one for
which they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.host.text import HostText
from porter.codegen.kernel.state import Needs
from porter.convert.served.promotion import MOST_MIXED, Question
from porter.dtypes.conversions import Conversions, shared
from porter.dtypes.dtype import WEAK_BOOL
from porter.ir.walk import rewrite

#: with more ways through a function, they are not looked at
MOST_WAYS = 8
_Way = tuple[tuple[ir.Expr, bool], ...]
_Each = Sequence[tuple[Question, Conversions]]
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def along_ways(
    question: Question, found: Conversions, asked: Callable[[Question], Conversions],
    groups: Sequence[Sequence[str]],
) -> Conversions:  # fmt: skip
    """The conversions, and those for some numbers only where there is no program for all of them;
    `asked` tells those of one way, `groups` are the arrays that must have one dtype."""
    types = dict(zip(question.names, question.types, strict=True))
    floats = [n for n, t in types.items() if t.ndim is not None and t.dtype.name == "float64"]
    meet = [tuple(g) for g in groups if len(g) > 1 and {*g} <= {*floats}]
    integers = bool(floats) and not found and question.given(dict.fromkeys(floats, "int64")) is None
    single = [g for g in meet if g not in found.mixed and _may_mix(question, g)]
    if not (integers or single):
        return found
    each = [(way, asked(way)) for way in _ways(question)]
    if integers:
        found = _of_integers(each, found)
    for g in single:
        where = _where(each, [g in c.mixed for _, c in each])
        if where is not None and found.met in ("", where):
            again = dict.fromkeys(n for _, c in each for n in c.rounded if {*n} <= {*g})
            rounded = (*found.rounded, *again)
            found = replace(found, mixed=(*found.mixed, g), met=where, rounded=rounded)
    return found


def _may_mix(question: Question, group: Sequence[str]) -> bool:
    """Whether there is no program for a mixture of float32 and float64, or one with branches."""
    if len(group) > MOST_MIXED:
        return False
    mixtures = ({n: "float32" for n in group if n != wide} for wide in group)
    way = question.on(())
    return bool(way and way.program.way) or any(question.given(m) is None for m in mixtures)


def _of_integers(each: _Each, found: Conversions) -> Conversions:
    """The conversions of integers on ways that have them for the same arrays."""
    names = max((set(c.names) for _, c in each), key=len, default=set[str]())
    good = [bool(names) and names <= set(c.names) for _, c in each]
    always = shared([(c, names) for (_, c), known in zip(each, good, strict=True) if known])
    where = _where(each, good) if set(always.names) == names else None
    apart = _apart(way.program.way for (way, _), known in zip(each, good, strict=True) if not known)
    return found if where is None else replace(always, mixed=(), where=where, apart=tuple(apart))


def _apart(bad: Iterable[_Way]) -> Iterator[tuple[str, int]]:
    """The numbers, and what they are equal to on some ways."""
    for cond in (c for way in bad for c, goes in way if goes):
        match cond:
            case ir.Op("eq", (ir.Value(poly=poly), ir.Value(poly=known))) if (
                poly.symbol is not None and known.constant is not None
            ):
                yield poly.symbol.name, known.constant
            case ir.Op("eq", (ir.Value(poly=poly), ir.Const(value=int() as value))) if poly.symbol:
                yield poly.symbol.name, value


def _where(each: _Each, good: Sequence[bool]) -> str | None:
    """For which numbers a way is good and its loops run; None if there are none to tell."""
    bad = [way.program.way for (way, _), known in zip(each, good, strict=True) if not known]
    if not any(good) or () in bad:
        return None
    tests = [_not(taken) for taken in dict.fromkeys(bad)]
    runs = [way.program.runs for (way, _), known in zip(each, good, strict=True) if known]
    return _text([*tests, *dict.fromkeys(e for tests in runs for e in tests)])


def _ways(question: Question) -> list[Question]:
    """The question for each way; none where there is no program for some, or too many."""
    found: list[Question] = []
    todo: list[tuple[bool, ...]] = [()]
    while todo:
        turns = todo.pop()
        way = question.on(turns)
        if way is None or len(found) + len(todo) >= MOST_WAYS:
            return []
        taken = tuple(goes for _, goes in way.program.way)
        todo += [(*taken[:k], False) for k in range(len(turns), len(taken))]
        found.append(way)
    return found


def _not(taken: Sequence[tuple[ir.Expr, bool]]) -> ir.Expr:
    """That numbers do not lead one way: of a number that equals one, it is clear what it is not."""
    equal = [c for c, goes in taken if goes and isinstance(c, ir.Op) and c.op == "eq"]
    known = [c.args[0] for c in equal]
    left = [
        (c, goes) for c, goes in taken
        if goes or not (isinstance(c, ir.Op) and c.op == "eq" and c.args[0] in known)
    ]  # fmt: skip
    parts = [_opposite(c) if goes else c for c, goes in left]
    test = parts[0]
    for part in parts[1:]:
        test = ir.Op("or", (test, part), WEAK_BOOL)
    return test


def _opposite(cond: ir.Expr) -> ir.Expr:
    match cond:
        case ir.Op(op, args) if op in _OPPOSITE and all(a.dtype.kind in "biu" for a in args):
            return ir.Op(_OPPOSITE[op], args, WEAK_BOOL)
        case ir.Op("not", (arg,)):
            return arg
    return ir.Op("not", (cond,), WEAK_BOOL)


def _text(tests: Sequence[ir.Expr]) -> str:
    """All of some tests, as the host has them."""
    spelled = HostText(Needs(imports=set()), str, {})
    outer = 5 if len(tests) > 1 else 0
    return " and ".join(dict.fromkeys(spelled.text(rewrite(t, _bare), outer) for t in tests))


def _bare(e: ir.Expr) -> ir.Expr | None:
    """A bool without the cast that makes it NumPy's."""
    match e:
        case ir.Cast(arg=arg) if e.dtype.kind == arg.dtype.kind == "b":
            return rewrite(arg, _bare)
    return None
