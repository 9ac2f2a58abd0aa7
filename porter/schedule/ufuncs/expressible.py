"""What keeps a plan from being ufuncs, with the reason: each launch computes one element alone."""

from __future__ import annotations

from collections.abc import Sequence, Set

from porter import ir
from porter.analyses.accesses import accesses
from porter.diagnostics import Refusal, refusal
from porter.ir.axes import symbols
from porter.ir.effects import exposed_scalars, expressions, surely_assigned
from porter.ir.walk import own_level, statements, walk
from porter.schedule.base import Kernel
from porter.schedule.nodes import Launch, Plan, items_of
from porter.schedule.ufuncs.element import assigning, stored


def check_elements(plan: Plan) -> None:
    """Raise Refusal where a launch is no ufunc."""
    for item in items_of(plan.items):
        if isinstance(item, Launch):
            _check(item.kernel, plan)


def _check(kernel: Kernel, plan: Plan) -> None:
    own = symbols(kernel.axes)
    for a in sorted(accesses(kernel.body), key=lambda a: a.write):
        if a.combine is not None:
            raise _refused(a.origin, f"adds up `{a.buffer}` over elements, which a ufunc cannot")
        if a.index != own or not own:
            verb = "stores" if a.write else "reads"
            raise _refused(a.origin, f"{verb} `{a.buffer}` at another index, which a ufunc cannot")
    outs = [plan.buffers[name] for name in stored(kernel)]
    for out in outs:
        _check_store(kernel, out)
    body: Sequence[ir.Stmt] = kernel.body
    for out in outs:
        body = assigning(body, out.name)
    renewed = exposed_scalars(body)
    changed = next((b.name for b in outs if b.parameter or b.name in renewed), "")
    if changed and outs[1:]:
        raise _refused(kernel.origin, f"changes `{changed}` and computes another result")
    if any(isinstance(s, ir.Jump) for s in own_level(kernel.body)):
        raise _refused(kernel.origin, "goes on with the next element, which a ufunc cannot")
    places = {a.name for a in kernel.axes}
    for s in statements(kernel.body):
        if any(_is_position(e, places) for e in expressions(s)):
            raise _refused(s.origin, "uses the position of an element, which a ufunc does not know")


def _check_store(kernel: Kernel, buffer: ir.Buffer) -> None:
    whole = tuple(a.hi for a in kernel.axes) == buffer.shape
    if not whole or any(a.lo.terms for a in kernel.axes):
        text = f"stores into a part of `{buffer.name}`, which a ufunc cannot"
        raise _refused(kernel.origin, text)
    body = assigning(kernel.body, buffer.name)
    renewed = buffer.parameter or buffer.name in exposed_scalars(body)
    if not renewed and buffer.name not in surely_assigned(body):
        raise _refused(kernel.origin, f"leaves elements of `{buffer.name}` as they are")


def _is_position(e: ir.Expr, places: Set[str]) -> bool:
    """Whether a number depends on where the element is."""
    parts = list(walk(e))
    bounds = [p for x in parts if isinstance(x, ir.Reduce) for a in x.axes for p in (a.lo, a.hi)]
    values = [x.poly for x in parts if isinstance(x, ir.Value)]
    return any(p.names() & places for p in (*bounds, *values))


def _refused(origin: ir.Origin, message: str) -> Refusal:
    cure = "use --target gufunc, --target loops or --target cuda"
    return refusal("PRT806", message, origin.span, cure)
