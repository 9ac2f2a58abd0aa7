"""Sizes that a module's own text depends on: each number in it gives cases just below and above.

A kernel that is right up to 300 columns says 300 somewhere: in a comparison, as a modulus, as the
length of an array of its own.  Which axis is meant is not asked: each is tried in turn.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from porter.support.parsing import tree_of
from porter.verify.inputs.cases import (
    FIRST,
    GRID_LIMITS,
    CaseSpec,
    for_each_choice,
    large_specs,
)
from porter.verify.inputs.events import KINDS
from porter.verify.kernels import reached

#: smaller numbers are met by the sizes of the verifier's table, larger ones take too much memory
LEAST, MOST = 3, 4_000_000
#: what depends on smaller ones shows in the states, too, whose arrays are longer
LEAST_TOLD = 24
#: the numbers of a text that are tried, the smallest first
MOST_NUMBERS = 40
#: an integer scalar that counts steps is no larger: each may be a launch
MOST_STEPS = 5000
#: elements of a case on the simulator
MOST_FEW = 1600
#: elements of a case with another number along each axis
MOST_TOGETHER = 60_000
#: with both axes as long as a number there may be so many elements
MOST_SQUARE = 1_100_000
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}  # fmt: skip
_GRID = ("gridDim", "blockIdx", "gridsize", "blocks")


@dataclass(frozen=True, order=True)
class Threshold:
    """A number of the text; `blocks` if a grid may be counted in it."""

    size: int
    blocks: bool = False


def thresholds(text: str, host: str) -> list[Threshold]:
    """The numbers in a host function and in all that it reaches, in order."""
    tree = tree_of(text)
    functions = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
    wanted = reached(text, host)
    constants = _constants(tree)
    found: set[Threshold] = set()
    for function in functions:
        if function.name in wanted:
            found |= set(_Reader(constants, _grid_names(function)).read(function))
    sizes = sorted({t.size for t in found})[:MOST_NUMBERS]
    return sorted(t for t in found if t.size in sizes)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What is assigned to names at the top; limits of grids are met by small ones."""
    made: dict[str, ast.expr] = {}
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        value = getattr(statement, "value", None)
        made |= {t.id: value for t in targets if isinstance(t, ast.Name) and value is not None}
    return {name: value for name, value in made.items() if name not in GRID_LIMITS}


