"""Inputs that an original takes, found by trying: for one that raises in all versions of a case.

Sizes and counts are drawn at random until it returns.  Then each is made larger, alone or with
others, which tells what depends on what: the cases keep to that, and have the sizes that they are
about otherwise.  Matrices are made positive definite where linear algebra asks for it.  Where no
draw returns, one is changed step by step such that the original gets further (see `_climbed`).
Nothing of it is a promise about the domain.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from porter.verify.inputs.arguments import Inputs, Parameter
from porter.verify.inputs.domains import Bound, Domain, Number, Value
from porter.verify.inputs.shapes import symbols

#: what sizes and counts are drawn from, at most so often; later with 1, which NumPy broadcasts
DRAWN = (2, 3, 4, 5, 6)
MOST_DRAWS = 300
#: seconds for all draws of a function
SECONDS = 1.0
#: what sizes are drawn from that are changed step by step, how often it begins again, and the
#: processor's seconds
SPREAD = (1, 2, 3, 5, 8, 12)
MOST_CLIMBS, CLIMBING = 40, 6.0
#: so many numbers are tried for each size in a step
MOST_NUMBERS = 24
#: so many ways of fitting sizes together are kept, and used in turn
MOST_KEPT = 2
#: how much larger a size is made, to see whether it may be
LARGER = (3, 8)
Sizes = dict[str, int]


@dataclass(frozen=True)
class Taken:
    """What an original takes: sizes and counts that work, groups of them that may all be larger by
    the same number, and whether matrices are positive definite."""

    sizes: tuple[tuple[str, int], ...]
    groups: tuple[tuple[str, ...], ...] = ()
    definite: bool = False

    def fitted(self, sizes: Mapping[str, int]) -> Sizes:
        """All sizes and counts for a case with these sizes of its own."""
        fitted = dict(self.sizes)
        for group in self.groups:
            more = next((sizes[name] - fitted[name] for name in group if name in sizes), 0)
            fitted |= {name: fitted[name] + max(more, 0) for name in group}
        return fitted


@dataclass(frozen=True)
class Stop:
    """How far an original got that raised: the lines of its source where it was, how many axes of
    the arrays that it had there are not empty, and which numbers these arrays tell."""

    lines: tuple[int, ...]
    filled: int
    numbers: tuple[int, ...]

    @property
    def reached(self) -> tuple[tuple[int, ...], int]:
        """What is compared."""
        return self.lines, self.filled


def stop_of(error: BaseException, file: str) -> Stop:
    """Where in a file an exception was raised."""
    lines: list[int] = []
    held: dict[str, object] = {}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
            held = trace.tb_frame.f_locals
        trace = trace.tb_next
    shapes = [v.shape for v in held.values() if isinstance(v, np.ndarray)]
    counts = [n for shape in shapes for n in shape]
    whole = [v for v in held.values() if type(v) is int and v > 0]
    numbers = dict.fromkeys(counts)
    for shape in shapes:
        # what several axes make one of, and what is left of them beside a number
        rest = [math.prod(shape[k:]) for k in range(len(shape))]
        numbers |= dict.fromkeys([*rest, *(n // k for n in rest[:1] for k in whole if n % k == 0)])
    return Stop(tuple(lines), sum(n > 0 for n in counts), tuple(n for n in numbers if n > 0))


def variables(parameters: list[Parameter]) -> list[str]:
    """The dimensions, and the integers that are no dimensions."""
    counts = [p.name for p in parameters if p.type.kind == "scalar" and p.type.letter in "iu"]
    return [*symbols(e for p in parameters for e in p.dims), *map(_value_of, counts)]


def _value_of(name: str) -> str:
    """An integer, beside a dimension that may have its name."""
    return f"value of {name}"


def conditions(sizes: Mapping[str, int], parameters: list[Parameter]) -> Domain:
    """The values of the integers among them."""
    counts = {p.name: sizes.get(_value_of(p.name)) for p in parameters}
    known = ((name, n) for name, n in counts.items() if n is not None)
    return Domain(tuple(Bound(Value(name), "==", Number(n)) for name, n in known))


def search(
    names: list[str],
    raises: Callable[[Taken], BaseException | None],
    rng: np.random.Generator,
    file: str = "",
) -> list[Taken]:
    """The ways of fitting sizes together that were found; `raises` calls the original, whose source
    is in a file."""
    kept: list[Taken] = []
    until = time.process_time() + SECONDS
    definite = False
    for sizes in _drawn(names, rng):
        narrow = 1 in sizes.values() and kept
        if len(kept) == MOST_KEPT or narrow or time.process_time() > until:
            break
        found = Taken(tuple(sizes.items()), definite=definite)
        error = raises(found)
        if isinstance(error, np.linalg.LinAlgError) and not definite:
            definite, found = True, replace(found, definite=True)
            error = raises(found)
        if error is None:
            whole = _grouped(found, raises)
            if whole.groups not in [k.groups for k in kept]:
                kept.append(whole)
    if not kept and file:
        climbed = _climbed(names, raises, rng, file, definite)
        kept += [_grouped(climbed, raises)] if climbed else []
    return kept


def _climbed(
    names: list[str],
    raises: Callable[[Taken], BaseException | None],
    rng: np.random.Generator,
    file: str,
    definite: bool,
) -> Taken | None:
    """Sizes that were changed one by one, each so that the original gets further than before.

    What it has computed by then tells which numbers may fit: `reshape` wants a product of lengths.
    """
    until = time.process_time() + CLIMBING
    for k in range(MOST_CLIMBS):
        few = rng.choice(SPREAD, 3 + k % 3, replace=False)
        drawn = rng.choice(few, len(names))
        found = Taken(tuple((n, int(v)) for n, v in zip(names, drawn, strict=True)), (), definite)
        error = raises(found)
        while error is not None:
            step = _further(found, stop_of(error, file), raises, rng, file, until)
            if step is None:
                break
            found, error = step
        if error is None or time.process_time() > until:
            return None if error else found
    return None


def _further(
    found: Taken,
    stop: Stop,
    raises: Callable[[Taken], BaseException | None],
    rng: np.random.Generator,
    file: str,
    until: float,
) -> tuple[Taken, BaseException | None] | None:
    """With one size changed such that the original gets further, and what it raises then."""
    numbers = dict.fromkeys((*stop.numbers[:MOST_NUMBERS], *SPREAD))
    for k in rng.permutation(len(found.sizes)):
        name, size = found.sizes[k]
        for number in numbers:
            if number != size and time.process_time() < until:
                sizes = (*found.sizes[:k], (name, number), *found.sizes[k + 1 :])
                other = replace(found, sizes=sizes)
                error = raises(other)
                if error is None or stop_of(error, file).reached > stop.reached:
                    return other, error
    return None


def _drawn(names: list[str], rng: np.random.Generator) -> Iterator[Sizes]:
    for size in (5, 4):
        yield dict.fromkeys(names, size)
    for numbers in (DRAWN, (1, *DRAWN)):
        for k in range(MOST_DRAWS):
            # of few numbers more are equal
            few = rng.choice(numbers, 2 + k % 2, replace=False)
            drawn = rng.choice(few, len(names))
            yield {name: int(n) for name, n in zip(names, drawn, strict=True)}


def _grouped(found: Taken, raises: Callable[[Taken], BaseException | None]) -> Taken:
    """With the groups of sizes that may be larger."""
    sizes = dict(found.sizes)

    def free(group: list[str]) -> bool:
        larger = (sizes | {n: sizes[n] + more for n in group} for more in LARGER)
        return all(raises(replace(found, sizes=tuple(s.items()))) is None for s in larger)

    left = list(sizes)
    groups: list[tuple[str, ...]] = []
    alone = [[name] for name in left]
    equal = [[n for n in left if sizes[n] == size] for size in dict.fromkeys(sizes.values())]
    pairs = [list(p) for p in itertools.combinations(left, 2) if sizes[p[0]] == sizes[p[1]]]
    until = time.process_time() + SECONDS
    for group in (*alone, *equal, left, *pairs):
        if group in pairs and time.process_time() > until:
            break
        rest = [name for name in group if name in left]
        if rest and (len(rest) > 1 or group in alone) and free(rest):
            groups.append(tuple(rest))
            left = [name for name in left if name not in rest]
    return replace(found, groups=tuple(groups))


def made_definite(inputs: Inputs) -> Inputs:
    """Square matrices multiplied by their own transposes, and well away from singular ones."""
    arguments = []
    for argument in inputs.arguments:
        value = argument.value
        square = isinstance(value, np.ndarray) and value.ndim > 1 and len(set(value.shape[-2:])) < 2
        if square and value.dtype.kind in "fc":
            product = value @ np.conj(np.swapaxes(value, -1, -2))
            product = product + value.shape[-1] * np.eye(value.shape[-1])
            argument = replace(argument, value=product.astype(value.dtype))
        arguments.append(argument)
    return replace(inputs, arguments=tuple(arguments))
