"""The launches of a kernel on the PTX machine, as the counts of one call."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from porter.bench.child.recording import Launch, Series
from porter.bench.child.sampling import Tally, sample, steady
from porter.bench.child.virtual import Array
from porter.bench.records import KernelCounts
from porter.bench.request import CountRequest
from porter.ptx.errors import MachineError, Unsupported
from porter.ptx.machine.arguments import Layout, flattened
from porter.ptx.machine.counts import WARP
from porter.ptx.machine.launch import launch as machine
from porter.ptx.machine.task import Code
from porter.verify.compile.assembly import link_log
from porter.verify.compile.ptx_report import resources
from porter.verify.compile.texts import Text, read, serves

_TURNS = "of long loops some turns were executed, and stand for all"
_UNSTEADY = "what these turns store decides what is executed: counts may be off"
#: the first byte of some memory, and the one after the last
Span = tuple[int, int]


class Uncompiled(Exception):
    """Launches have no compiled kernel yet."""

    def __init__(self, launches: list[Launch]) -> None:
        super().__init__(launches)
        self.launches = launches


class Failed(Exception):
    """Nothing can be counted; the text says why."""


@dataclass
class Traffic:
    """Bytes that the launches of a kernel read and write, by the address of their array."""

    read: dict[int, float]
    written: dict[int, float]


@dataclass
class Counted:
    """A kernel's counts and its traffic."""

    counts: KernelCounts
    traffic: Traffic

    def to_json(self) -> dict[str, Any]:
        """The fields of the counts."""
        return asdict(self.counts)


@dataclass(frozen=True)
class Argument:
    """An array that a call was given, or gave."""

    array: Array

    @property
    def address(self) -> int:
        """Where it lies."""
        return int(self.array.ctypes.data)


