"""Random numbers: arrays that are nowhere, of which each element is drawn where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from porter import ir
from porter.dtypes.dtype import FLOAT64, WEAK_FLOAT, DType
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array
from porter.sizes.polynomial import Poly, sym

UNIFORM, NORMAL = "uniform", "normal"


def drawn_number(b: Builder, kind: str) -> ir.Expr:
    """One number of this kind: another one in each iteration of the loops around."""
    name, here = _made(b, kind, (), WEAK_FLOAT)
    return ir.Draw(name, here, WEAK_FLOAT)


def drawn_array(b: Builder, kind: str, shape: Sequence[Poly]) -> Array:
    """An array of them."""
    name, here = _made(b, kind, shape, FLOAT64)
    return Array(tuple(shape), FLOAT64, lambda idx: ir.Draw(name, (*here, *idx), FLOAT64))


def _made(
    b: Builder, kind: str, shape: Sequence[Poly], dtype: DType
) -> tuple[str, tuple[Poly, ...]]:
    """The array of what this call draws, and the position that the loops are at."""
    if b.scope.in_while:
        raise b.refuse(
            "PRT902",
            "random numbers drawn in a `while` loop cannot be converted",
            "use a `for` loop over a known number of steps",
        )
    b.out.draws = True
    loops = tuple(b.scope.ranges)
    extents = tuple(a.hi for a in loops)
    buffer = ir.Buffer(b.out.fresh("draws"), (*extents, *shape), dtype, draws=kind)
    b.out.add(buffer)
    return buffer.name, tuple(sym(a.name, a.lo.is_nonneg()) for a in loops)


@contextmanager
def before_call(b: Builder) -> Iterator[None]:
    """Evaluate what has run before the function is called: its seed counts for the first call."""
    seed, draws = b.out.seed, b.out.draws
    b.out.seed, b.out.draws = None, False
    try:
        yield
    finally:
        b.out.seed, b.out.draws = seed, draws


def start(b: Builder, seed: ir.Expr) -> None:
    """What the user starts the random numbers from: once, and before any is drawn."""
    if b.scope.ranges or b.scope.in_while or b.out.depth or b.scope.conditional:
        raise b.refuse(
            "PRT902",
            "random numbers that start again in a loop or a branch cannot be converted",
            "give the seed once, in front of it",
        )
    if b.out.seed is not None or b.out.draws:
        raise b.refuse(
            "PRT902",
            "a function with several seeds cannot be converted",
            "give one seed, in front of what is drawn",
        )
    b.out.seed = seed
