"""Some turns of a loop stand for all: what the others execute is computed, not executed.

Integers that a turn hands on to the next mostly change by the same amount each time.  Where they
do, and comparisons of them end the loop, the turn is known in which it ends, and the machine can go
on at any turn.  It executes one in the middle and one near the end; where their counts are not on
a line with those before, two more.  A polynomial through these gives the counts of all.  The loops
in a turn are treated alike, so that a triangle of a cube's work takes some hundred turns.

What skipped turns would have stored is missing.  So it suits counts only, and kernels in which
stored values do not decide what is executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.machine.counts import Counts, Numbers
from porter.ptx.machine.task import Task
from porter.ptx.machine.wave import Wave
from porter.ptx.program.loops import Loop, Test

#: turns that are executed before a loop is understood: the first may differ from all others
_WATCHED = 3
#: turns from which skipping them is worth it
_FEW = 8
#: how far counts may be from a line through those before
_NEAR = 0.01
#: turns of a comparison that always turns out the same
_NEVER = np.iinfo(np.int64).max
#: turns at which a polynomial is evaluated
_POINTS = 4096

#: what a register was at the beginning of a turn, by its name
State = dict[str, Array]


class Running(Protocol):
    """What runs the threads of a wave: their registers, and which piece each of them is at."""

    wave: Wave
    registers: list[Array]
    groups: dict[tuple[int, int], Array | None]
    waiting: dict[int, list[Array]]

    @property
    def task(self) -> Task:
        """The launch."""
        ...


class Unsteady(Exception):
    """A loop whose integers do not change alike in all turns; it has to be executed."""

    def __init__(self, mark: int) -> None:
        super().__init__(mark)
        self.mark = mark


@dataclass
class _Plan:
    """A loop that is being sampled: `ends` turns of each thread follow that are like those before.

    Turns are numbered from the first of them, of which `base` has the registers.  A sampled turn is
    executed by the threads that have not ended before it.
    """

    ends: Array
    base: State
    steps: State
    before: Numbers
    points: dict[int, Numbers]
    queue: list[int]
    now: int = 0
    begun: Numbers = field(default_factory=dict)
    chosen: Array | None = None
    active: Array | None = None

    @property
    def count(self) -> int:
        """Turns until the last thread ends."""
        return int(self.ends.max())


@dataclass
class _Frame:
    """A loop that some threads are in; `seen` has differences of what its tests compare."""

    loop: Loop
    threads: Array | None
    states: list[State] = field(default_factory=list)
    counts: list[Numbers] = field(default_factory=list)
    seen: dict[int, list[Array]] = field(default_factory=dict)
    plan: _Plan | None = None
    off: bool = False

    def again(self, threads: Array | None) -> None:
        """Watch from here on."""
        self.threads, self.plan, self.off = threads, None, False
        self.states, self.counts, self.seen = [], [], {}

    def without_others(self, threads: Array | None) -> None:
        """Go on watching some of the threads; the others have ended."""
        if threads is None or self.off:
            self.again(threads)
            return
        places = threads if self.threads is None else np.searchsorted(self.threads, threads)
        if self.threads is not None and not (
            places[-1] < len(self.threads) and (self.threads[places] == threads).all()
        ):
            self.again(threads)
            return
        self.threads = threads
        self.states = [{name: _of(v, places) for name, v in s.items()} for s in self.states]
        self.seen = {k: [_of(v, places) for v in vs] for k, vs in self.seen.items()}


class Turns:
    """Watches the pieces that a scheduler executes, and leads it past turns of loops."""

    def __init__(self, scheduler: Running, counts: Counts) -> None:
        self.scheduler, self.counts = scheduler, counts
        self.task = scheduler.task
        self.code = self.task.code
        self.numbers = {name: k for k, name in enumerate(self.code.program.body.registers)}
        self.frames: list[_Frame] = []
        self.left = self.task.work.steps or 0

    def before(self, number: int, threads: Array | None) -> Array | None:
        """Some threads, or all, come to a piece: those that go on.  Raises `Unsteady`."""
        self.left -= 1 + len(self.code.program.pieces[number].operations)
        if self.left >= 0:
            return threads
        self._leave(number)
        loop = self.code.loops.get(number)
        if loop is not None and number not in self.task.work.whole:
            threads = self._arrive(loop, threads)
        for frame in self.frames:
            if not frame.off and frame.plan is None:
                self._look(frame, number, threads)
        return threads

    def end(self) -> None:
        """All threads have ended.  Raises `Unsteady`."""
        self._leave(-1)

    def _leave(self, number: int) -> None:
        """Forget the loops that a piece does not belong to."""
        while self.frames and number not in self.frames[-1].loop.body:
            frame = self.frames.pop()
            if frame.plan is not None:
                raise Unsteady(frame.loop.mark)

    def _arrive(self, loop: Loop, threads: Array | None) -> Array | None:
        """A turn begins; gives the threads that go on."""
        frames = self.frames
        if not frames or frames[-1].loop is not loop:
            frames.append(_Frame(loop, threads))
        frame = frames[-1]
        if frame.plan is not None:
            return self._sampled(frame, frame.plan, threads)
        others = [n for _, n in self.scheduler.groups] + list(self.scheduler.waiting)
        if any(n in loop.body for n in others):
            frame.again(threads)
            return threads
        if not _same(frame.threads, threads):
            frame.without_others(threads)
        if frame.off:
            return threads
        frame.states.append(self._state(loop, threads))
        frame.counts.append(self.counts.numbers())
        return self._begin(frame) if len(frame.states) > _WATCHED else threads

    def _look(self, frame: _Frame, number: int, threads: Array | None) -> None:
        """Note what is compared in a piece."""
        if number in frame.loop.leaving and not _same(frame.threads, threads):
            frame.off = True
            return
        for k, test in enumerate(frame.loop.tests):
            if test.piece == number:
                function = self.code.operands(number, test.place, some=threads is not None)
                if function is None or not _same(frame.threads, threads):
                    frame.off = True
                    return
                a, b = function(self.scheduler.wave, self.scheduler.registers, threads)
                frame.seen.setdefault(k, []).append(a.astype(np.int64) - b.astype(np.int64))

    def _state(self, loop: Loop, threads: Array | None) -> State:
        found = {}
        for name in loop.carried:
            value = self.scheduler.registers[self.numbers[name]]
            found[name] = value.copy() if threads is None else _of(value, threads).copy()
        return found

    def _begin(self, frame: _Frame) -> Array | None:
        """Find how many turns are alike, and go to the first that is executed of them."""
        frame.off = True
        loop, turns = frame.loop, len(frame.states) - 1
        if any(len(frame.seen.get(k, ())) != turns for k in range(len(loop.tests))):
            return frame.threads
        steps = _steps(frame.states[-3:])
        ends = [_until(t, frame.seen[k]) for k, t in enumerate(loop.tests)]
        known = [e for e in ends if e is not None]
        if steps is None or len(known) < len(ends):
            return frame.threads
        least = known[0]
        for more in known[1:]:
            least = np.minimum(least, more)
        least = least - 1
        if not _FEW <= least.max() < _NEVER - 1:
            return frame.threads
        frame.off = False
        points = {
            k - turns: _minus(frame.counts[k + 1], frame.counts[k]) for k in range(turns - 2, turns)
        }
        count = int(least.max())
        frame.plan = _Plan(
            least, frame.states[-1], steps, frame.counts[-1], points, [count // 2, count - 1]
        )
        return self._next(frame, frame.plan)

    def _next(self, frame: _Frame, plan: _Plan) -> Array | None:
        """Go to the next turn that is executed, with the threads that are still there."""
        plan.now = plan.queue.pop(0)
        self.counts.some = self.counts.skipped = True
        plan.begun = self.counts.numbers()
        there = plan.ends > plan.now
        plan.chosen = None if there.all() else np.flatnonzero(there)
        plan.active = frame.threads
        if plan.chosen is not None:
            plan.active = plan.chosen if frame.threads is None else frame.threads[plan.chosen]
        for name in plan.base:
            self._put(name, self._at(plan, name, plan.now), plan.active)
        return plan.active

    def _at(self, plan: _Plan, name: str, turn: int | Array) -> Array:
        """A register of the chosen threads at a turn; integers wrap around."""
        value, step = plan.base[name], plan.steps.get(name)
        if step is not None:
            value = value + np.asarray(turn).astype(step.dtype) * step
        return value if plan.chosen is None else _of(value, plan.chosen)

    def _put(self, name: str, value: Array, threads: Array | None) -> None:
        scheduler, number = self.scheduler, self.numbers[name]
        if threads is None:
            scheduler.registers[number] = value.copy()
        else:
            scheduler.wave.put(scheduler.registers, number, value, threads)

    def _sampled(self, frame: _Frame, plan: _Plan, threads: Array | None) -> Array | None:
        """A turn that stands for others was executed."""
        if not _same(plan.active, threads):
            raise Unsteady(frame.loop.mark)
        state = self._state(frame.loop, threads)
        for name in plan.base:
            if not (state[name] == self._at(plan, name, plan.now + 1)).all():
                raise Unsteady(frame.loop.mark)
        plan.points[plan.now] = _minus(self.counts.numbers(), plan.begun)
        if not plan.queue and len(plan.points) == 4 and not _straight(plan.points):
            plan.queue += [plan.count // 4, 3 * plan.count // 4]
        if plan.queue:
            return self._next(frame, plan)
        self.counts.become(_plus(plan.before, _all(plan)))
        self.counts.some = any(frame.plan is not None for frame in self.frames[:-1])
        # each thread goes on with the turn in which it ends
        plan.chosen = None
        for name in plan.base:
            self._put(name, self._at(plan, name, plan.ends), frame.threads)
        frame.again(frame.threads)
        frame.states.append(self._state(frame.loop, frame.threads))
        frame.counts.append(self.counts.numbers())
        return frame.threads


def _of(values: Array, threads: Array) -> Array:
    found: Array = values.take(threads) if values.size > 1 else values
    return found


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or np.array_equal(one, other)


def _steps(states: Sequence[State]) -> State | None:
    """By how much registers change in a turn, those that do; None where that varies."""
    first, second, third = states
    found = {}
    for name, value in third.items():
        if value.dtype == np.bool_:
            if not ((first[name] == value).all() and (second[name] == value).all()):
                return None
            continue
        step = value - second[name]
        if not (step == second[name] - first[name]).all():
            return None
        found[name] = step
    return found


def _until(test: Test, seen: Sequence[Array]) -> Array | None:
    """The turns after the last one until a comparison turns out differently; None if unknown."""
    first, second, third = seen[-3:]
    step = third - second
    if not (step == second - first).all():
        return None
    form = test.operation.form
    if form.one("eq", "ne"):
        with np.errstate(divide="ignore", invalid="ignore"):
            hits = (step != 0) & (third % step == 0) & (-third // step > 0)
            found = np.where(hits, -third // step, np.where((third == 0) & (step != 0), 1, _NEVER))
        return found
    # `le` is `lt` of one less
    value = third - bool(form.one("le", "gt", "ls", "hi"))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(
            (value < 0) & (step > 0), -(value // step),
            np.where((value >= 0) & (step < 0), value // -step + 1, _NEVER),
        )  # fmt: skip
    return found


def _minus(one: Numbers, other: Numbers) -> Numbers:
    return {key: number - other.get(key, 0) for key, number in one.items()}


def _plus(one: Numbers, other: Numbers) -> Numbers:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def _straight(points: dict[int, Numbers]) -> bool:
    """Whether the later of four counts are on a line through the first two."""
    turns = list(points)
    for count in (_warps, _instructions):
        first, second, *later = (count(points[t]) for t in turns)
        slope = (second - first) / (turns[1] - turns[0])
        for turn, number in zip(turns[2:], later, strict=True):
            if abs(second + slope * (turn - turns[1]) - number) > _NEAR * number:
                return False
    return True


def _warps(numbers: Numbers) -> float:
    return numbers["warps"]


def _instructions(numbers: Numbers) -> float:
    return sum(n for key, n in numbers.items() if isinstance(key, tuple) and key[0] == "class")


def _all(plan: _Plan) -> Numbers:
    """The counts of all turns, by the polynomial through those that were executed.

    What is touched first is not counted alike before turns are skipped.
    """
    turns = sorted(plan.points)[1:]
    every, skipped = _weighted(plan, turns), _weighted(plan, turns[1:])
    return {
        key: max(0.0, (skipped if key[0] == "touched" else every).get(key, 0.0)) for key in every
    }


def _weighted(plan: _Plan, turns: list[int]) -> Numbers:
    """The sum over all turns of the polynomial through some."""
    points = min(plan.count, _POINTS)
    at = (np.arange(points) + 0.5) * plan.count / points - 0.5
    found: Numbers = dict.fromkeys(plan.points[turns[-1]], 0.0)
    for turn in turns:
        others = [t for t in turns if t != turn]
        share = np.prod([(at - t) / (turn - t) for t in others], axis=0).mean() * plan.count
        found = _plus(found, {key: share * n for key, n in plan.points[turn].items()})
    return found
