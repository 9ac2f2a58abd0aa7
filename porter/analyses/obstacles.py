"""Why the iterations of a loop cannot run in parallel, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.analyses.accesses import Access
from porter.analyses.dependence import carried
from porter.analyses.escapes import escaping
from porter.diagnostics import Note, Refusal, refusal
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, uses
from porter.ir.walk import own_level, rewrite, statements
from porter.sizes.polynomial import Atom, Data, Poly, Symbol, sym

_IN_ORDER = "keep the loop on the CPU, or run it on one slow thread with `--allow-serial`"


def obstacle(loop: ir.For, after: set[str], context: Context) -> Refusal | None:
    """Why the iterations cannot run in parallel, as a diagnostic; None if they can."""
    name = context.user(loop.index)
    inside = list(statements(loop.body))
    for s in inside:
        if isinstance(s, ir.Return):
            return _refused(loop, f"the loop over `{name}` may return early",
                            note=Note(s.origin.span, "returns here"))  # fmt: skip
        if isinstance(s, (ir.Bind, ir.Host)):
            words = "rebinds an array" if isinstance(s, ir.Bind) else "has a host statement"
            return _refused(loop, f"the loop over `{name}` {words}",
                            note=Note(s.origin.span, "in this statement"))  # fmt: skip
    for s in own_level(loop.body):
        if isinstance(s, ir.Jump) and s.kind == "break":
            return _refused(loop, f"the loop over `{name}` may stop early",
                            "test the condition in every iteration instead of using `break`",
                            Note(s.origin.span, "leaves the loop here"))  # fmt: skip
    assigned = defs_in(loop.body).scalars
    exposed = exposed_scalars(loop.body)
    passed_on = sorted(assigned & exposed) or sorted(assigned & after)
    if passed_on:
        return _passed_on(loop, passed_on[0], context, in_loop=bool(assigned & exposed))
    for inner, made in escaping((loop,), context.here.used_later):
        return _last(inner, made, context)
    found = carried(loop, context.buffers, context.here.loops)
    return None if found is None else _dependence(loop, *found, context)


def _refused(loop: ir.For, message: str, help: str = "", note: Note | None = None) -> Refusal:
    notes = () if note is None else (note,)
    return refusal("PRT904", message, loop.origin.span, help or _IN_ORDER, notes)


def _passed_on(loop: ir.For, variable: str, context: Context, *, in_loop: bool) -> Refusal:
    """A variable that goes from one iteration to the next, with both places."""
    name, index = context.user(variable), context.user(loop.index)
    stores = [s for s in statements(loop.body) if isinstance(s, ir.Let) and s.name == variable]
    last = stores[-1].origin
    reads = _reads(loop.body, variable)
    note = Note((reads[0] if reads else last).span, "read here")
    message = f"the loop over `{index}` carries `{name}` from one iteration to the next"
    if not in_loop:
        message = f"`{name}` keeps the value of the last iteration of the loop over `{index}`"
    cure = "compute it from the index, accumulate it with a NumPy reduction"
    return refusal(
        "PRT904",
        message,
        last.span,
        cure + ", run it on the CPU with `--target loops`, or on one thread with `--allow-serial`",
        (note,) if in_loop else (),
    )


def _last(loop: ir.For | ir.While, made: ir.Def | ir.Alloc, context: Context) -> Refusal:
    """An array that the last iteration leaves."""
    name = context.user(made.name if isinstance(made, ir.Def) else made.buffer.name)
    return refusal("PRT904", f"`{name}` is read after the loop that assigns it an array",
                   made.origin.span, "compute it again after the loop",
                   (Note(loop.origin.span, "the loop"),))  # fmt: skip


def _reads(body: Sequence[ir.Stmt], variable: str) -> list[ir.Origin]:
    return [s.origin for s in statements(tuple(body)) if variable in uses(s).scalars]


def _dependence(loop: ir.For, write: Access, other: Access, context: Context) -> Refusal:
    verb = "writes" if other.write else "reads"
    one, two = shown(write, context), shown(other, context)
    what = f"and {verb} `{two}`" if (other.write, two) != (True, one) else "in several iterations"
    index = context.user(loop.index)
    message = f"the loop over `{index}` runs in order: it writes `{one}` {what}"
    note = Note(other.origin.span, "written here" if other.write else "read here")
    cure = (
        "write into a second array if old values are meant; run a recurrence on the CPU with "
        "`--target loops`, or on one slow thread with `--allow-serial`"
    )
    return refusal("PRT904", message, write.origin.span, cure, (note,))


def shown(access: Access, context: Context) -> str:
    """`x[i - 1]` as the user wrote it: their names, no marks of ours."""
    parts = [str(_plain(p, context)) for p in access.index]
    return f"{context.user(access.buffer)}[{', '.join(parts)}]"


def _plain(poly: Poly, context: Context) -> Poly:
    def atom(a: Atom) -> Poly:
        if isinstance(a, Symbol):
            return sym(context.user(a.name).replace("_", "") or a.name)
        if isinstance(a, Data):
            if isinstance(a.expr, ir.Value):
                return _plain(a.expr.poly, context)
            return sym(_text(a, context))
        return Poly.atom(a)

    return poly.map_atoms(atom)


def _text(a: Data, context: Context) -> str:
    def change(e: object) -> ir.Local | None:
        return ir.Local(context.user(e.name), e.dtype) if isinstance(e, ir.Local) else None

    text = str(rewrite(a.expr, change))
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
