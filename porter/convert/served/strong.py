"""Numbers of Python that become NumPy's before they meet an array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from typing import Any

from porter import ir
from porter.ir.effects import expressions
from porter.ir.ops import OPS
from porter.ir.walk import children, statements, walk

#: what Python's `math` gives floats and integers of its own of
_OF_MATH = ("float", "real_float", "whole", "test")


def strong_of(program: ir.Program | None) -> tuple[tuple[str, ...], ...]:
    """The numbers of which NumPy's functions make a number of their own: those of each, once.

    `np.cos(a) * x` is float64 for an `a` of Python's and a float32 array; `a * x` is float32.
    """
    if program is None:
        return ()
    found = sources_of(program, set())
    groups: dict[tuple[str, ...], None] = {}
    for s in statements(program.body):
        for x in (x for e in expressions(s) for x in walk(e)):
            parts = _numbers_in(x)
            if parts:
                names = {n for p in parts for n in found(p)}
                groups[tuple(p.name for p in program.parameters if p.name in names)] = None
    return tuple(g for g in groups if g and not any({*o} < {*g} for o in groups if o))


def _numbers_in(e: ir.Expr) -> list[ir.Expr]:
    """The numbers of Python's that a function of NumPy's takes, if it takes nothing else."""
    if e.dtype.weak or e.dtype.kind == "b" or isinstance(e, ir.Cast):
        return []
    # what they are cast to is the dtype of the result
    parts = [c.arg if isinstance(c, ir.Cast) else c for c in children(e)]
    parts = [c for c in parts if c.dtype.kind != "b" and not isinstance(c, ir.Const)]
    return parts if all(c.dtype.weak for c in parts) else []


def sources_of(program: ir.Program, always: Set[str]) -> Callable[[Any], tuple[str, ...]]:
    """The arguments that a result is made of, those that `always` count included."""
    lets = [s for s in statements(program.body) if isinstance(s, ir.Let)]
    once = {n for n, k in Counter(s.name for s in lets).items() if k == 1}
    loose = [q.name for p in program.parameters for q in p.scalars if not p.fixed]
    made: dict[str, set[str]] = {}  # what the named values are made of, each looked at once

    def of(e: ir.Expr) -> Iterator[str]:
        for x in walk(e):
            match x:
                case ir.Scalar(name=name) | ir.Local(name=name) if name in made:
                    yield from made[name]
                case ir.Scalar(name=name):
                    yield name
                case ir.Value(poly=poly):
                    yield from poly.names()
                case ir.Local() | ir.Load() | ir.Reduce():
                    yield from loose

    for s in program.body:
        if isinstance(s, ir.Let) and s.name in once:
            made[s.name] = set(of(s.value))

    def found(e: ir.Expr) -> tuple[str, ...]:
        names = {*always, *of(e)}
        return tuple(n for n in loose if n in names)

    return found


def made_of_numbers(
    program: ir.Program, *kinds: type[ir.Load | ir.Local]
) -> tuple[tuple[str, ...], ...]:
    """For each result of these kinds that is Python's number, the numbers that make it NumPy's."""
    known: dict[str, list[ir.Expr]] = {}
    for s in statements(program.body):
        match s:
            case ir.Let(name, value, _) | ir.Def(name=name, body=value):
                known.setdefault(name, []).append(value)
            case ir.Write(buffer=name, body=value):
                known.setdefault(name, []).append(value)
    loose = [q.name for p in program.parameters for q in p.scalars if not (p.fixed or p.pythons)]

    def sources(result: ir.Expr) -> tuple[str, ...]:
        found, seen = set[str](), set[str]()
        todo = [result]
        while todo:
            parts, names = _typed_by(todo.pop())
            found |= parts
            for name in names - seen:
                todo += known.get(name, ())
            seen |= names
        return tuple(n for n in loose if n in found)

    each = {
        tuple(sources(v) if isinstance(v, kinds) and v.dtype.weak else () for v in r.values)
        for r in statements(program.body)
        if isinstance(r, ir.Return)
    }
    (only,) = each if len(each) == 1 else [()]
    return only if any(only) else ()


def _typed_by(e: ir.Expr) -> tuple[set[str], set[str]]:
    """The numbers that say whose number an expression is, and the variables that do."""
    parts: tuple[ir.Expr, ...] = ()
    match e:
        case ir.Scalar(name=name):
            return {name}, set()
        case ir.Value(poly=poly):
            return poly.names(), set()
        case ir.Local(name=name) | ir.Load(buffer=name):
            return set(), {name}
        case ir.Op(op=op) if OPS[op].rule in _OF_MATH:
            return set(), set()
        case ir.Cast(arg=arg) if e.dtype.kind in "iu" and arg.dtype.kind == "f":
            return set(), set()  # `int(v)`
        case ir.Select(_, then, other):
            parts = (then, other)
        case ir.Cast(arg=arg) | ir.Reduce(body=arg):
            parts = (arg,)
        case ir.Op(args=args):
            parts = args
    each = [_typed_by(p) for p in parts]
    return set().union(*(n for n, _ in each)), set().union(*(v for _, v in each))
