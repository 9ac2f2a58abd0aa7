"""What is computed twice from unchanged arrays is computed once.

Two histograms of one array have the same limits and edges, and raise the same errors.  A function
that is called twice computes its totals twice.  Only what takes a launch of its own is shared: a
number of the device, a fold, and what a loop or the host reads.  An elementwise array is written
out where it is read, which costs less than storing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs, defs_in, exposed_arrays, uses, uses_in
from porter.ir.rebuild import map_blocks, rename_arrays
from porter.ir.walk import host_level, loaded, only_raises, scalars_of, statements, walk
from porter.sizes.polynomial import Poly
from porter.transforms.arrays.canonical import canonical

Body = tuple[ir.Stmt, ...]
#: a value but for the names of its indices, and the extents of its axes
_Key = tuple[ir.Expr, tuple[Poly, ...]]


@dataclass
class _Known:
    """What was computed or tested, with the array that holds it, and what it was computed from."""

    found: dict[_Key, tuple[str, frozenset[str]]]

    def forget(self, changed: set[str]) -> None:
        """What was computed from these names is another value now."""
        self.found = {k: v for k, v in self.found.items() if not v[1] & changed}


def share_values(body: Body, context: Context) -> Body:
    """The pass: a definition that equals an earlier one is that one, a test is made once."""
    return _block(body, _by_name(body), frozenset(), Aliases.of(body, context.buffers))


def _block(body: Body, by_name: set[str], outside: frozenset[str], aliases: Aliases) -> Body:
    """A list of statements; `outside` are the arrays that others read."""
    work, result = list(body), list[ir.Stmt]()
    known = _Known({})
    while work:
        s = work.pop(0)
        key, sources = _computed(s)
        if key is not None and key in known.found:
            name = known.found[key][0]
            if isinstance(s, ir.If):
                continue  # the same test has passed
            if isinstance(s, ir.Def) and s.name not in by_name | outside and _is_kept(s, work):
                work = [rename_arrays(r, {s.name: name}) for r in work]
                continue
        elif not isinstance(s, ir.Def):
            others = outside | uses_in([*result, *work]).arrays
            s = _inside(s, by_name, others, aliases)
        result.append(s)
        changed = aliases.with_others(defs_in((s,)).arrays, arguments=True)
        known.forget(changed | defs_in((s,)).scalars)
        if key is not None and not (isinstance(s, ir.Def) and s.name in by_name):
            known.found.setdefault(key, (s.name if isinstance(s, ir.Def) else "", sources))
    return tuple(result)


def _inside(s: ir.Stmt, by_name: set[str], others: frozenset[str], aliases: Aliases) -> ir.Stmt:
    """The statement with the lists in it; an iteration may read what the last one has made."""
    if isinstance(s, (ir.For, ir.While)):
        others |= exposed_arrays(s.body)
    return map_blocks(s, lambda b: _block(b, by_name, others | _beside(s, b), aliases))


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
    found = {s.buffer for s in statements(body) if isinstance(s, (ir.Write, ir.Fetch))}
    for s in host_level(body):
        if isinstance(s, (ir.Return, ir.Bind, ir.Host)):
            found |= uses(s).arrays | defs(s).arrays
    return found