def _grid_names(function: ast.FunctionDef) -> set[str]:
    """The local names that hold a block's number, or how many there are."""
    names: set[str] = set()
    for _ in range(3):
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For)):
                value = node.iter if isinstance(node, ast.For) else node.value
                if value is not None and _mentions_grid(value, names):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    stored = (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
                    names |= {n.id for n in stored}
    return names


def _mentions_grid(node: ast.AST, names: set[str]) -> bool:
    for inner in ast.walk(node):
        word = getattr(inner, "attr", getattr(inner, "id", ""))
        if word in names or any(part in str(word) for part in _GRID):
            return True
    return False


class _Reader:
    """Reads the numbers of one function."""

    def __init__(self, constants: Mapping[str, ast.expr], grid: set[str]) -> None:
        self.constants, self.grid = constants, grid

    def read(self, function: ast.FunctionDef) -> Iterator[Threshold]:
        """All numbers; those in the decorators are about the compiler."""
        for part in (*function.args.defaults, *function.args.kw_defaults, *function.body):
            if part is not None:
                yield from self._numbers(part, False)

    def _numbers(self, node: ast.AST, blocks: bool) -> Iterator[Threshold]:
        if isinstance(node, (ast.Compare, ast.BinOp, ast.Call, ast.AugAssign)):
            blocks = _mentions_grid(node, self.grid)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.RShift, ast.LShift)):
            count = self._value(node.right)
            yield from self._sized(1 << count if count and 0 < count < 23 else None, blocks)
        value = self._value(node)
        if value is not None:
            yield from self._sized(value, blocks)
            return
        if isinstance(node, ast.Name) and node.id in self.constants:
            # a table or a tuple of numbers
            yield from self._numbers_of_constant(node.id, blocks)
        for child in ast.iter_child_nodes(node):
            yield from self._numbers(child, blocks)

    def _numbers_of_constant(self, name: str, blocks: bool) -> Iterator[Threshold]:
        for inner in ast.walk(self.constants[name]):
            if isinstance(inner, ast.Constant):
                yield from self._sized(self._value(inner), blocks)

    def _sized(self, value: int | None, blocks: bool) -> Iterator[Threshold]:
        if value is not None and LEAST <= abs(value) <= MOST:
            yield Threshold(abs(value))
            if blocks:
                yield Threshold(abs(value), True)

    def _value(self, node: ast.AST, depth: int = 0) -> int | None:
        """The whole number that an expression of constants stands for."""
        if depth > 20:
            return None
        if isinstance(node, ast.Constant):
            return _whole(node.value)
        if isinstance(node, ast.Name):
            known = self.constants.get(node.id)
            return None if known is None else self._value(known, depth + 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._value(node.operand, depth + 1)
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            # T(300), np.int64(300), int(3e2)
            plain = isinstance(node.func, (ast.Name, ast.Attribute))
            return self._value(node.args[0], depth + 1) if plain else None
        if isinstance(node, ast.BinOp):
            return self._computed(node, depth)
        return None

    def _computed(self, node: ast.BinOp, depth: int) -> int | None:
        left, right = (self._value(n, depth + 1) for n in (node.left, node.right))
        if left is None or right is None:
            return None
        if isinstance(node.op, (ast.LShift, ast.Pow)):
            shift = isinstance(node.op, ast.LShift)
            small = 0 <= right < 32 and abs(left) < 1 << 20
            return (left << right if shift else int(left**right)) if small else None
        apply = _OPERATORS.get(type(node.op))
        return apply(left, right) if apply and (right or apply is not operator.floordiv) else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if abs(value) <= MOST and value == int(value) else None


def extra_specs(
    found: list[Threshold], dimensions: int, variants: int, block: int, choices: int = 0
) -> list[CaseSpec]:
    """All cases beyond the table: states and layouts at two sizes and what tells of the text's
    numbers, by turns, then all else that the numbers give.

    With `choices` of kernels for large arrays, there is each case for each of them, and one for
    what host functions choose themselves.
    """
    first, rest = size_specs(found, dimensions, variants, block)
    pairs = itertools.zip_longest(_states(dimensions, variants), first)
    early = [spec for pair in pairs for spec in pair if spec is not None]
    return for_each_choice([*early, *rest], FIRST, choices)


def small_ones(rows: list[CaseSpec]) -> list[CaseSpec]:
    """Those that a simulator has time for."""
    return [row for row in rows if _elements(row) <= MOST_FEW]


def with_large(rows: list[CaseSpec], dimensions: int) -> list[CaseSpec]:
    """The cases beyond the table, then the large ones."""
    return [*rows, *sorted(large_specs(dimensions), key=_elements)]


def _states(dimensions: int, variants: int) -> Iterator[CaseSpec]:
    """Every dtype, layout and form at two sizes, events at the first and at the last element."""
    two = [_along(45, 0, dimensions), _along(300, dimensions - 1, dimensions)]
    for k, row in enumerate(two):
        for variant in range(variants):
            yield replace(row, variant=variant, domain="normal", again=not variant)
            yield replace(row, variant=variant, domain="wide")
        for layout, ints in (("F", "index"), ("strided", "wrap"), ("reversed", "any"),
                             ("readonly", "index")):  # fmt: skip
            yield replace(row, layout=layout, ints=ints, variant=k % variants)
        yield replace(row, form="device", again=True, variant=k % variants)
        yield replace(row, form="alias")
        yield replace(row, form="overlap")
    for k, (place, kind) in enumerate(itertools.product(("first", "last"), KINDS)):
        yield replace(two[k % 2], event=f"{place} {kind}", ints="sorted")
    for row in two:
        yield replace(row, layout="F", form="device")
        yield replace(row, form="device-view")


def size_specs(
    found: list[Threshold], dimensions: int, variants: int, block: int
) -> tuple[list[CaseSpec], list[CaseSpec]]:
    """The cases that numbers give: some for each number along each axis, and all others, those with
    few elements first.

    `dimensions` are those with a size of their own, `block` the threads of a block along an axis.
    """
    plain = [t.size for t in found if not t.blocks and t.size >= LEAST_TOLD]
    first = [*_telling(plain, dimensions, variants)]
    rest: list[CaseSpec] = []
    for threshold in found:
        if threshold.blocks:
            rest += _in_blocks(threshold.size * block, dimensions)
        else:
            rest += _around(threshold.size, dimensions, variants)
    # each number has its turn before one of them has its many cases
    told = dict.fromkeys(sorted(first, key=_elements))
    others = dict.fromkeys(sorted(rest, key=_elements))
    return [*told], [spec for spec in others if spec not in told]


def _telling(numbers: list[int], dimensions: int, variants: int) -> Iterator[CaseSpec]:
    """Above each number along each axis: as most calls are, in another dtype and called again, then
    in the other memory order."""
    for sizes in _together(sorted({n + 1 for n in numbers}, reverse=True), dimensions):
        above = _spec(sizes)
        yield replace(above, domain="normal")
        yield replace(above, variant=1 % variants, again=True)
        yield replace(above, layout="F", form="device")


def _together(lengths: list[int], dimensions: int) -> Iterator[tuple[int, ...]]:
    """Sizes that have each length, the largest first, along each axis, several in one as long as
    there are few elements."""
    left = [[*lengths] for _ in range(dimensions)]
    while any(left):
        sizes = [0] * dimensions
        product = 1
        for axis in sorted(range(dimensions), key=lambda a: left[a][:1], reverse=True):
            fitting = [n for n in left[axis] if product == 1 or product * n <= MOST_TOGETHER]
            if fitting:
                sizes[axis] = fitting[0]
                left[axis].remove(fitting[0])
                product *= fitting[0]
        others = 5 if max(sizes) < 20_000 else 3
        yield tuple(n or others for n in sizes)


def _around(size: int, dimensions: int, variants: int) -> Iterator[CaseSpec]:
    """Below, at and above a number along each axis, in every dtype above it."""
    for axis in range(dimensions):
        after = _along(size + 1, axis, dimensions)
        yield replace(after, domain="normal")
        yield _along(size, axis, dimensions, variant=1 % variants)
        yield replace(_along(size - 1, axis, dimensions), domain="normal")
        yield _along(2 * size + 1, axis, dimensions, ends="largest")
        for variant in range(variants):
            # what one step does wrong, the next may undo
            yield replace(after, variant=variant, count=1)
        for variant in range(1, variants):
            yield replace(after, variant=variant, ints="sorted")
        yield replace(after, layout="F", form="device", again=True)
        yield replace(after, form="device-view")
        yield replace(after, layout="strided", ends="smallest")
    if dimensions > 1:
        yield _spec((size + 1,) + (1,) * (dimensions - 1))
        if (size + 1) ** dimensions <= MOST_SQUARE:
            yield _spec((size + 1,) * dimensions, count=size + 1, ints="wrap")
    if size <= MOST_STEPS:
        yield _spec((5, 7, 3), count=size + 1)
        yield _spec((5, 7, 3), count=size)
    if dimensions == 1:
        yield _spec((size + 1,), count=size + 1, ints="sorted")


def _in_blocks(size: int, dimensions: int) -> Iterator[CaseSpec]:
    if size <= MOST:
        for axis in range(dimensions):
            for length in (size, size + 1):
                yield _along(length, axis, dimensions)


def _along(size: int, axis: int, dimensions: int, **rest: object) -> CaseSpec:
    others = 5 if size < 20_000 else 3
    return _spec(tuple(size if k == axis else others for k in range(dimensions)), **rest)


def _spec(sizes: tuple[int, ...], **rest: object) -> CaseSpec:
    words = tuple(map(str, sizes))
    return CaseSpec(words, own=True, exact=True, points=1 << 40, **rest)  # type: ignore[arg-type]


def _elements(spec: CaseSpec) -> int:
    product = max(1, spec.count)
    for word in spec.sizes:
        product *= max(1, int(word))
    return product
