"""Random numbers: arrays that are nowhere, of which each element is drawn where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

from porter import ir
from porter.dtypes.dtype import FLOAT64, WEAK_FLOAT, WEAK_INT, DType
from porter.ir.scalars import cast, choose, integer, operate
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Generator
from porter.sizes.polynomial import Data, Poly, sym

UNIFORM, NORMAL = "uniform", "normal"
#: arrays of so many numbers have a variable for each, where they can have no memory
_FEW = 9
#: what the methods of NumPy's generators are: the old class has the functions of `np.random`
_METHODS = {"Generator": "numpy.random.Generator", "RandomState": "numpy.random"}


def generator_of(name: str) -> Generator:
    """A generator of this class of NumPy's."""
    return Generator(_METHODS[name])


def drawn_number(b: Builder, kind: str) -> ir.Expr:
    """One number of this kind: another one in each iteration of the loops around.

    In a `while` loop, whose numbers no array could hold, a variable keeps it for all that read it.
    """
    name, here = _made(b, kind, (), WEAK_FLOAT)
    draw = ir.Draw(name, here, WEAK_FLOAT)
    return b.let(b.out.fresh("drawn"), draw) if b.scope.turns else draw


def drawn_array(b: Builder, kind: str, shape: Sequence[Poly]) -> Array:
    """An array of them."""
    count = prod(shape, start=Poly.of(1)).constant
    if b.scope.turns and count is not None and count <= _FEW:
        return _listed(b, kind, shape, count)
    name, here = _made(b, kind, shape, FLOAT64)
    return Array(tuple(shape), FLOAT64, lambda idx: ir.Draw(name, (*here, *idx), FLOAT64))


def _listed(b: Builder, kind: str, shape: Sequence[Poly], count: int) -> Array:
    """A few numbers in a `while` loop, whose arrays have no memory: a variable for each."""
    items = [cast(drawn_number(b, kind), FLOAT64) for _ in range(count)]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        place = Poly()
        for n, p in zip(shape, idx, strict=True):
            place = place * n + p
        if place.constant is not None and 0 <= place.constant < count:
            return items[place.constant]
        found: ir.Expr = items[-1] if items else ir.Const(0.0, FLOAT64)
        for k in reversed(range(count - 1)):
            found = choose(operate("eq", integer(place), integer(k)), items[k], found)
        return found

    return Array(tuple(shape), FLOAT64, at)


def _made(
    b: Builder, kind: str, shape: Sequence[Poly], dtype: DType
) -> tuple[str, tuple[Poly, ...]]:
    """The array of what this call draws, and the position that the loops are at."""
    b.out.draws = True
    loops = tuple(b.scope.ranges)
    extents = tuple(a.hi for a in loops)
    # nobody knows how many turns a `while` loop takes, but each has its number
    turns = tuple(turn(name) for name in b.scope.turns)
    whole = (*extents, *(Poly.of(1) for _ in turns), *shape)
    buffer = ir.Buffer(b.out.fresh("draws"), whole, dtype, draws=kind)
    b.out.add(buffer)
    return buffer.name, (*(sym(a.name, a.lo.is_nonneg()) for a in loops), *turns)


def turn(name: str) -> Poly:
    """The turn that a `while` loop is in, as a position."""
    return Poly.atom(Data(ir.Local(name, WEAK_INT), nonneg=True, inside=True))


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
