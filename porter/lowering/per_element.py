"""A function of numbers that is called for all elements of arrays, as a ufunc calls it.

Its parameters are arrays, and its body sees one element of each.  What the result is made of is
stored into an array of its own, for each value that the function returns.
"""

from __future__ import annotations

from porter import ir
from porter.dtypes.dtype import strengthen
from porter.ir.scalars import cast
from porter.lowering.arrays.calculus import broadcast_shape
from porter.lowering.evaluation import Evaluator
from porter.lowering.expressions.inline import statements_of
from porter.lowering.host.statements import refuse_kept
from porter.lowering.state.scope import Loop
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import sym
from porter.source.module import FunctionSource


def run_per_element(ev: Evaluator, function: FunctionSource) -> None:
    """Emit one stage over the common shape of the arrays, and the return of what it stores."""
    b, node = ev.b, function.node
    b.place.origin = ir.Origin(function.span)
    arrays = [v for v in ev.env.values() if isinstance(v, Array)]
    if not arrays:
        raise b.refuse("PRT909", f"`{function.name}` is called without arrays",
                       "make one of its parameters an array")  # fmt: skip
    shape = broadcast_shape(b, [a.shape for a in arrays], "the elements")
    axes = b.axes(shape)
    index = [sym(a.name, True) for a in axes]
    own: dict[str, Value] = {
        n: v.at(index) if isinstance(v, Array) else v for n, v in ev.env.items()
    }
    b.scope.ranges += axes
    b.scope.loops.append(Loop.THREADS)
    with b.out.block() as collected:
        body = ev.bodies(ev.within(ev.scope, own), function.name)
        value = body.run_helper(list(statements_of(node)))
        refuse_kept(b, collected)
        values = value if isinstance(value, tuple) else (value,)
        results = [_element(ev, function, v) for v in values]
        # all are computed before one of them is stored
        names = ["out"] if len(results) == 1 else [f"out{k}" for k in range(1, len(results) + 1)]
        made = [ir.Buffer(b.out.fresh(n), shape, strengthen(e.dtype))
                for n, e in zip(names, results, strict=True)]  # fmt: skip
        for buffer, e in zip(made, results, strict=True):
            b.out.add(buffer)
            place = tuple(index)
            b.out.emit(ir.Write(buffer.name, (), place, cast(e, buffer.dtype), b.place.origin))
    b.scope.loops.pop()
    del b.scope.ranges[len(b.scope.ranges) - len(axes) :]
    origin = ir.Origin(function.span)
    for buffer in made:
        b.out.emit(ir.Alloc(buffer, origin))
    b.out.emit(ir.Stage(axes, tuple(collected), origin))
    b.out.emit(ir.Return(tuple(m.name for m in made), not isinstance(value, tuple), origin))


def _element(ev: Evaluator, function: FunctionSource, value: Value | None) -> ir.Expr:
    """A result as a number. Refuses anything else."""
    if value is None or value is NONE:
        raise ev.b.refuse("PRT902", f"`{function.name}` does not return a number",
                          "return the result on every path")  # fmt: skip
    numeric = ev.as_numeric(value, function.node)
    if isinstance(numeric, Array):
        raise ev.b.refuse("PRT902", f"`{function.name}` returns an array for each element",
                          "return a number")  # fmt: skip
    return numeric
