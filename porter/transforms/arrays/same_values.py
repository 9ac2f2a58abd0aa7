"""What is computed twice from unchanged arrays is computed once.

Two histograms of one array have the same limits and edges, and raise the same errors.  A function
that is called twice computes its totals twice.  Only what takes a launch of its own is shared: a
number of the device, a fold, and what a loop or the host reads.  An elementwise array is written
out where it is read, which costs less than storing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs, defs_in, exposed_arrays, makes, uses, uses_in
from porter.ir.rebuild import map_blocks, map_expr, map_statement, rename_arrays
from porter.ir.walk import host_level, loaded, only_raises, scalars_of, statements, walk
from porter.sizes.polynomial import Atom, Integer, Poly
from porter.transforms.arrays.canonical import canonical

Body = tuple[ir.Stmt, ...]
#: a value but for the names of its indices, and the extents of its axes
_Key = tuple[ir.Expr, tuple[Poly, ...]]


@dataclass
class _Known:
    """What was computed or tested in a list of statements, and is still so."""

    #: the array that holds a value, and what it was computed from
    values: dict[_Key, tuple[str, frozenset[str]]] = field(default_factory=dict)
    #: the name of the size that the host read from an array
    sizes: dict[str, str] = field(default_factory=dict)

    def forget(self, changed: set[str]) -> None:
        """What was computed from these names is another value now."""
        self.values = {k: v for k, v in self.values.items() if not v[1] & changed}
        self.sizes = {k: v for k, v in self.sizes.items() if k not in changed}


def share_values(body: Body, context: Context) -> Body:
    """The pass: a definition that equals an earlier one is that one, a test is made once, and a
    size is read back once."""
    return _block(body, _by_name(body), frozenset(), context)


def _block(body: Body, by_name: set[str], outside: frozenset[str], context: Context) -> Body:
    """A list of statements; `outside` are the arrays that others read."""
    aliases = Aliases.of(body, context.buffers)
    work, result = list(body), list[ir.Stmt]()
    known = _Known()
    while work:
        s = work.pop(0)
        key, sources = _computed(s)
        again = known.values.get(key) if key is not None else None
        match s:
            case ir.If() if again is not None:
                continue  # the same test has passed
            case ir.Def() if again is not None and s.name not in by_name | outside:
                if _is_kept(s, work):
                    work = [rename_arrays(r, {s.name: again[0]}) for r in work]
                    continue
            case ir.Fetch() if s.buffer in known.sizes:
                work = _with_size(work, {s.name: known.sizes[s.buffer]}, context)
                continue
            case ir.For() | ir.While() | ir.If():
                s = _inside(s, by_name, outside | uses_in([*result, *work]).arrays, context)
        result.append(s)
        changed = aliases.with_others(defs_in((s,)).arrays, arguments=True)
        known.forget(changed | defs_in((s,)).scalars)
        if isinstance(s, ir.Fetch):
            known.sizes[s.buffer] = s.name
        elif key is not None and not (isinstance(s, ir.Def) and s.name in by_name):
            known.values.setdefault(key, (s.name if isinstance(s, ir.Def) else "", sources))
    return tuple(result)


def _with_size(rest: list[ir.Stmt], names: Mapping[str, str], context: Context) -> list[ir.Stmt]:
    """The statements with another name for a size, the arrays that they make, and the tests."""

    def renamed(a: Atom) -> Poly:
        if isinstance(a, Integer) and a.name in names:
            return Poly.atom(replace(a, name=names[a.name]))
        return Poly.atom(a)

    def size(p: Poly) -> Poly:
        return p.map_atoms(renamed)

    made = set().union(*(makes(x) for x in statements(tuple(rest))))
    for name in made & context.buffers.keys():
        b = context.buffers[name]
        context.buffers[name] = replace(b, shape=tuple(map(size, b.shape)))
    checks = tuple(
        replace(
            c, left=size(c.left), right=size(c.right), when=tuple(map(size, c.when)),
            conditions=tuple(map_expr(e, size, lambda d: d) for e in c.conditions),
        )
        for c in context.checks
    )  # fmt: skip
    holds = [c.kind != "index" and c.left == c.right for c in checks]
    kept = tuple(c for c, sure in zip(checks, holds, strict=True) if not sure)
    context.program = replace(context.program, checks=kept)
    return [map_statement(r, size, lambda d: d) for r in rest]


def _inside(s: ir.Stmt, by_name: set[str], others: frozenset[str], context: Context) -> ir.Stmt:
    """The statement with the lists in it; an iteration may read what the last one has made."""
    if isinstance(s, (ir.For, ir.While)):
        others |= exposed_arrays(s.body)
    return map_blocks(s, lambda b: _block(b, by_name, others | _beside(s, b), context))


def _beside(s: ir.Stmt, block: Body) -> frozenset[str]:
    """What the other branch of a statement reads, and its own condition."""
    other = s.orelse if isinstance(s, ir.If) and block is s.body else ()
    return uses_in(other).arrays | uses(s).arrays


def _computed(s: ir.Stmt) -> tuple[_Key | None, frozenset[str]]:
    """The value of a definition, or the condition of an error, and what it is computed from."""
    match s:
        case ir.Def(body=value, axes=axes):
            pass
        case ir.If(cond=value, orelse=()) if only_raises(s) and not _tells(s):
            axes = ()
        case _:
            return None, frozenset()
    if any(isinstance(e, (ir.Draw, ir.Object)) for e in walk(value)):
        return None, frozenset()
    sizes = tuple(p for a in axes for p in (a.lo, a.hi))
    read = [value, *(ir.Value(p, value.dtype) for p in sizes)]
    sources = frozenset(loaded(*read)).union(*map(scalars_of, read))
    return (canonical(value, axes), sizes), sources - {a.name for a in axes}


def _tells(s: ir.If) -> bool:
    """Whether the text of an error has values in it."""
    return any(isinstance(x, ir.Host) and (x.values or x.arrays) for x in s.body)


def _is_kept(s: ir.Def, rest: Sequence[ir.Stmt]) -> bool:
    """Whether a definition would be stored anyway: a number, a fold, or what a loop reads."""
    if not s.axes or isinstance(s.body, ir.Reduce):
        return True
    nested = (r for r in rest if not isinstance(r, (ir.Def, ir.Write)))
    return s.name in uses_in(list(nested)).arrays


def _by_name(body: Body) -> set[str]:
    """Arrays that are stored into, and those that the host handles by name."""
    found = {s.buffer for s in statements(body) if isinstance(s, ir.Write)}
    for s in host_level(body):
        if isinstance(s, (ir.Return, ir.Bind, ir.Host)):
            found |= uses(s).arrays | defs(s).arrays
    return found
