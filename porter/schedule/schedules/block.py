"""One block: folds and stages in order, loops around them, barriers between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from porter import ir
from porter.ir.walk import loaded
from porter.schedule.base import (
    FOLD_BARRIERS,
    MANY,
    BlockLoop,
    BlockStep,
    Fold,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
)
from porter.schedule.domains import loop
from porter.schedule.steps import fold, scratch, stage
from porter.schedule.writing import KernelWriter


class OneBlock(Schedule):
    """Made of several launches inside of host loops (`schedule/turns/blocks.py`)."""

    name = "block"
    word = "block"
    summary = "one block"
    stepwise = True

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """No statement by itself."""
        return False

    def in_one_block(
        self, kernel: Kernel, loops: frozenset[str] | None
    ) -> tuple[BlockStep, ...] | None:
        """Its steps."""
        return kernel.steps

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One block."""
        return (Grid(threads=("MANY_THREADS",)),)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """One block."""
        return MANY, ()

    def barriers(self, kernel: Kernel) -> int:
        """Those of the folds, and one after each step at most."""
        return len(kernel.reductions) * FOLD_BARRIERS + len(kernel.parts)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The steps."""
        w = writers.writer(kernel)
        shared = scratch(w, kernel)
        return {"k": w, "scratch": shared, "steps": _Steps(w, shared).slots(kernel.steps)}


class _Steps:
    """Knows which stores the block's threads have not yet waited for."""

    def __init__(self, w: KernelWriter, shared: Mapping[str, str]) -> None:
        self.w = w
        self.shared = shared
        self.by_all = False  # every thread may have stored or read since the last barrier
        self.by_first = False  # thread 0 has stored

    def slots(self, steps: Sequence[BlockStep]) -> list[dict[str, object]]:
        """Steps in their order."""
        return [{"named": None, **self._step(s)} for s in steps]

    def _step(self, step: BlockStep) -> dict[str, object]:
        if isinstance(step, BlockLoop):
            return self._loop(step)
        if isinstance(step, ir.Let):
            with self.w.slot() as lines:
                self.w.block((step,))
            return {"waits": False, "steps": None, "named": lines}
        if isinstance(step, Fold):
            waits = self._wait(self.by_all or self.by_first)
            slots = fold(self.w, step, self.shared, False)
            self.by_first = step.store is not None
            # a value of its own: every thread has read what it is made of
            self.by_all = step.store is None and bool(loaded(step.value))
            return {"waits": waits, "steps": None, **slots}
        waits = self._wait(self.by_all or (bool(step.axes) and self.by_first))
        slots = stage(self.w, step, 0)
        self.by_all, self.by_first = self.by_all or bool(step.axes), True
        return {"waits": waits, "steps": None, **slots}

    def _wait(self, needed: bool) -> bool:
        if needed:
            self.by_all = self.by_first = False
        return needed

    def _loop(self, step: BlockLoop) -> dict[str, object]:
        waits = self._wait(self.by_all or self.by_first)
        range_of = loop(self.w, ir.Axis(step.index, step.hi, step.lo))
        with self.w.inside():
            steps = self.slots(step.steps)
        # the next iteration reads what this one has stored
        again = self._wait(self.by_all or self.by_first)
        by = f", {step.step}" if step.step != 1 else ""
        bounds = f"{range_of.lo}, {range_of.hi}{by}" if by else range_of.bounds
        return {"waits": waits, "steps": steps, "loop": range_of, "bounds": bounds,
                "again": again}  # fmt: skip
