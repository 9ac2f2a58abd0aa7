"""Which host names may mean the same array while a kernel runs.

`u, v = v, u` never makes two names meet; `u = new` does, until `new` is allocated again.
The names' moves are run through, loops until their state repeats.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.context import Context, map_blocks, map_exprs
from porter.ir.walk import blocks, statements

Pairs = set[frozenset[str]]
MAX_ROUNDS = 24


class _Names:
    def __init__(self) -> None:
        self.meaning: dict[str, int] = {}
        self.pairs: Pairs = set()
        self.next = 0

    def of(self, name: str) -> int:
        if name not in self.meaning:
            self.allocate(name)
        return self.meaning[name]

    def allocate(self, name: str) -> None:
        self.next += 1
        self.meaning[name] = self.next

    def bind(self, s: ir.Bind) -> None:
        values = [self.of(b) for b in s.buffers]
        self.meaning.update(zip(s.names, values, strict=True))

    def record(self) -> None:
        if len(set(self.meaning.values())) == len(self.meaning):
            return
        meant: dict[int, list[str]] = {}
        for name, number in self.meaning.items():
            meant.setdefault(number, []).append(name)
        for names in meant.values():
            self.pairs |= {frozenset(pair) for pair in combinations(names, 2)}

    def state(self) -> tuple[tuple[str, int], ...]:
        first: dict[int, int] = {}
        return tuple(
            (n, first.setdefault(self.meaning[n], len(first))) for n in sorted(self.meaning)
        )


def aliases(body: tuple[ir.Stmt, ...], branches: bool = True) -> Pairs:
    """Pairs of names that may mean one array at some launch.

    With `branches`, all that one branch binds counts as one array, whichever way it goes.
    """
    names = _Names()
    _run(body, names)
    for s in statements(body):
        if branches and isinstance(s, ir.If):
            bound = [
                b
                for x in statements((s,))
                if isinstance(x, ir.Bind)
                for b in (*x.names, *x.buffers)
            ]
            names.pairs |= {frozenset((a, b)) for a in bound for b in bound if a != b}
    return names.pairs


def _run(body: tuple[ir.Stmt, ...], names: _Names) -> None:
    for s in body:
        match s:
            case ir.Alloc(buffer=buffer):
                names.allocate(buffer.name)
            case ir.Def(name=name):
                names.allocate(name)
            case ir.Host(makes=makes):
                for name in makes:
                    names.allocate(name)
            case ir.Bind():
                names.bind(s)
            case ir.Write(buffer=name):
                names.of(name)
                names.record()
            case ir.Stage():
                for x in statements(s.body):
                    if isinstance(x, ir.Write):
                        names.of(x.buffer)
                names.record()
            case ir.For() | ir.While():
                seen = set()
                for _ in range(MAX_ROUNDS):
                    _run(s.body, names)
                    if names.state() in seen:
                        break
                    seen.add(names.state())
            case ir.If():
                for block in blocks(s):
                    _run(block, names)


def arguments(context: Context) -> Pairs:
    """Pairs of arguments that may be one array: those of a kind with as many dimensions."""
    given = [b for b in context.buffers.values() if b.parameter]
    return {frozenset((a.name, b.name)) for a, b in combinations(given, 2) if a.is_like(b)}


def with_others(names: set[str], pairs: Pairs) -> set[str]:
    """The names, and those that may mean the same arrays."""
    return names.union(*(p for p in pairs if p & names))


def under_one_name(loop: ir.For, program: tuple[ir.Stmt, ...]) -> ir.For:
    """The loop with one name for the arrays that may be the same in it, for dependence tests."""
    touched = {a.buffer for a in accesses((loop,))}
    names: dict[str, str] = {}
    for pair in aliases(program, branches=False):
        one, other = sorted(pair)
        if pair <= touched:
            names[other] = names.get(one, one)
    renamed = _renamed(loop, names) if names else loop
    assert isinstance(renamed, ir.For)
    return renamed


def _renamed(s: ir.Stmt, names: dict[str, str]) -> ir.Stmt:
    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in names:
            return replace(e, buffer=names[e.buffer])
        return None

    s = map_exprs(map_blocks(s, lambda b: tuple(_renamed(t, names) for t in b)), change)
    if isinstance(s, ir.Write) and s.buffer in names:
        return replace(s, buffer=names[s.buffer])
    return s