class Counter:
    """Runs compiled kernels of one architecture."""

    def __init__(self, request: CountRequest) -> None:
        self.folder, self.arch = Path(request.texts), request.arch
        self.layout: Layout = "mlir" if request.layout == "mlir" else "numba"
        #: whether sampled blocks lack what other blocks compute: these run first
        self.whole = False
        #: how kernels were counted
        self.notes: set[str] = set()
        self._texts: list[Text] = []
        self._asked: set[str] = set()
        self._codes: dict[str, Code] = {}
        self._resources: dict[str, dict[str, int | None]] = {}

    def need(self, launches: Sequence[Launch]) -> None:
        """Raise `Uncompiled` if some of the launches have no kernel."""
        missing = [launch for launch in launches if self._found(launch) is None]
        if missing:
            raise Uncompiled(missing)

    def wanted(self, launches: Sequence[Launch]) -> list[dict[str, Any]]:
        """What to compile for launches."""
        wanted = {_key(x): {"kernel": x.kernel, "types": x.types} for x in launches}
        self._asked |= wanted.keys()
        return list(wanted.values())

    def _found(self, launch: Launch) -> Text | None:
        """The compiled kernel of a launch; None where it has to be asked for."""
        if self.folder.is_dir() and len(list(self.folder.glob("*.json"))) != len(self._texts):
            self._texts = read(self.folder)
        known = [t for t in self._texts if t.arch == self.arch and t.kernel == launch.kernel]
        exact = [t for t in known if t.types == launch.types]
        found = next(iter(exact or [t for t in known if serves(t.types, launch.types)]), None)
        if found is None and _key(launch) in self._asked:
            raise Failed(f"`{launch.kernel}` was not compiled")
        return found

    def _text(self, launch: Launch) -> Text:
        self.need([launch])
        found = self._found(launch)
        assert found is not None, "the launch was compiled"
        return found

    def _code(self, text: Text) -> Code:
        if text.ptx not in self._codes:
            self._codes[text.ptx] = Code(text.ptx)
        return self._codes[text.ptx]

    def execute(self, launch: Launch) -> None:
        """Run all blocks of a launch.  Raises `Uncompiled` or `Failed`."""
        code = self._code(self._text(launch))
        try:
            machine(
                code, launch.grid, launch.block, launch.args, names=launch.names,
                dynamic=launch.dynamic, layout=self.layout,
            )  # fmt: skip
        except (Unsupported, MachineError) as error:
            raise Failed(f"`{launch.kernel}`: {error}") from None

    def dependent(self, every: Iterable[Series]) -> bool:
        """Whether values that launches compute decide what others execute."""
        launches = [launch for series in every for launch, _ in series.chosen()]
        used = [(launch, *self._spans(launch)) for launch in launches]
        return any(
            _meet(deciding, written)
            for (one, deciding, _), (other, _, written) in itertools.product(used, used)
            if one is not other
        )

    def _spans(self, launch: Launch) -> tuple[list[Span], list[Span]]:
        """The memory whose values decide what a launch does, and that it writes."""
        code = self._code(self._text(launch))
        found, places = code.origins, code.program.places
        values, arrays = flattened(launch.args, launch.names, self.layout)
        at = dict(zip(places.parameters.values(), values, strict=True))
        spans = {int(a.ctypes.data): byte_bounds(a) for _, a in arrays if a.nbytes}
        return (
            [spans[int(at[o])] for o in found.deciding if o in at and int(at[o]) in spans],
            [spans[int(at[o])] for o in found.written if o in at and int(at[o]) in spans],
        )

    def kernel(self, name: str, series: Series) -> Counted:
        """All launches of a kernel.  Raises `Uncompiled` or `Failed`."""
        tallies: list[tuple[Tally, float, Launch]] = []
        for launch, weight in series.chosen():
            code = self._code(self._text(launch)).for_counts
            try:
                tally = sample(
                    code, launch.grid, launch.block, launch.args, names=launch.names,
                    dynamic=launch.dynamic, layout=self.layout,
                )  # fmt: skip
            except (Unsupported, MachineError) as error:
                raise Failed(f"`{name}`: {error}") from None
            if tally.turns:
                self.notes |= {_TURNS} if steady(code) else {_TURNS, _UNSTEADY}
            tallies.append((tally, weight, launch))
        largest = series.largest
        assert largest is not None, "a series has a launch"
        return self._joined(name, series, tallies, largest)

    def _joined(
        self, name: str, series: Series, tallies: list[tuple[Tally, float, Launch]],
        largest: Launch,
    ) -> Counted:  # fmt: skip
        classes: dict[str, float] = {}
        sums: dict[str, float] = {}
        traffic = Traffic({}, {})
        moved = elements = 0.0
        for tally, weight, launch in tallies:
            _add(classes, tally.classes, weight)
            _add(sums, tally.sums, weight)
            _add(traffic.read, tally.capped(tally.read), weight)
            _add(traffic.written, tally.capped(tally.written), weight)
            moved += weight * tally.bytes
            elements += weight * _elements(tally, launch.args)
        used = self._used(self._text(tallies[0][2]))
        instructions, launches = sum(classes.values()), sum(w for _, w, _ in tallies)
        counts = KernelCounts(
            name, series.count, math.prod(largest.grid), math.prod(largest.block), classes,
            sums["warps"], elements, moved, sums["requests"], sums["sectors"],
            sums["ideal_sectors"], sums["bank_conflicts"], sums["barriers"],
            sum(w * t.longest for t, w, _ in tallies) / launches,
            sum(w * t.waits for t, w, _ in tallies) / launches,
            instructions / (WARP * sums["warps"]) if sums["warps"] else 1.0,
            used["registers"], used["spill_bytes"], (used["shared_bytes"] or 0) + largest.dynamic,
            any(t.sampled or t.turns for t, _, _ in tallies) or len(tallies) < series.count,
            series.arrays, series.replayed,
        )  # fmt: skip
        return Counted(counts, traffic)

    def _used(self, text: Text) -> dict[str, int | None]:
        if text.ptx not in self._resources:
            self._resources[text.ptx] = resources(link_log(text.ptx, self.arch))
        return self._resources[text.ptx]


def _meet(one: Sequence[Span], other: Sequence[Span]) -> bool:
    return any(a[0] < b[1] and b[0] < a[1] for a in one for b in other)


def _key(launch: Launch) -> str:
    return f"{launch.kernel} {launch.types}"


def _add(found: dict[Any, float], more: dict[Any, float], weight: float) -> None:
    for key, number in more.items():
        found[key] = found.get(key, 0.0) + weight * number


def _elements(tally: Tally, args: Sequence[Any]) -> float:
    """The elements that a launch touches of the array of which it touches most."""
    sizes = {
        int(a.ctypes.data): a.itemsize for a in _flat(args) if isinstance(a, np.ndarray) and a.size
    }
    touched = [*tally.capped(tally.read).items(), *tally.capped(tally.written).items()]
    return max((number / sizes.get(low, 8) for low, number in touched), default=0.0)


def _flat(args: Sequence[Any]) -> list[Any]:
    return [p for a in args for p in (_flat(a) if isinstance(a, tuple) else [a])]


def least(
    traffics: Sequence[Traffic], arguments: Sequence[Argument], results: Sequence[Argument]
) -> float:
    """Each input that is read once, each output once, as far as the launches touch them."""
    total = 0.0
    known = {a.address: a.array.nbytes for a in (*arguments, *results)}
    inputs = {a.address for a in arguments}
    for address, size in known.items():
        read = sum(t.read.get(address, 0.0) for t in traffics)
        written = sum(t.written.get(address, 0.0) for t in traffics)
        total += min(size, read) if address in inputs else 0.0
        total += min(size, written)
    return total
