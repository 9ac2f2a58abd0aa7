"""A host function runs without a GPU and without its arrays: what it launches is recorded.

Only the counting child imports this module.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator.cudadrv import devicearray

from porter.bench.child.operations import Total
from porter.bench.child.virtual import Array, zeros
from porter.verify.engines import simulator
from porter.verify.engines.launches import argument_type

#: launches of a kernel that are kept; beyond twice as many every second one is dropped
KEPT = 8
#: launches of a call that are recorded before it counts as endless
MOST = 2_000_000
#: bytes that a GPU has; more cannot be allocated
MOST_BYTES = 256 << 30


class TooLarge(Exception):
    """The arrays of a call do not fit a GPU."""


class Endless(Exception):
    """A call launches kernels again and again."""


@dataclass
class Launch:
    """One launch, with its place among those of its kernel."""

    place: int
    kernel: str
    names: tuple[str, ...]
    types: list[dict[str, Any]]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic: int
    args: tuple[Any, ...]
    replayed: bool = False

    @property
    def arrays(self) -> int:
        """The arrays that the host gives, none where a graph replays the launch."""
        return 0 if self.replayed else sum(isinstance(a, np.ndarray) for a in self.args)

    @property
    def threads(self) -> int:
        """Threads of all blocks."""
        return math.prod(self.grid) * math.prod(self.block)

    def alike(self, other: Launch) -> bool:
        """Whether two launches differ in nothing that decides what is executed."""
        return (
            self.grid == other.grid
            and self.block == other.block
            and self.types == other.types
            and len(self.args) == len(other.args)
            and all(map(_same, self.args, other.args))
        )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.strides == other.strides
    if isinstance(one, float | np.floating | complex | np.complexfloating):
        return True
    return type(one) is type(other) and bool(one == other)


@dataclass
class Series:
    """The launches of one kernel: how many, how many threads in all, and some of them."""

    count: int = 0
    step: int = 1
    #: the first launch of each kind, and how many there are; None if there are too many kinds
    kinds: list[tuple[Launch, int]] | None = field(default_factory=list)
    kept: list[Launch] = field(default_factory=list)
    last: Launch | None = None
    #: threads of launches from each kept one to the next
    threads: list[int] = field(default_factory=list)
    largest: Launch | None = None
    arrays: int = 0
    replayed: int = 0

    def add(self, launch: Launch) -> None:
        """Note one launch."""
        self._sort(launch)
        if self.count % self.step == 0:
            self.kept.append(launch)
            self.threads.append(0)
        self.threads[-1] += launch.threads
        if self.largest is None or launch.threads > self.largest.threads:
            self.largest = launch
        self.count, self.last = self.count + 1, launch
        self.arrays += launch.arrays
        self.replayed += launch.replayed
        if len(self.kept) > 2 * KEPT:
            self.kept = self.kept[::2]
            pairs = [*self.threads, 0]
            self.threads = [sum(pairs[k : k + 2]) for k in range(0, len(self.threads), 2)]
            self.step *= 2

    def _sort(self, launch: Launch) -> None:
        """Count a launch among its like: those of an inner loop come again in each outer turn."""
        if self.kinds is None:
            return
        for k, (first, count) in enumerate(self.kinds):
            if launch.alike(first):
                self.kinds[k] = first, count + 1
                return
        self.kinds = None if len(self.kinds) > 2 * KEPT else [*self.kinds, (launch, 1)]

    def chosen(self) -> Iterator[tuple[Launch, float]]:
        """Launches that stand for all, each with how many of its like there are.

        Between two of them counts are on a line, as those of a shrinking triangle are.
        """
        if self.kinds is not None:
            yield from ((launch, float(count)) for launch, count in self.kinds)
            return
        assert self.last is not None, "launches that differ are several"
        ends = [*self.kept[1:], self.last]
        weights = {launch.place: 0.0 for launch in (*self.kept, self.last)}
        for k, (launch, end) in enumerate(zip(self.kept, ends, strict=True)):
            number = min(self.step, self.count - k * self.step)
            # the last one belongs to what it ends, the others begin the next
            share = 0.5 if k == len(self.kept) - 1 else 0.5 - 0.5 / number
            weights[launch.place] += (1 - share) * self.threads[k] / launch.threads
            weights[end.place] += share * self.threads[k] / end.threads
        every = {launch.place: launch for launch in (*self.kept, self.last)}
        for place, weight in weights.items():
            yield every[place], weight


@dataclass
class Memory:
    """Arrays that a call allocates, and results in the memory of earlier ones."""

    allocations: int = 0
    reused: int = 0


@dataclass
class Libraries:
    """What libraries do in a call: on the host the seconds of each function's calls; on the device
    operations by their names, and the bytes that they read and write, by the address of the array.
    """

    host: dict[str, list[float]] = field(default_factory=dict)
    device: dict[str, Total] = field(default_factory=dict)
    read: dict[int, float] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)


@dataclass
class Recording:
    """What one call does."""

    series: dict[str, Series] = field(default_factory=dict)
    launches: int = 0
    memory: Memory = field(default_factory=Memory)
    read_backs: int = 0
    #: copies to the host that may decide what is launched later
    decisive: int = 0
    pending: int = 0
    #: whether something was launched after such a copy
    followed: bool = False
    #: whether launches are executed
    executed: bool = False
    #: whether a graph replays what is launched now
    replaying: bool = False
    libraries: Libraries = field(default_factory=Libraries)

    def note(self, launch: Launch) -> None:
        """Note a launch; raises `Endless`."""
        self.launches += 1
        if self.launches > MOST:
            raise Endless
        self.decisive, self.pending = self.decisive + self.pending, 0
        self.followed = self.decisive > 0
        self.series.setdefault(launch.kernel, Series()).add(launch)

    def copied(self, array: Array) -> None:
        """Note a copy to the host."""
        self.read_backs += 1
        if self.launches and array.size <= 1:
            self.decisive += 1
        elif self.launches:
            self.pending += 1


Run = Callable[[Launch], None]


class Recorder:
    """Stands where launches, allocations and copies are made; `run` executes launches if given."""

    def __init__(self) -> None:
        self.now: Recording | None = None
        self.run: Run | None = None
        self.host = devicearray.FakeCUDAArray.copy_to_host
        simulator.install()
        simulator.EMULATED.append(self._launch)
        cuda.device_array = devicearray.device_array = self._device_array
        cuda.to_device = devicearray.to_device = self._to_device
        cuda.device_array_like = self._like
        devicearray.FakeCUDAArray.copy_to_host = self._copying()

    @contextmanager
    def recording(self, run: Run | None) -> Iterator[Recording]:
        """Record what is done meanwhile."""
        self.now, self.run = Recording(executed=run is not None), run
        try:
            yield self.now
        finally:
            self.now = self.run = None

    def repeat(
        self, turn: Callable[[Any], None], count: int, stream: Any, period: int = 1,
        settled: int = 0, graph: bool = True,
    ) -> None:  # fmt: skip
        """What a module's `_repeat` does on a GPU: the helper of the template, launch by launch."""
        assert self.now is not None
        turns, first = -(-10 // period) * period, settled + period
        graph = graph and count >= 2 * turns + first
        end = first + (count - first) // turns * turns if graph else first
        for k in range(count):
            self.now.replaying = first <= k < end
            turn(stream)
        self.now.replaying = False

    def on_host(self, name: str, seconds: float) -> None:
        """Note a call of a library on the host."""
        if self.now is not None:
            self.now.libraries.host.setdefault(name, []).append(seconds)

    def on_device(
        self, totals: Mapping[str, Total], given: Sequence[Any], made: Sequence[Any]
    ) -> None:
        """Note what a call of a library does on the device, with the arrays that it reads and
        writes."""
        if self.now is None:
            return
        found = self.now.libraries
        for name, total in totals.items():
            found.device.setdefault(name, Total()).add(total)
        for arrays, moved in ((given, found.read), (made, found.written)):
            for array in arrays:
                if isinstance(array, np.ndarray):
                    moved[array.ctypes.data] = moved.get(array.ctypes.data, 0.0) + array.nbytes

    def keeping(self, plain: Callable[..., Any], most: int) -> Callable[..., Any]:
        """A module's `_workspace`: what it keeps is no allocation after the first call."""
        return self._after_the_first(plain, most, lambda made, args: (args[0], made.shape))

    def reusing(self, plain: Callable[..., Any], most: int) -> Callable[..., Any]:
        """A module's `_new`: results have the memory of those of the call before the last."""
        number = itertools.count()

        def given(*args: Any) -> Any:
            assert self.now is not None
            before = self.now.memory.allocations
            made = helper(*args)
            self.now.memory.reused += self.now.memory.allocations == before
            return made

        helper = self._after_the_first(plain, most, lambda made, args: next(number))
        return given

    def _after_the_first(
        self, plain: Callable[..., Any], most: int, key: Callable[[Any, Any], object]
    ) -> Callable[..., Any]:
        """A helper that allocates nothing as long as its arrays of a call have so many bytes."""
        sizes: dict[object, int] = {}
        call: Recording | None = None

        def given(*args: Any, **options: Any) -> Any:
            nonlocal call
            assert self.now is not None
            if call is not self.now:
                call = self.now
                sizes.clear()
            before = replace(self.now.memory)
            array = plain(*args, **options)
            sizes[key(array, args)] = array.nbytes
            if sum(sizes.values()) <= most:
                self.now.memory = before
            return array

        return given

    def _launch(self, kernel: Any, args: tuple[Any, ...]) -> bool:
        assert self.now is not None
        code = kernel.fn.__code__
        plain = tuple(getattr(a, "_ary", a) for a in args)
        launch = Launch(
            self.now.launches, kernel.fn.__name__, code.co_varnames[: code.co_argcount],
            [argument_type(a) for a in args], _three(kernel.grid_dim), _three(kernel.block_dim),
            kernel.dynshared_size, plain, self.now.replaying,
        )  # fmt: skip
        self.now.note(launch)
        if self.run is not None:
            self.run(launch)
        return True

    def _device_array(
        self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
        stream: Any = 0,
    ) -> Any:  # fmt: skip
        assert self.now is not None
        whole = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
        kind = np.dtype(dtype)
        self.now.memory.allocations += 1
        if math.prod(whole) * kind.itemsize > MOST_BYTES:
            raise TooLarge
        return devicearray.FakeCUDAArray(zeros(whole, kind, order), stream=stream)

    def _like(self, array: Any, stream: Any = 0) -> Any:
        flags = array.flags
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        return self._device_array(array.shape, array.dtype, None, order, stream)

    def _to_device(self, array: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
        if to is not None:
            np.copyto(to._ary, array)
            return None
        values = np.asarray(array)
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.array(values)
        assert self.now is not None
        self.now.memory.allocations += 1
        return devicearray.FakeCUDAArray(values, stream=stream)

    def _copying(self) -> Callable[..., Any]:
        plain = self.host

        def copy_to_host(array: Any, ary: Any = None, stream: Any = 0) -> Any:
            if self.now is not None:
                self.now.copied(array._ary)
            if ary is None and array._ary.nbytes > 1 << 24:
                return regular(zeros(array._ary.shape, array._ary.dtype))
            found = plain(array, ary, stream)
            if ary is None and self.now is not None and not found.any():
                return regular(found)
            return found

        return copy_to_host


def regular(values: Array) -> Array:
    """Zeros where a kernel would store a matrix: the identity, which the host can factorise."""
    if values.ndim >= 2 and values.shape[-1] == values.shape[-2] and values.dtype.kind in "fc":
        places = range(values.shape[-1])
        values[..., places, places] = 1
    return values


def _three(dims: Any) -> tuple[int, int, int]:
    x, y, z = (*(int(n) for n in dims), 1, 1, 1)[:3]
    return x, y, z
