"""Loops of the host whose folds are short move into one block, some with the loop around them.

A factorisation folds rows that grow with the loops around them: `A[i, :j] @ A[:j, j]` for every
i and j.  From the host that is a launch for each pair (i, j); in one block it is a loop with
barriers, launched once for each i; where every launch of the loop over i is one block, that loop
is in the block as well.  Only folds and stores whose length follows the loops' indices (or is
constant) are moved: a long one is faster with all blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby

from porter import ir
from porter.ir.effects import nodes_of
from porter.ir.walk import statements
from porter.schedule.base import BlockLoop, BlockStep, Fold, Kernel, flat
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch
from porter.schedule.registry import ONE_BLOCK
from porter.schedule.turns.alone import largest

_NONE: frozenset[str] = frozenset()


def in_blocks(
    items: Sequence[object], name: Callable[[str], str], bound: Collection[str],
    loops: frozenset[str] = _NONE,
) -> tuple[object, ...]:  # fmt: skip
    """The host's sequence with such loops as launches of one block.

    Arrays that are `bound` to another name, or needed after their loop, are made where they stand.
    """
    result: list[object] = []
    for item in items:
        match item:
            case HostLoop():
                inside = loops | {item.index}
                loop = replace(item, body=in_blocks(item.body, name, bound, inside))
                if not loops:
                    result += _whole(loop, bound)
                    continue
                steps = _steps(loop.body, inside)
                if steps is None or not any(isinstance(s, Fold) for s in flat(steps)):
                    result.append(loop)
                    continue
                result.append(_launch(name(ONE_BLOCK.word), (_nest(loop, steps),), loop.origin))
            case HostWhile():
                result.append(replace(item, body=in_blocks(item.body, name, bound, loops)))
            case HostIf():
                body = in_blocks(item.body, name, bound, loops)
                orelse = in_blocks(item.orelse, name, bound, loops)
                result.append(replace(item, body=body, orelse=orelse))
            case _:
                result.append(item)
    return tuple(_joined(result, name, loops))


def _whole(loop: HostLoop, bound: Collection[str]) -> list[object]:
    """The loop in a block as well, if every launch inside is one block; arrays of its turns are
    made once."""
    ranges = {loop.index: (loop.lo, loop.hi)}
    allocated = [None if i.buffer.name in bound or loop.step < 1 else largest(i, ranges)
                 for i in loop.body if isinstance(i, ir.Alloc)]  # fmt: skip
    launches = [i for i in loop.body if not isinstance(i, ir.Alloc)]
    kernels = [i.kernel for i in launches if isinstance(i, Launch)]
    alone = all(k.schedule is ONE_BLOCK for k in kernels) and len(kernels) == len(launches)
    if not kernels or not alone or any(a is None for a in allocated):
        return [loop]
    steps = tuple(s for k in kernels for s in k.steps)
    return [*allocated, _launch(kernels[0].name, (_nest(loop, steps),), loop.origin)]


def _nest(loop: HostLoop, steps: tuple[BlockStep, ...]) -> BlockLoop:
    return BlockLoop(loop.index, loop.lo, loop.hi, loop.step, steps, loop.origin)


def _launch(name: str, steps: tuple[BlockStep, ...], origin: ir.Origin) -> Launch:
    return Launch(Kernel(name, ONE_BLOCK, (), (), steps, origin))


def _steps(items: Sequence[object], loops: frozenset[str]) -> tuple[BlockStep, ...] | None:
    """What the launches do, step by step; None if one of them needs more than a block."""
    steps: list[BlockStep] = []
    for item in items:
        found = _of_launch(item, loops)
        if found is None:
            return None
        steps += found
    return tuple(steps)


def _of_launch(item: object, loops: frozenset[str]) -> tuple[BlockStep, ...] | None:
    if not isinstance(item, Launch):
        return None
    return item.kernel.schedule.in_one_block(item.kernel, loops)


def _joined(
    items: Sequence[object], name: Callable[[str], str], loops: frozenset[str]
) -> list[object]:
    """Runs of light work of which a part is a fold share one launch of one block."""
    if not loops:
        return list(items)
    result: list[object] = []
    for light, run in groupby(_allocated_first(items), lambda i: _light(i, loops)):
        launches = list(run)
        steps = _steps(launches, loops) if light else None
        first = launches[0]
        schedule = first.kernel.schedule if isinstance(first, Launch) else None
        done = len(launches) == 1 and schedule is ONE_BLOCK
        if steps is None or done or not any(isinstance(s, Fold) for s in flat(steps)):
            result += launches
        else:
            assert isinstance(first, Launch)
            result.append(_launch(name(ONE_BLOCK.word), steps, first.kernel.origin))
    return result


def _allocated_first(items: Sequence[object]) -> list[object]:
    """With arrays allocated before the launches in front of them."""
    result: list[object] = []
    for item in items:
        at = len(result)
        while isinstance(item, ir.Alloc) and at and isinstance(result[at - 1], Launch):
            at -= 1
        result.insert(at, item)
    return result


def _light(item: object, loops: frozenset[str]) -> bool:
    """Whether a block is as fast as a grid: folds, and stores of threads without loops."""
    steps = _of_launch(item, loops)
    return bool(steps) and not any(
        isinstance(s, ir.Stage) and s.axes and _has_loops(s) for s in flat(steps or ())
    )


def _has_loops(stage: ir.Stage) -> bool:
    inside = list(statements(stage.body))
    return any(isinstance(s, (ir.For, ir.While)) for s in inside) or any(
        isinstance(e, ir.Reduce) for s in inside for e in nodes_of(s)
    )
