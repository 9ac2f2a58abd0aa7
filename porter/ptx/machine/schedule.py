"""The order in which threads run: groups at the same piece, the first piece first.

Threads that branch to different places part; those that meet at a piece run on together.  Of all
groups the one at the first piece of the text runs next.  Compilers lay out a loop before what
follows it and both sides of a branch before their join, so that threads wait there for those that
are behind: the effect of reconverging at immediate post-dominators, without computing them, also
where there is no single one.  All warps run like this at the same time; a warp's own order is that
of its threads alone, for a piece that is first for all is first for each.

With an order of warps, the warps of a block run one after another from barrier to barrier: what
one has to wait for by a barrier, but does not, is not there then.
"""

from __future__ import annotations

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.errors import DeadlockError, MachineError
from porter.ptx.machine.counts import WARP, distinct
from porter.ptx.machine.task import Task
from porter.ptx.machine.turns import Turns
from porter.ptx.machine.wave import Wave
from porter.ptx.program.operations import Constant, Operation, Register
from porter.ptx.program.pieces import Piece

#: a group by the place of its warps in the order, and its piece
Key = tuple[int, int]


class Scheduler:
    """Runs the threads of a wave to their ends; returns the instructions that it took."""

    def __init__(self, wave: Wave) -> None:
        self.wave, self.taken = wave, 0
        self.code = wave.task.code
        self.pieces = self.code.program.pieces
        self.registers = self.code.registers()
        self.alive = np.ones(wave.count, np.bool_)
        self.groups: dict[Key, Array | None] = {}
        self.stalled: set[Key] = set()
        #: threads that wait at a barrier, by its piece
        self.waiting: dict[int, list[Array]] = {}
        work, counts = self.task.work, self.task.counts
        self.turns = None if work.steps is None or counts is None else Turns(self, counts)

    @property
    def task(self) -> Task:
        """The launch."""
        return self.wave.task

    def run(self) -> int:
        """Let all threads run until they have ended; the instructions of all threads."""
        self._begin()
        while True:
            ready = [key for key in self.groups if key not in self.stalled]
            if ready:
                key = min(ready)
                self._step(key, self.groups.pop(key))
            elif self.waiting:
                self._release()
            elif self.groups:
                raise self._deadlock()
            else:
                if self.turns is not None:
                    self.turns.end()
                return self.taken

    def _begin(self) -> None:
        order = self.task.order
        if order is None:
            self.groups[0, 0] = None
            return
        lanes = self.wave.lanes(None)
        each = -(-self.wave.per_block // WARP)
        places = np.array(order)[lanes.warps % each]
        for place in range(each):
            self._join((place, 0), np.flatnonzero(places == place))

    def _join(self, key: Key, threads: Array | None) -> None:
        """Add threads to the group at a piece."""
        if threads is not None and not len(threads):
            return
        if threads is not None and key in self.groups:
            there = self.groups[key]
            assert there is not None
            threads = np.union1d(there, threads)
        if threads is not None and len(threads) == self.wave.count:
            threads = None
        self.groups[key] = threads
        self.stalled.discard(key)

    def _step(self, key: Key, threads: Array | None) -> None:
        place, number = key
        if self.turns is not None:
            threads = self.turns.before(number, threads)
        piece = self.pieces[number]
        if piece.gate == "barrier":
            self.waiting.setdefault(number, []).append(self.wave.threads(threads))
            return
        if piece.gate == "warp" and threads is not None:
            threads = self._assembled(piece, key, threads)
            if threads is None:
                return
        count = self.wave.count if threads is None else len(threads)
        self._count(piece, count, threads)
        function = self.code.function(number, some=threads is not None)
        found = function(self.wave, self.registers, threads)
        self._leave(piece, place, threads, found)

    def _count(self, piece: Piece, count: int, threads: Array | None) -> None:
        instructions = len(piece.operations) + piece.branches
        self.taken += count * instructions
        self.task.work.spend(count, instructions)
        if self.task.counts is not None:
            lanes = self.wave.lanes(threads)
            warps = lanes.count if threads is None else len(distinct(lanes.warps))
            self.task.counts.piece(piece, count, warps)

    def _leave(self, piece: Piece, place: int, threads: Array | None, found: Array | None) -> None:
        """Send threads where a piece leads."""
        if piece.ends == "exit":
            self.alive[self.wave.threads(threads)] = False
        elif found is None:
            self._join((place, piece.targets[0]), threads)
        elif found.size == 1:
            where = int(found[0])
            if piece.ends == "cond":
                where = 0 if where else 1
            self._join((place, self._chosen(piece, where)), threads)
        elif piece.ends == "cond":
            every = self.wave.threads(threads)
            yes, no = every[found], every[~found]
            for target, part in zip(piece.targets, (yes, no), strict=True):
                if len(part) == len(every):
                    self._join((place, target), threads)
                elif len(part):
                    self._join((place, target), part)
        else:
            every = self.wave.threads(threads)
            for where in np.unique(found).tolist():
                self._join((place, self._chosen(piece, where)), every[found == where])

    @staticmethod
    def _chosen(piece: Piece, where: int) -> int:
        if where >= len(piece.targets):
            where_from = f"line {piece.line} of the PTX"
            raise MachineError(f"label {where} of {len(piece.targets)} at {where_from}")
        return piece.targets[where]

    def _assembled(self, piece: Piece, key: Key, threads: Array) -> Array | None:
        """Those threads whose warps' lanes have all arrived that an operation names."""
        lanes = self.wave.lanes(threads)
        present = lanes.ballot(np.ones(len(threads), np.bool_))
        every = self.wave.lanes(None)
        living = every.ballot(self.alive)
        needed = lanes.full(self._members(piece.operations[0], threads)).view(np.uint32)
        missing = needed & living[lanes.warps] & ~present[lanes.warps]
        # a warp goes on as a whole
        late = np.zeros(lanes.count, np.bool_)
        late[lanes.warps[missing != 0]] = True
        held = late[lanes.warps]
        if not held.any():
            return threads
        self.groups[key] = threads[held]
        self.stalled.add(key)
        free = threads[~held]
        return free if len(free) else None

    def _members(self, operation: Operation, threads: Array) -> Array:
        """The mask of lanes, which is the last operand."""
        return self._value(operation, -1, threads)

    def _value(self, operation: Operation, number: int, threads: Array) -> Array:
        source, _ = operation.sources[number]
        if isinstance(source, Constant):
            found: Array = source.value
            return found
        assert isinstance(source, Register)
        at = list(self.code.program.body.registers).index(source.name)
        value = self.wave.some(self.registers[at], threads)
        chosen: Array = ~value if source.inverted else value
        return chosen

    def _release(self) -> None:
        """Every thread waits: let those of the barriers go on."""
        if self.groups:
            raise self._deadlock()
        waiting, self.waiting = self.waiting, {}
        arrived = {n: np.sort(np.concatenate(parts)) for n, parts in waiting.items()}
        self._check(arrived)
        if self.task.counts is not None:
            blocks = np.concatenate(list(arrived.values())) // self.wave.per_block
            self.task.counts.barriers += len(distinct(blocks))
        for number, threads in arrived.items():
            piece = self.pieces[number]
            whole = len(threads) == self.wave.count
            self._count(piece, len(threads), None if whole else threads)
            if piece.operations[0].results:
                self._reduce(piece.operations[0], threads)
        for number, threads in arrived.items():
            if self.task.order is None:
                self._join((0, number + 1), threads)
                continue
            places = self._places(threads)
            for place in distinct(places).tolist():
                self._join((place, number + 1), threads[places == place])

    def _places(self, threads: Array) -> Array:
        """The place of each thread's warp in the order."""
        lanes = self.wave.lanes(threads)
        each = -(-self.wave.per_block // WARP)
        places: Array = np.array(self.task.order)[lanes.warps % each]
        return places

    def _check(self, arrived: dict[int, Array]) -> None:
        """Threads of a block wait for each other at barriers of one number, those of a warp at one
        barrier and all together, unless it is not aligned."""
        for number, threads in arrived.items():
            if self._is_aligned(number) and len(threads) < self.wave.count:
                self._check_whole(number, threads)
        if len(arrived) == 1:
            return
        numbers = np.full(len(self.wave.blocks), -1, np.int64)
        for number, threads in arrived.items():
            values = self._value(self.pieces[number].operations[0], 0, threads)
            ids = np.broadcast_to(values, threads.shape).astype(np.int64)
            blocks = threads // self.wave.per_block
            other = (numbers[blocks] >= 0) & (numbers[blocks] != ids)
            if other.any():
                raise self._deadlock()
            numbers[blocks] = ids
        places: dict[int, int] = {}
        for number, threads in arrived.items():
            warps = np.unique(self.wave.lanes(threads).warps).tolist()
            for warp in warps if self._is_aligned(number) else ():
                if places.setdefault(warp, number) != number:
                    raise self._parted(places[warp], number)

    def _is_aligned(self, number: int) -> bool:
        """Whether all threads of a warp have to execute the barrier of a piece."""
        form = self.pieces[number].operations[0].form
        return form.opcode.startswith("bar.") or form.has("aligned")

    def _check_whole(self, number: int, threads: Array) -> None:
        """No lane of a warp that waits has ended: what the ISA leaves undefined."""
        warps = self.wave.lanes(threads).warps
        every = self.wave.lanes(None).warps
        ended = every[~self.alive]
        if len(ended) and np.isin(ended, warps).any():
            raise DeadlockError(
                f"lanes of a warp ended before the barrier that others wait at, line"
                f" {self._line(number)}"
            )

    def _reduce(self, operation: Operation, threads: Array) -> None:
        """`bar.red`: over the threads of a block that wait at this place."""
        values = np.broadcast_to(self._value(operation, 1, threads), threads.shape)
        blocks = threads // self.wave.per_block
        count = len(self.wave.blocks)
        yes = np.bincount(blocks, values.astype(np.float64), count)
        every = np.bincount(blocks, minlength=count)
        if operation.form.has("popc"):
            found = yes.astype(np.int32)[blocks]
        else:
            found = (yes == every if operation.form.has("and") else yes > 0)[blocks]
        name = operation.results[0][0]
        at = list(self.code.program.body.registers).index(name)
        self.wave.put(self.registers, at, found, threads)

    def _parted(self, *numbers: int) -> DeadlockError:
        """What the ISA leaves undefined: `bar.sync` in a branch that a part of a warp takes."""
        lines = " and ".join(map(self._line, numbers))
        return DeadlockError(f"lanes of one warp wait at different barriers, lines {lines}")

    def _line(self, number: int) -> str:
        given = self.pieces[number].operations[0].given
        return str(given.source or f"{given.line} of the PTX")

    def _deadlock(self) -> DeadlockError:
        """What the threads that are left wait for."""
        said = []
        for _, number in sorted(self.groups):
            opcode = self.pieces[number].operations[0].form.opcode
            said.append(f"some lanes of a warp at `{opcode}`, line {self._line(number)}")
        for number in sorted(self.waiting):
            opcode = self.pieces[number].operations[0].form.opcode
            said.append(f"threads at `{opcode}`, line {self._line(number)}")
        text = "; ".join(said) or "threads of a block at barriers of different numbers"
        return DeadlockError(f"deadlock: {text}")
