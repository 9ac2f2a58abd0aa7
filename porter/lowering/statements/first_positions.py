"""Where loops over positions begin: not below 0, where an argument says it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter import ir
from porter.lowering.evaluation import Body
from porter.lowering.state.facts import extents, never_negative
from porter.resolve.values import Range
from porter.sizes.polynomial import Poly
from porter.source.walk import children


def begin_in_range(body: Body, node: cst.For, r: Range) -> None:
    """The host tests that positions do not begin below 0, where an argument says where they begin.

    From `range(period, n)` a negative period would count from the end, and some iterations would
    mean one element.
    """
    b = body.b
    first = b.sizes.resolve(r.start if r.step > 0 else r.stop + 1)
    span = r.stop - r.start if r.step > 0 else r.start - r.stop
    if not first.names() or not first.names() <= b.strides.integers or b.scope.in_while:
        return
    if any(monomial and c < 0 for monomial, c in first.terms):
        return  # `range(-radius, radius + 1)` is meant to begin below
    steps = _offsets(node) if isinstance(node.target, cst.Name) else []
    least = first + min([*steps, 0])
    if steps and not never_negative(b.sizes, least):
        message = f"a loop over positions begins at {least}, which is below 0: call the original"
        when = (b.sizes.resolve(span), *extents(b.sizes))
        b.sizes.check(ir.Check("index", Poly(), least, message, when=when))


def _offsets(node: cst.For) -> list[int]:
    """What the body adds to the variable of a loop where it is the position of one element.

    A condition may keep the first iterations from what is behind it: `if i > 0: ... x[i - 1]`.
    """
    assert isinstance(node.target, cst.Name)
    name, found = node.target.value, list[int]()
    for e, sure in _subscripts(node.body, True):
        match e.slice:
            case cst.Index(value=cst.Name(value=own)) if own == name:
                found.append(0)
            case cst.Index(
                value=cst.BinaryOperation(
                    left=cst.Name(value=own), operator=operator, right=cst.Integer() as step
                )
            ) if own == name and isinstance(operator, (cst.Add, cst.Subtract)):
                size = int(step.value, 0)
                size = size if isinstance(operator, cst.Add) else -size
                found += [size] if sure or size >= 0 else []
    return found


def _subscripts(node: cst.CSTNode, sure: bool) -> Iterator[tuple[cst.SubscriptElement, bool]]:
    """The subscripts in a piece of syntax, and whether each iteration comes to them."""
    if isinstance(node, cst.SubscriptElement):
        yield node, sure
    first = node.test if isinstance(node, (cst.If, cst.IfExp)) else None
    branching = isinstance(node, (cst.If, cst.IfExp, cst.While, cst.BooleanOperation, cst.Else))
    for child in children(node):
        yield from _subscripts(child, sure and (child is first or not branching))
