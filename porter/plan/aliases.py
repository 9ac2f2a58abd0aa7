"""Which host names may mean the same array while a kernel runs.

`u, v = v, u` never makes two names meet; `u = new` does, until `new` is allocated again.
The names' moves are run through, loops until their state repeats.
"""

from __future__ import annotations

from porter.ir.nodes import Alloc, Bind, For, Host, If, Stage, Stmt, While, Write
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

    def bind(self, s: Bind) -> None:
        values = [self.of(b) for b in s.buffers]
        self.meaning.update(zip(s.names, values, strict=True))

    def record(self) -> None:
        names = sorted(self.meaning)
        for k, a in enumerate(names):
            for b in names[k + 1 :]:
                if self.meaning[a] == self.meaning[b]:
                    self.pairs.add(frozenset((a, b)))

    def state(self) -> tuple[tuple[str, int], ...]:
        first: dict[int, int] = {}
        return tuple(
            (n, first.setdefault(self.meaning[n], len(first))) for n in sorted(self.meaning)
        )


def aliases(body: tuple[Stmt, ...]) -> Pairs:
    """Pairs of names that may mean one array at some launch."""
    names = _Names()
    _run(body, names)
    for s in statements(body):
        if isinstance(s, If):
            bound = [
                b for x in statements((s,)) if isinstance(x, Bind) for b in (*x.names, *x.buffers)
            ]
            names.pairs |= {frozenset((a, b)) for a in bound for b in bound if a != b}
    return names.pairs


def _run(body: tuple[Stmt, ...], names: _Names) -> None:
    for s in body:
        match s:
            case Alloc(buffer=buffer):
                names.allocate(buffer.name)
            case Host(makes=makes):
                for name in makes:
                    names.allocate(name)
            case Bind():
                names.bind(s)
            case Write(buffer=name):
                names.of(name)
                names.record()
            case Stage():
                for x in statements(s.body):
                    if isinstance(x, Write):
                        names.of(x.buffer)
                names.record()
            case For() | While():
                seen = set()
                for _ in range(MAX_ROUNDS):
                    _run(s.body, names)
                    if names.state() in seen:
                        break
                    seen.add(names.state())
            case If():
                for block in blocks(s):
                    _run(block, names)


def with_others(names: set[str], pairs: Pairs) -> set[str]:
    """The names, and those that may mean the same arrays."""
    return names.union(*(p for p in pairs if p & names))
