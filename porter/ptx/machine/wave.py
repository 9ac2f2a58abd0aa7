"""Some blocks of a grid that run together: their registers, their shared and local memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import DTYPES, Array
from porter.ptx.errors import AccessError
from porter.ptx.instructions.threads import Lanes
from porter.ptx.machine.counts import WARP
from porter.ptx.machine.task import Task
from porter.ptx.machine.updates import update
from porter.ptx.program.layout import LOCAL, SHARED
from porter.ptx.program.sites import Site

#: what memory holds before anything is stored: NaN, or -1
_POISON = 0xFF


class Wave:
    """The threads of some blocks, numbered block by block; generated code calls its methods.

    Registers are arrays of one element for all threads, or of one for each.
    """

    def __init__(self, task: Task, blocks: Array) -> None:
        self.task, self.blocks = task, blocks
        self.per_block = task.threads
        self.count = len(blocks) * task.threads
        places = task.code.program.places
        # whole multiples of 16 bytes, so that each block's memory is aligned
        self.shared_size = -(-(places.shared_size + task.dynamic) // 16) * 16
        self.shared = np.full(len(blocks) * self.shared_size, _POISON, np.uint8)
        self.local = np.full(self.count * places.local_size, _POISON, np.uint8)
        self.known: dict[str, Array] = {}
        #: what `lanes` gave last, for which threads
        self.last: tuple[Array | None, Lanes] | None = None

    def threads(self, ix: Array | None) -> Array:
        """The numbers of the threads that take part."""
        return np.arange(self.count) if ix is None else ix

    def some(self, values: Array, ix: Array) -> Array:
        """The values of some threads."""
        return values if values.size == 1 else values.take(ix)

    def put(self, registers: list[Array], number: int, values: Array, ix: Array) -> None:
        """Give a register of some threads new values."""
        old = registers[number]
        if old.size != self.count:
            old = np.full(self.count, old[0])
        elif self.count == 1:
            old = old.copy()
        old[ix] = values
        registers[number] = old

    def special(self, name: str) -> Array:
        """A special register, as int32."""
        if name not in self.known:
            self.known[name] = np.atleast_1d(self._special(name)).astype(np.int32)
        return self.known[name]

    def _special(self, name: str) -> Any:
        task = self.task
        words = name[1:].split(".")
        inner = np.tile(np.arange(self.per_block), len(self.blocks))
        if words[0] in ("ntid", "nctaid"):
            return (task.block if words[0] == "ntid" else task.grid)["xyz".index(words[1])]
        if words[0] == "tid":
            return _place(inner, task.block, words[1])
        if words[0] == "ctaid":
            return np.repeat(_place(self.blocks, task.grid, words[1]), self.per_block)
        if words[0] == "warpid":
            return inner // WARP
        if words[0] == "dynamic_smem_size":
            return task.dynamic
        if words[0] == "nwarpid":
            return -(-self.per_block // WARP)
        lane = inner % WARP
        bit = np.left_shift(np.int64(1), lane)
        masks = {
            "laneid": lane, "lanemask_eq": bit, "lanemask_lt": bit - 1,
            "lanemask_le": 2 * bit - 1, "lanemask_gt": (1 << WARP) - 2 * bit,
            "lanemask_ge": (1 << WARP) - bit,
        }  # fmt: skip
        return masks[words[0]]

    def lanes(self, ix: Array | None) -> Lanes:
        """The threads that execute an operation of a warp together."""
        if self.last is not None and self.last[0] is ix:
            return self.last[1]
        threads = self.threads(ix)
        inner = threads % self.per_block
        each = -(-self.per_block // WARP)
        warps = threads // self.per_block * each + inner // WARP
        found = Lanes(threads, inner % WARP, warps, each * len(self.blocks), self.count)
        self.last = ix, found
        return found

    def parameter(self, offset: int, kind: str) -> Array:
        """A parameter of the kernel."""
        return np.frombuffer(self.task.parameters, DTYPES[kind], 1, offset)

    def address(self, name: str, offset: int) -> Array:
        """The address of a variable of the module."""
        return np.array([self.task.variables[name].ctypes.data + offset], np.uint64)

    @staticmethod
    def part(whole: Array, number: int, dtype: np.dtype[Any]) -> Array:
        """Some of the bits of a register, from the lowest."""
        count = whole.dtype.itemsize // dtype.itemsize
        return whole.view(dtype)[number::count].copy()

    @staticmethod
    def joined(parts: tuple[Array, ...], dtype: np.dtype[Any]) -> Array:
        """A register of parts, the lowest first."""
        size = max(p.size for p in parts)
        made = np.empty((size, len(parts)), parts[0].dtype)
        for k, part in enumerate(parts):
            made[:, k] = part
        return made.view(dtype).reshape(-1)

    @staticmethod
    def moved(addresses: Array, space: str, back: bool) -> Array:
        """An address of shared or local memory as a generic one, or back."""
        base = np.int64(SHARED if space == "shared" else LOCAL)
        plain = addresses.view(np.int64)
        return (plain - base if back else plain + base).view(np.uint64)

    def load(self, site: Site, ix: Array | None, base: Array, offset: Array) -> Any:
        """The values at some addresses: an array, or one for each element of a vector."""
        memory, at = self._place(site, ix, base.view(np.int64) + offset)
        if isinstance(memory, list):
            return self._mixed(site, memory)
        if site.vector == 1:
            return memory.take(at)
        return tuple(memory.take(at + k) for k in range(site.vector))

    def store(
        self, site: Site, ix: Array | None, base: Array, offset: Array, *values: Array
    ) -> None:
        """Store values at some addresses; of several threads at one address, the last wins."""
        addresses = self._all(base.view(np.int64) + offset, ix)
        memory, at = self._place(site, ix, addresses)
        if isinstance(memory, list):
            for chosen, part, places in memory:
                for k, value in enumerate(values):
                    part[places + k] = value if value.size == 1 else value[chosen]
            return
        for k, value in enumerate(values):
            memory[at + k if k else at] = value

    def update(
        self, site: Site, ix: Array | None, base: Array, offset: Array, *values: Array
    ) -> Any:
        """An atomic at some addresses; what was there before."""
        addresses = self._all(base.view(np.int64) + offset, ix)
        memory, at = self._place(site, ix, addresses)
        given = tuple(np.broadcast_to(v, addresses.shape) for v in values)
        if isinstance(memory, list):
            found = np.zeros(addresses.shape, site.dtype)
            for chosen, part, places in memory:
                own = tuple(v[chosen] for v in given)
                old = update(part, places, site.function, own, site.wanted)
                found[chosen] = 0 if old is None else old
            return found
        old = update(memory, at, site.function, given, site.wanted)
        return np.zeros(1, site.dtype) if old is None else old

    def _all(self, values: Array, ix: Array | None) -> Array:
        """One value for each thread that takes part."""
        count = self.count if ix is None else len(ix)
        return values if values.size == count else np.full(count, values[0])

    def _mixed(self, site: Site, parts: list[tuple[Array, Array, Array]]) -> Any:
        """A load from several regions."""
        count = sum(len(chosen) for chosen, _, _ in parts)
        found = [np.empty(count, site.dtype) for _ in range(site.vector)]
        for chosen, memory, at in parts:
            for k, values in enumerate(found):
                values[chosen] = memory[at + k]
        return found[0] if site.vector == 1 else tuple(found)

    def _place(self, site: Site, ix: Array | None, addresses: Array) -> Any:
        """Memory of a site's type and the elements at some addresses.

        Where addresses lie in several regions: a list of which of them, memory and elements, and
        None.
        """
        if (addresses & np.int64(site.size - 1)).any():
            wrong = int(np.flatnonzero(addresses & np.int64(site.size - 1))[0])
            raise self._error(site, "an address that is not aligned", ix, addresses, wrong)
        if site.space in ("shared", "local"):
            return self._own(site, site.space, ix, addresses)
        if site.space not in ("global", "const"):
            lowest, highest = int(addresses.min()), int(addresses.max())
            if lowest >= SHARED:
                space, base = ("local", LOCAL) if lowest >= LOCAL else ("shared", SHARED)
                return self._own(site, space, ix, addresses - np.int64(base))
            if highest >= SHARED:
                both = "addresses of several state spaces at once"
                raise self._error(site, both, ix, addresses, 0)
        return self._global(site, ix, addresses)

    def _global(self, site: Site, ix: Array | None, addresses: Array) -> Any:
        memory, size = self.task.memory, site.size
        if self.task.counts is not None:
            every = self._all(addresses, ix)
            self.task.counts.access(site, every, self.lanes(ix).warps, memory)
        number = memory.find(int(addresses[0]))
        if number >= 0:
            region = memory.regions[number]
            if addresses.min() >= region.low and addresses.max() + size <= region.high:
                first, view = region.view(site.dtype)
                return view, (addresses - first) // site.dtype.itemsize
        numbers, inside = memory.inside(addresses, size)
        if not inside.all():
            wrong = int(np.flatnonzero(~inside)[0])
            raise self._error(site, "", ix, addresses, wrong)
        parts = []
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            first, view = memory.regions[number].view(site.dtype)
            parts.append((chosen, view, (addresses[chosen] - first) // site.dtype.itemsize))
        return parts, None

    def _own(self, site: Site, space: str, ix: Array | None, offsets: Array) -> Any:
        """Elements of shared memory of the block, or of local memory of the thread."""
        shared = space == "shared"
        size = self.shared_size if shared else self.task.code.program.places.local_size
        limit = self.task.shared_limit if shared else size
        outside = (offsets < 0) | (offsets + site.size > limit)
        if outside.any():
            wrong = int(np.flatnonzero(outside)[0])
            what = f"offset {int(offsets[wrong])} of {limit} bytes of {space} memory"
            raise self._error(site, what, ix, offsets, wrong)
        threads = self.threads(ix)
        if shared and self.task.counts is not None:
            lanes = self.lanes(ix)
            self.task.counts.shared(site.size, self._all(offsets, ix), lanes.warps, lanes.lanes)
        owner = threads // self.per_block if shared else threads
        memory = (self.shared if shared else self.local).view(site.dtype)
        return memory, (owner * size + offsets) // site.dtype.itemsize

    def _error(
        self, site: Site, what: str, ix: Array | None, addresses: Array, number: int
    ) -> AccessError:
        """The error of one thread's access."""
        one = addresses.size == 1
        address = int(addresses[0 if one else number])
        threads = self.threads(ix)
        thread = int(threads[0 if one else number])
        near = self.task.memory.described(address, site.size)
        what = what or f"an address outside of all arrays, {near}"
        inner, block = thread % self.per_block, int(self.blocks[thread // self.per_block])
        at = tuple(int(_place(np.array(inner), self.task.block, axis)) for axis in "xyz")
        of = tuple(int(_place(np.array(block), self.task.grid, axis)) for axis in "xyz")
        did = "writes" if site.writes else "reads"
        return AccessError(
            f"thread {at} of block {of} {did} {site.size} bytes at {what}"
            f" (`{site.opcode}`, {site.where})"
        )


def _place(numbers: Array, dims: tuple[int, int, int], axis: str) -> Array:
    """The place along an axis of numbers that run fastest along x."""
    x, y, _ = dims
    found: Array = {"x": numbers % x, "y": numbers // x % y, "z": numbers // (x * y)}[axis]
    return found
