"""Arrays whose elements take statements to make: a loop nest over the elements.

What has no closed form in its index (a binary search) becomes what a user would have
written: a loop over the elements with variables in it, which the plan turns into threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from porter import ir
from porter.dtypes.dtype import DType
from porter.ir.scalars import cast, integer, operate
from porter.lowering.arrays.calculus import ONE, Operand
from porter.lowering.state.builder import Builder
from porter.lowering.state.scope import Loop
from porter.resolve.values import Array
from porter.sizes.polynomial import Data, Poly, sym

Element = Callable[[Sequence[Poly]], ir.Expr]


def by_statements(
    b: Builder, name: str, shape: tuple[Poly, ...], dtype: DType, element: Element
) -> Operand:
    """The array whose element `idx` is `element(idx)`, which may emit statements.

    In a loop of the user's a single element is made there and then.
    """
    if not shape and b.out.depth:
        return element(())
    whole = shape or (ONE,)
    target = b.allocate(name, Array(whole, dtype, lambda _: integer(0)))
    assert target.view is not None
    axes = b.axes(whole)
    idx = tuple(sym(a.name, True) for a in axes)
    blocks = []
    with ExitStack() as stack:
        for axis in axes:
            blocks.append(stack.enter_context(b.out.block()))
            b.scope.ranges.append(axis)
            b.scope.loops.append(Loop.THREADS)
        value = cast(element(idx if shape else ()), dtype)
        b.out.emit(ir.Write(target.view.buffer, (), idx, value, b.place.origin))
    for axis, block in zip(reversed(axes), reversed(blocks), strict=True):
        b.scope.ranges.pop()
        b.scope.loops.pop()
        loop = ir.For(axis.name, axis.lo, axis.hi, 1, tuple(block), b.place.origin)
        if axis is axes[0]:
            b.out.emit(loop)
        else:
            blocks[axes.index(axis) - 1].append(loop)
    return target if shape else target.at((Poly(),))


def first_not(b: Builder, n: Poly, holds: Callable[[Poly], ir.Expr]) -> ir.Expr:
    """The smallest k up to n where `holds(k)` is false, by bisection; it holds below that."""
    names = {name: b.out.fresh(name) for name in ("low", "high", "middle")}
    low = b.let(names["low"], integer(0))
    high = b.let(names["high"], integer(n))
    with b.out.block() as steps:
        middle = b.let(names["middle"], operate("floordiv", operate("add", low, high), integer(2)))
        test = holds(known_position(middle))
        with b.out.block() as up:
            b.let(names["low"], operate("add", middle, integer(1)))
        with b.out.block() as down:
            b.let(names["high"], middle)
        b.out.emit(ir.If(test, tuple(up), tuple(down), b.place.origin))
    b.out.emit(ir.While(operate("lt", low, high), tuple(steps), b.place.origin))
    return ir.Local(low.name, low.dtype)


def named(b: Builder, name: str, e: ir.Expr) -> ir.Expr:
    """The value as a variable of the thread, read from memory once."""
    return (
        e
        if isinstance(e, (ir.Const, ir.Value, ir.Local, ir.Scalar))
        else b.let(b.out.fresh(name), e)
    )


def known_position(expr: ir.Expr) -> Poly:
    """An integer computed in the thread as a subscript that is certainly in bounds."""
    return Poly.atom(Data(expr, nonneg=True, inside=True))
