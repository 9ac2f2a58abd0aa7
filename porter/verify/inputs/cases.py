"""The kinds of input that a verification goes through: one row of `TABLE` per case.

Sizes are words: a number, or `B` (a block of the module) with an offset, or `3B+7`.
Each symbolic dimension of a function takes the next word of its row, in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

T = TypeVar("T")

#: what stands in for these constants of a module in most cases: the simulator is fast then,
#: and a grid with few blocks makes grid-stride loops go round
SMALL_BLOCKS = {
    "THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 4, "TILE": 4, "EACH": 2, "EACH_LARGE": 3,
    "STRIP": 2, "MOST_PARTIALS": 3, "MAX_BLOCKS": 3, "MOST_STATES": 24, "TIME_ROWS": 10,
    "TIME_COLUMNS": 11, "LINE_HALO": 4, "LINE_TILE": 11, "PANEL": 18, "WIDTH": 2,
    "LAST_TURNS": 2,
}  # fmt: skip
#: what stands in for them in cases with more blocks than a block has threads
MANY_BLOCKS = {
    "THREADS": 4, "MANY_THREADS": 4, "BLOCK_X": 2, "TILE": 2, "EACH": 2, "EACH_LARGE": 3,
    "STRIP": 2, "MOST_PARTIALS": 16, "MAX_BLOCKS": 40, "MOST_STATES": 64, "TIME_ROWS": 13,
    "TIME_COLUMNS": 9, "LINE_HALO": 6, "LINE_TILE": 17, "PANEL": 10, "WIDTH": 2,
    "LAST_TURNS": 1,
}  # fmt: skip
#: those of them that limit a grid: a kernel whose grid is cut loops over the rest
GRID_LIMITS = ("MOST_PARTIALS", "MAX_BLOCKS")
#: constants that only host functions read, to choose between kernels, and what makes them take
#: those for large arrays; one of them at a time
CHOICES = {"LARGE": 1, "LONG": 0, "SHORT": 0, "ALONE": 0, "CROWD": 0, "CHUNK_BYTES": 100,
           "ROOM_BYTES": 200}  # fmt: skip
#: cases beyond the table are numbered from here: past its repetitions and the large cases
FIRST = 2_000_000
#: cases of signatures that the table leaves out are numbered from here
VARIANTS = 3_000_000
#: cases of strided arrays, which kernels are compiled for, are numbered from here
STRIDED = 3_500_000
#: no case makes more grid points than this (the product of all distinct dimensions)
MOST_POINTS = 8000
#: the same of a case in which two axes cross the borders of tiles of a usual size
TILED_POINTS = 50_000
#: a case whose loops launch too many kernels has an eighth of its points, down to this number
FEWEST_POINTS = 64
#: what a dimension is cut to when a case is too large, and then what all of them are cut to
CUT = 5
ALL_CUT = (3, 2)


@dataclass(frozen=True)
class CaseSpec:
    """One case.

    `sizes` are size words, `block` the constant that B stands for; `variant` counts through
    the signatures; `layout` is C, F, strided, reversed, offset, broadcast or readonly; `domain`
    of floats is positive, normal, wide, negative (far below zero), round (ties, and
    numbers that the source mentions) or special; `ints` is index, wrap (negative indices too),
    beyond (also out of range), sorted, any or extreme;
    `most` is the largest integer scalar (often a count of steps), and with `negative` no real
    scalar is above zero; `form` is host, alias, list, device or device-view; `own` keeps the
    module's own blocks, `many` makes small ones in a grid of more blocks than a block has
    threads, and with `own` cuts the grid; `turned` says that the sizes were turned round because
    the case was too costly; `points` is how many grid points it may have; `ends` says what floats
    have at the end of every axis, the largest or the smallest, so that an extremum shows whether a
    loop reaches the end;
    `below` lets bounds of slices that stand in an array lie beyond its ends; with `exact` the
    sizes are what the case is about: they are neither turned round nor cut; `again` calls a
    second time with other numbers in the same arrays; `count` is every integer scalar, if it is
    not 0; `event` puts what is unlike all other elements first or last; `definite` makes square
    matrices positive definite, as factorisations ask for.
    """

    sizes: tuple[str, ...]
    block: str = "THREADS"
    variant: int = 0
    layout: str = "C"
    domain: str = "positive"
    ints: str = "index"
    form: str = "host"
    most: int = 6
    negative: bool = False
    own: bool = False
    many: bool = False
    turned: bool = False
    points: int = MOST_POINTS
    ends: str = ""
    below: bool = False
    exact: bool = False
    again: bool = False
    count: int = 0
    event: str = ""
    definite: bool = False
    number: int = 0

    def choice(self, among: Sequence[T]) -> T | None:
        """The choice that takes kernels for large arrays: two cases of four have one.

        One of the two has a cut grid on compiled kernels (see `with_own_blocks`).
        """
        turn = self.number // 2 % (2 * len(among)) if among else 1
        return None if turn % 2 else among[turn // 2]


def _row(sizes: str, block: str = "THREADS", **rest: object) -> CaseSpec:
    return CaseSpec(tuple(sizes.split()), block, **rest)  # type: ignore[arg-type]


TABLE: tuple[CaseSpec, ...] = (
    _row("5 7 3", again=True),
    _row("B+1 5 B", "TILE", domain="normal", ints="sorted", variant=1, definite=True),
    _row("0", most=0),
    _row("1"),
    _row("6B+7 2B+1 5", many=True, ints="sorted", most=40),
    _row("B 3 7", domain="round", layout="strided", ints="any", most=12),
    _row("B+1 2 5", layout="reversed", domain="negative", ints="wrap"),
    _row("3B+7 5 2", domain="normal", ints="extreme", variant=1, ends="largest", definite=True),
    _row("3B+7 3B+5 B", "TILE", layout="F", domain="round", variant=1, negative=True),
    _row("2 3B+7 5", domain="normal", form="device", ends="smallest", below=True, again=True),
    _row("7 5 3", domain="special", ints="beyond", below=True),
    _row("5 1 0", domain="normal", ints="sorted", layout="offset"),
    _row("5", form="alias"),
    _row("0 3 5", variant=1, most=1),
    _row("3 0 5"),
    _row("B+1 3", own=True, domain="normal", definite=True),
    _row("B-1 B+1 B-1", "TILE", domain="wide", variant=1, layout="reversed"),
    _row("1 6 4", ints="extreme", form="device-view"),
    _row("6 4 5", form="list"),
    _row("3 B+1 17", "TILE", own=True, variant=1),
    _row("2 B-1 3", domain="special", variant=1, layout="broadcast", ints="wrap"),
    _row("B 3B+7 B", "TILE", domain="normal", ints="any", layout="readonly", ends="largest"),
    _row("3B+7 2", ints="sorted", layout="strided", form="alias", domain="round", ends="smallest"),
    _row("3 B+1", own=True, domain="normal", layout="F"),
)


def _large(sizes: str, **rest: object) -> CaseSpec:
    return replace(_row(sizes, **rest), own=True, points=8_000_000)  # type: ignore[arg-type]


#: cases that only the emulator can run: the module's own blocks, up to a million threads
LARGE: tuple[CaseSpec, ...] = (
    _large("1021 977 5", domain="normal", ints="sorted", definite=True),
    _large("3 100003 5", domain="negative", layout="strided", variant=1),
    _large("20011 53 17", domain="special", variant=2),
    _large("500 601 3", ints="sorted", form="device", variant=3),
)
#: the same where arrays have one axis only
LARGE_LINES: tuple[CaseSpec, ...] = (
    _large("1000003", domain="normal", ints="sorted"),
    _large("300007", domain="negative", layout="strided", variant=1),
    _large("70001", domain="special", variant=2),
    _large("500009", ints="sorted", form="device", variant=3),
)


def large_specs(dimensions: int) -> list[CaseSpec]:
    """The large cases of a function whose arrays have so many sizes of their own."""
    rows = LARGE if dimensions > 1 else LARGE_LINES
    # numbered from where the table's repetitions do not reach
    return [replace(row, number=1_000_000 + k) for k, row in enumerate(rows)]


def smaller(spec: CaseSpec) -> CaseSpec | None:
    """A large case with a tenth of its sizes; None when it is no longer large."""
    if spec.points <= MOST_POINTS or any("B" in word for word in spec.sizes):
        return None
    sizes = tuple(str(-(-int(word) // 10)) for word in spec.sizes)
    return replace(spec, sizes=sizes, points=spec.points // 10)


def specs(count: int, forms: Sequence[int] = (1,)) -> list[CaseSpec]:
    """The first `count` cases; past the table it starts again with other random values.

    Of a function with several forms each has so many cases; `forms` are how many signatures each
    of them has, which follow each other.
    """
    if len(forms) == 1:
        return [replace(TABLE[k % len(TABLE)], number=k) for k in range(count)]
    rows: list[CaseSpec] = []
    for k in range(count):
        row, first = TABLE[k % len(TABLE)], 0
        for size in forms:
            rows.append(replace(row, number=len(rows), variant=first + row.variant % size))
            first += size
    return rows


def further(table: Sequence[CaseSpec], variants: int) -> list[CaseSpec]:
    """A case for each signature that none of a table has."""
    seen = {spec.variant % variants for spec in table}
    row = _row("3B+7 5 2", ints="sorted")
    left = [k for k in range(variants) if k not in seen]
    return [replace(row, variant=k, number=VARIANTS + k) for k in left]


def strided(choices: int) -> list[CaseSpec]:
    """Arrays of the device with gaps, for each choice of kernels: all are compiled for this layout,
    which serves arrays in any order."""
    return for_each_choice([_row("3B+7 5 2", form="device-view")], STRIDED, choices)


def for_each_choice(rows: Sequence[CaseSpec], first: int, choices: int) -> list[CaseSpec]:
    """Cases with numbers from `first` on: each for what host functions choose themselves, then for
    each choice of kernels for large arrays (see `CaseSpec.choice`)."""
    if not choices:
        return [replace(row, number=first + k) for k, row in enumerate(rows)]
    each = 4 * choices
    base = -(-first // each) * each
    turns = [2, *(4 * k for k in range(choices))]
    return [replace(row, number=base + each * k + turn) for k, row in enumerate(rows)
            for turn in turns]  # fmt: skip


def with_own_blocks(spec: CaseSpec) -> CaseSpec:
    """A case for compiled kernels: its sizes cross the borders of the module's own blocks.

    Every second one, and all with tiles, has a grid that is cut: kernels loop over the rest.
    """
    if spec.own or not any("B" in word for word in spec.sizes):
        return spec
    tiled = spec.block == "TILE"
    points = TILED_POINTS if tiled else spec.points
    many = spec.many or tiled or spec.number % 2 == 1
    return replace(spec, own=True, many=many, points=points)


def retries(spec: CaseSpec) -> list[CaseSpec]:
    """Tamer versions of a case, tried in turn while the original raises."""
    plain = replace(spec, layout="C", form="host", own=False, many=False, most=6, negative=False)
    few = ("3B+7", "B") if spec.number % 3 == 0 else ("B",)
    if spec.exact:
        same = replace(spec, domain="positive", ints="index", event="")
        return [spec, same, replace(same, ints="sorted"), replace(same, ints="ones")]
    return [
        spec,
        replace(spec, domain="positive", ints="index", most=6, negative=False),
        replace(plain, sizes=("7",), domain="positive", ints="index"),
        replace(plain, sizes=("B+1", "5", "B"), domain="positive", ints="sorted"),
        # small numbers are indices of whatever has a size that only a scalar tells
        replace(plain, sizes=few, domain="positive", ints="ones"),
        replace(plain, sizes=("3B+7", "3B"), domain="positive", ints="index"),
    ]


def searched(spec: CaseSpec) -> list[CaseSpec]:
    """Versions of a case for an original that takes few inputs, by what its checks say first."""
    plain = replace(spec, layout="C", form="host", own=False, many=False, negative=False)
    tame = replace(plain, domain="positive", ints="index", most=6)
    return [
        spec,
        replace(spec, domain="positive", ints="index", most=6, negative=False),
        replace(plain, domain="normal", ints="any", most=40),
        # sizes that many numbers divide, and a power of two
        *(replace(tame, sizes=(size,)) for size in ("12", "16", "30")),
        replace(tame, sizes=("7",), ints="ones"),
    ]


def tame(spec: CaseSpec) -> list[CaseSpec]:
    """A case as it is, then with what hardly any function refuses but for its sizes."""
    plain = replace(spec, layout="C", form="host", domain="positive", ints="ones", negative=False)
    few = replace(plain, sizes=("B",), own=False, many=False, most=6)
    return [spec, plain, few]


def extent(word: str, block: int) -> int:
    """The number that a size word stands for."""
    if "B" not in word:
        return int(word)
    factor, _, offset = word.partition("B")
    return int(factor or 1) * block + int(offset or 0)


def choose_sizes(
    names: list[str], spec: CaseSpec, blocks: dict[str, int], least: dict[str, int]
) -> dict[str, int]:
    """A size for every symbolic dimension, at most `MOST_POINTS` grid points together."""
    block = blocks.get(spec.block) or blocks.get("BLOCK_X") or SMALL_BLOCKS[spec.block]
    if spec.block == "TILE" and not blocks.keys().isdisjoint(CHOICES):
        # the edge of the wide or the large tiles
        block *= max(blocks.get(name, 1) for name in ("EACH", "EACH_LARGE"))
    chosen = {
        name: max(extent(spec.sizes[k % len(spec.sizes)], block), least.get(name, 0))
        for k, name in enumerate(names)
    }
    for name in sorted(chosen, key=lambda n: chosen[n], reverse=True)[1:]:
        if _points(chosen) > spec.points:
            chosen[name] = min(chosen[name], CUT)
    for cut in ALL_CUT:
        # so many dimensions that a cut of one helps little: what must be equal stays equal
        if CUT ** len(names) > spec.points < _points(chosen):
            chosen = {name: min(n, cut) for name, n in chosen.items()}
    return chosen


def _points(sizes: dict[str, int]) -> int:
    product = 1
    for size in sizes.values():
        product *= max(size, 1)
    return product
