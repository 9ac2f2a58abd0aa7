"""What several folds or stores compute of one element gets a name in their loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.walk import always, free_names, rewrite, walk
from porter.ir.weights import op_weight, weight
from porter.schedule.base import Around, Kernel

#: what is lighter is as clear where it is used
_LEAST = op_weight("sqrt")


def repeated(
    bodies: Sequence[ir.Expr], inside: set[str], fresh: Callable[[str], str]
) -> tuple[list[tuple[str, ir.Expr]], list[ir.Expr]]:
    """What expressions of one element have in common, by name and in order, and what is left of
    them; `inside` are the indices of the element."""
    named: list[tuple[str, ir.Expr]] = []
    left = list(bodies)
    while True:
        every = [*left, *(e for _, e in named)]
        common = _largest(every, inside)
        if common is None:
            return named, left
        value = ir.Local(fresh("value"), common.dtype)

        def change(e: ir.Expr, common: ir.Expr = common, value: ir.Local = value) -> ir.Expr | None:
            return value if e == common else None

        left = [rewrite(e, change) for e in left]
        # what a larger one is made of, too, stands before it
        named = [(value.name, common), *((n, rewrite(e, change)) for n, e in named)]


def named(kernel: Kernel, around: Around) -> Kernel:
    """The kernel with names for what a store computes several times of an element."""
    steps = []
    for step in kernel.parts:
        if isinstance(step, ir.Stage) and len(step.axes) > len(kernel.axes):
            stores = [s for s in step.body if isinstance(s, ir.Write)]
            inside = {a.name for a in step.axes[len(kernel.axes) :]}
            if len(stores) == len(step.body) == 1:
                found, (body,) = repeated([stores[0].body], inside, around.context.fresh)
                values = (ir.Let(n, e, step.origin) for n, e in found)
                step = replace(step, body=(*values, replace(stores[0], body=body)))
        steps.append(step)
    return replace(kernel, steps=tuple(steps))


def _largest(bodies: Sequence[ir.Expr], inside: set[str]) -> ir.Expr | None:
    """The heaviest expression that is computed twice, once at least in any case."""
    count = Counter(e for body in bodies for e in walk(body))
    twice = {e for body in bodies for e in always(body) if count[e] > 1}
    found = [e for e in twice if weight(e) >= _LEAST and _is_of_element(e, inside)]
    return max(found, key=lambda e: (weight(e), str(e)), default=None)


def _is_of_element(e: ir.Expr, inside: set[str]) -> bool:
    """Whether it is a number that each element has of its own."""
    fixed = all(not isinstance(x, (ir.Draw, ir.Reduce, ir.Object)) for x in walk(e))
    return fixed and e.dtype.kind in "fc" and bool(free_names(e) & inside)
