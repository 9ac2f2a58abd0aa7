"""Integers for floats where that is right for some numbers, or in loops that run.

`np.ones_like(x)` is of integers if `x` is, and what a loop makes of it is of floats; so is what one
branch of several makes.  No program has a variable of both.  One that goes one way through the
branches, with the first turn of each loop before it, needs none: on each such way the program for
integers is compared with that for float64.  The host converts where the numbers lead to one for
which they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.host.text import HostText
from porter.codegen.kernel.state import Needs
from porter.convert.served.promotion import Question
from porter.dtypes.conversions import Conversions, shared
from porter.dtypes.dtype import WEAK_BOOL

#: with more ways through a function, they are not looked at
MOST_WAYS = 8
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def along_ways(
    question: Question, found: Conversions, asked: Callable[[Question], Conversions]
) -> Conversions:
    """The conversions, and what they are for some numbers only where nothing is converted at all;
    `asked` tells those of one way."""
    types = dict(zip(question.names, question.types, strict=True))
    floats = [n for n, t in types.items() if t.ndim is not None and t.dtype.name == "float64"]
    if found or not floats or question.given(dict.fromkeys(floats, "int64")) is not None:
        return found
    ways = _ways(question)
    each = [(way, asked(way)) for way in ways]
    names = max((set(c.names) for _, c in each), key=len, default=set[str]())
    good = [(way, c) for way, c in each if names and names <= set(c.names)]
    if not good:
        return found
    always = shared([(replace(c, mixed=()), names) for _, c in good])
    bad = [way.program.way for way, c in each if not names <= set(c.names)]
    tests = [_not(taken) for taken in dict.fromkeys(bad)]
    tests += dict.fromkeys(e for way, _ in good for e in way.program.runs)
    if set(always.names) != names or () in bad:
        return found
    return replace(always, where=_text(tests))


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
    return " and ".join(dict.fromkeys(spelled.text(t, outer) for t in tests))
