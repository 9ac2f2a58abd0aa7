"""Which arrays of a host function no caller sees, so that its next call can use them again."""

from __future__ import annotations

from porter import ir
from porter.codegen.host.calls import size_test
from porter.ir.walk import loaded
from porter.schedule.nodes import Plan, items_of
from porter.support.reserved import MARK


def is_interrupted(plan: Plan) -> bool:
    """Whether text of the user's runs in between, which may call the same function again."""
    return any(
        isinstance(i, ir.Host)
        and i.kind is not ir.HostKind.RAISE  # nothing runs after it
        and not i.first
        and size_test(i) is None
        for i in items_of(plan.items)
    )


def unseen(plan: Plan) -> frozenset[str]:
    """The arrays that are made in a call and not seen by anybody when it is over.

    One that gets another name is none: the next of its own name would be the same array.  Nor is
    one with a name that ours may have, which is the key of those that are kept.
    """
    if is_interrupted(plan):
        return frozenset()
    made, seen = set[str](), set[str]()
    for item in items_of(plan.items):
        match item:
            case ir.Alloc(buffer, _) if MARK not in buffer.name:
                made.add(buffer.name)
            case ir.Bind(names, buffers, _):
                seen |= {*names, *buffers}
            case ir.Host():
                seen |= {name for _, name in item.arrays}
            case ir.Return(values):
                seen |= {v for v in values if isinstance(v, str)}
                seen |= loaded(*(v for v in values if v is not None and not isinstance(v, str)))
    return frozenset(made - seen)
