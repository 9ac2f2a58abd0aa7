"""Loops that can only run in order: on one thread, when the user asks for that.

One thread of a GPU is slower than one of a CPU by an order of magnitude; it saves the transfers
between what runs before such a loop and what runs after it, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from porter import ir
from porter.diagnostics import Diagnostic, Severity
from porter.dtypes.dtype import BOOL, WEAK_INT, DType
from porter.ir.context import Context
from porter.ir.effects import exposed_scalars
from porter.ir.rebuild import rename_variables
from porter.ir.scalars import cast
from porter.ir.walk import statements

Thread = Callable[[ir.Stmt, Context], list[ir.Stmt]]


def on_one_thread(
    loop: ir.For | ir.While, after: set[str], context: Context, as_thread: Thread
) -> list[ir.Stmt] | None:
    """The loop as the work of a single thread, its variables handed back; None if it cannot be.

    Raises Refusal where a statement cannot be one of a thread.
    """
    if any(isinstance(s, (ir.Bind, ir.Host, ir.Return)) for s in statements((loop,))):
        return None
    body = tuple(x for s in (loop,) for x in as_thread(s, context))
    lets = {s.name: s for s in statements(body) if isinstance(s, ir.Let)}
    needed = exposed_scalars(body) & lets.keys()
    names = {n: context.fresh(n) for n in lets if n in needed or n in after}
    types = {n: lets[n].value.dtype for n in names}
    inner = tuple(rename_variables(s, names) for s in body)
    # a variable that is read after a loop that did not run keeps its value
    head = tuple(ir.Let(names[n], _before(n, types[n], context), loop.origin) for n in names)
    result: list[ir.Stmt] = []
    tail: list[ir.Stmt] = []
    back: list[ir.Stmt] = []
    for n in sorted(names.keys() & after):
        buffer = context.buffer(n, (), types[n])
        result.append(ir.Alloc(buffer, loop.origin))
        value = ir.Local(names[n], types[n])
        tail.append(ir.Write(buffer.name, (), (), value, loop.origin))
        back.append(ir.Let(n, ir.Load(buffer.name, (), types[n]), loop.origin))
    if not context.alone:
        context.notes.append(_note(loop))
    return [*result, ir.Stage((), (*head, *inner, *tail), loop.origin), *back]


def _before(name: str, dtype: DType, context: Context) -> ir.Expr:
    """A variable as the loop finds it; Python would raise where it has no value and is read."""
    if name in context.here.bound:
        return ir.Local(name, dtype)
    return cast(ir.Const(False, BOOL) if dtype.kind == "b" else ir.Const(0, WEAK_INT), dtype)


def _note(loop: ir.For | ir.While) -> Diagnostic:
    return Diagnostic(
        "PRT904", "loop-carried-dependence",
        "this loop runs on one GPU thread, far slower than on a CPU",
        loop.origin.span, severity=Severity.ADVICE,
        help="`--allow-serial` allowed it; rewrite the loop if it dominates the run time",
    )  # fmt: skip
