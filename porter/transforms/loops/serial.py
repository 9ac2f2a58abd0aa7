"""Loops that can only run in order: on one thread, when the user asks for that.

One thread of a GPU is slower than one of a CPU by an order of magnitude; it saves the transfers
between what runs before such a loop and what runs behind it, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.analyses.accesses import exposed_locals
from porter.diagnostics import Diagnostic, Severity
from porter.dtypes.dtype import BOOL, WEAK_INT, DType
from porter.ir.context import Context, map_blocks, map_exprs, rename_axes
from porter.ir.nodes import (
    Alloc,
    Bind,
    Const,
    Expr,
    For,
    Host,
    Let,
    Load,
    Local,
    Return,
    Stage,
    Stmt,
    While,
    Write,
)
from porter.ir.scalars import cast
from porter.ir.walk import statements
from porter.sizes.polynomial import sym

Thread = Callable[[Stmt, Context], list[Stmt]]


def on_one_thread(
    loop: For | While, after: set[str], context: Context, as_thread: Thread
) -> list[Stmt] | None:
    """The loop as the work of a single thread, its variables handed back; None if it cannot be.

    Raises Refusal where a statement cannot be one of a thread.
    """
    if any(isinstance(s, (Bind, Host, Return)) for s in statements((loop,))):
        return None
    body = tuple(x for s in (loop,) for x in as_thread(s, context))
    lets = {s.name: s for s in statements(body) if isinstance(s, Let)}
    needed = exposed_locals(body) & lets.keys()
    names = {n: context.fresh(n) for n in lets if n in needed or n in after}
    types = {n: lets[n].value.dtype for n in names}
    inner = tuple(_renamed(s, names) for s in body)
    # a variable that is read behind a loop that did not run keeps its value
    head = tuple(Let(names[n], _before(n, types[n], context), loop.origin) for n in names)
    result: list[Stmt] = []
    tail: list[Stmt] = []
    back: list[Stmt] = []
    for n in sorted(names.keys() & after):
        buffer = context.buffer(n, (), types[n])
        result.append(Alloc(buffer, loop.origin))
        value = Local(names[n], types[n])
        tail.append(Write(buffer.name, (), (), value, loop.origin))
        back.append(Let(n, Load(buffer.name, (), types[n]), loop.origin))
    context.notes.append(_note(loop))
    return [*result, Stage((), (*head, *inner, *tail), loop.origin), *back]


def _before(name: str, dtype: DType, context: Context) -> Expr:
    """A variable as the loop finds it; Python would raise where it has no value and is read."""
    if name in context.bound:
        return Local(name, dtype)
    return cast(Const(False, BOOL) if dtype.kind == "b" else Const(0, WEAK_INT), dtype)


def _note(loop: For | While) -> Diagnostic:
    return Diagnostic(
        "PRT904", "loop-carried-dependence",
        "this loop runs on one GPU thread, far slower than on a CPU",
        loop.origin.span, severity=Severity.ADVICE,
        help="`--allow-serial` allowed it; rewrite the loop if it dominates the run time",
    )  # fmt: skip


def _renamed(s: Stmt, names: dict[str, str]) -> Stmt:
    def change(e: Expr) -> Expr | None:
        if isinstance(e, Local) and e.name in names:
            return replace(e, name=names[e.name])
        return None

    s = rename_axes(map_exprs(s, change), {n: sym(new) for n, new in names.items()})
    s = map_blocks(s, lambda b: tuple(_renamed(x, names) for x in b))
    return replace(s, name=names[s.name]) if isinstance(s, Let) and s.name in names else s
