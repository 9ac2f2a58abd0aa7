"""What a thread computes twice, statement by statement, it computes once.

Two histograms of one array become one stage, in which each element looks for its bin twice.
Neighbouring branches on one condition are one branch then, and variables that the same statements
give the same value are one variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import defs_in, uses, uses_in
from porter.ir.rebuild import map_blocks, map_host, rename_variables
from porter.ir.walk import jumps

Body = tuple[ir.Stmt, ...]
_NOWHERE = ir.Origin()


def share_steps(body: Body, context: Context) -> Body:
    """The pass, over the stages without `break` and `continue`."""
    aliases = Aliases.of(body, context.buffers)

    def change(s: ir.Stmt) -> list[ir.Stmt] | None:
        if not isinstance(s, ir.Stage) or jumps(s.body):
            return None
        return [replace(s, body=_block(s.body, frozenset(), aliases))]

    return map_host(body, change)


def _block(body: Body, outside: frozenset[str], aliases: Aliases) -> Body:
    """A list of statements; `outside` are the scalars that others read or assign."""
    joined = _without_repetitions(_branches(body, aliases), outside, aliases)
    result = []
    for k, s in enumerate(joined):
        rest = (*joined[:k], *joined[k + 1 :])
        beside = outside | uses_in(rest).scalars | defs_in(rest).scalars
        if isinstance(s, ir.If) and not s.orelse:
            s = replace(s, body=_block(s.body, beside | uses(s).scalars, aliases))
        result.append(s)
    return tuple(result)


def _branches(body: Sequence[ir.Stmt], aliases: Aliases) -> Body:
    """Neighbouring branches on one condition as one, where the first one leaves it as it is."""
    result: list[ir.Stmt] = []
    for s in body:
        last = result[-1] if result else None
        if (
            isinstance(s, ir.If) and isinstance(last, ir.If) and s.cond == last.cond
            and not (s.orelse or last.orelse) and not _changes(last.body, _test(s), aliases)
        ):  # fmt: skip
            result[-1] = replace(last, body=(*last.body, *s.body))
        else:
            result.append(s)
    return tuple(result)


def _test(s: ir.If) -> ir.If:
    return replace(s, body=(), orelse=())


def _changes(done: Sequence[ir.Stmt], s: ir.Stmt, aliases: Aliases) -> bool:
    """Whether statements change what another one reads."""
    changed, read = defs_in(done), uses_in((s,))
    arrays = aliases.with_others(changed.arrays, arguments=True)
    return bool(changed.scalars & read.scalars or arrays & read.arrays)


def _without_repetitions(body: Body, outside: frozenset[str], aliases: Aliases) -> Body:
    """The statements without those that give a second variable what a first one has."""
    work = list(body)
    at = 0
    while at < len(work):
        s = work[at]
        known = [k for k, x in enumerate(work[:at]) if isinstance(x, ir.Let)]
        first = next((k for k in known if _repeats(work, k, at, outside, aliases)), None)
        if isinstance(s, ir.Let) and first is not None:
            one = work[first]
            assert isinstance(one, ir.Let)
            length = _length(work, first, at)
            rest = (rename_variables(x, {s.name: one.name}) for x in work[at + length :])
            work[at:] = rest
        else:
            at += 1
    return tuple(work)


def _repeats(
    work: Sequence[ir.Stmt], first: int, at: int, outside: frozenset[str], aliases: Aliases
) -> bool:
    """Whether the statements from `at` on do what those from `first` on did, for good."""
    one, other = work[first], work[at]
    length = _length(work, first, at)
    if not length or not isinstance(one, ir.Let) or not isinstance(other, ir.Let):
        return False
    run, between, after = (
        work[first : first + length], work[first + length : at], work[at + length :],
    )  # fmt: skip
    names = {one.name, other.name}
    later = defs_in((*between, *after)).scalars | defs_in(work[:first]).scalars
    if names & (later | outside) or other.name in uses_in(work[:at]).scalars:
        return False
    # what the first run has stored in its variable is what it reads there
    read = uses_in(run)
    arrays = aliases.with_others(defs_in(between).arrays, arguments=True)
    scalars = defs_in(between).scalars
    return not (arrays & read.arrays or scalars & (read.scalars - {one.name}))


def _length(work: Sequence[ir.Stmt], first: int, at: int) -> int:
    """How many statements from `at` on are those from `first` on, but for the variable's name.

    They assign nothing but that variable.
    """
    one, other = work[first], work[at]
    if not isinstance(one, ir.Let) or not isinstance(other, ir.Let) or one.name == other.name:
        return 0
    count = 0
    while first + count < at and at + count < len(work):
        mine, theirs = work[first + count], work[at + count]
        assigns = defs_in((mine,))
        if assigns.arrays or assigns.scalars != {one.name}:
            break
        if _bare(mine) != _bare(rename_variables(theirs, {other.name: one.name})):
            break
        count += 1
    return count


def _bare(s: ir.Stmt) -> ir.Stmt:
    """The statement without where it comes from."""
    plain = map_blocks(s, lambda b: tuple(map(_bare, b)))
    return replace(plain, origin=_NOWHERE)
