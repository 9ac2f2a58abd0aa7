"""Arrays that a loop makes and something after it uses: those of the last iteration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from porter import ir
from porter.ir.effects import makes, uses_in
from porter.ir.walk import blocks, statements


def escaping(
    body: Sequence[ir.Stmt], later: AbstractSet[str] = frozenset()
) -> Iterator[tuple[ir.For | ir.While, ir.Def | ir.Alloc]]:
    """Each loop with a statement in it that makes what is used after that loop.

    `later` are the arrays that are used after the statements.
    """
    for k, s in enumerate(body):
        if not blocks(s):
            continue
        rest = later | uses_in(body[k + 1 :]).arrays
        if isinstance(s, (ir.For, ir.While)):
            yield from ((s, x) for x in statements((s,)) 
                       if isinstance(x, (ir.Def, ir.Alloc)) and makes(x) & rest)  # fmt: skip
        for block in blocks(s):
            yield from escaping(block, rest)
