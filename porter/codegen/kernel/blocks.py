"""Kernels of one block: folds and stores in order, loops around them, barriers between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from porter import ir
from porter.codegen.kernel.writer import Writer
from porter.ir.walk import loaded
from porter.schedule.nodes import BlockLoop, BlockStep, Fold, Kernel

if TYPE_CHECKING:
    from porter.codegen.kernel.kernels import KernelTexts, Written


class BlockWriter:
    """Knows which stores the block's threads have not yet waited for."""

    def __init__(self, texts: KernelTexts, w: Writer, scratch: dict[str, str]) -> None:
        self.texts = texts
        self.w = w
        self.scratch = scratch
        self.by_all = False  # every thread may have stored or read since the last barrier
        self.by_first = False  # thread 0 has stored

    def steps(self, steps: Sequence[BlockStep]) -> None:
        """Steps in their order."""
        for step in steps:
            match step:
                case BlockLoop():
                    self._loop(step)
                case Fold():
                    self._wait(self.by_all or self.by_first)
                    self.texts.fold(self.w, step, self.scratch, False)
                    self.by_first = step.store is not None
                    # a value of its own: every thread has read what it is made of
                    self.by_all = step.store is None and bool(loaded(step.value))
                case ir.Stage():
                    self._stage(step)

    def _wait(self, needed: bool) -> None:
        if needed:
            self.w.emit("cuda.syncthreads()")
            self.by_all = self.by_first = False

    def _loop(self, loop: BlockLoop) -> None:
        self._wait(self.by_all or self.by_first)
        depth = self.w.indent
        self.w.loop(loop.index, loop.lo, loop.hi, loop.step)
        with self.w.inside():
            self.steps(loop.steps)
        # the next iteration reads what this one has stored
        self._wait(self.by_all or self.by_first)
        self.w.indent = depth

    def _stage(self, step: ir.Stage) -> None:
        self._wait(self.by_all or (bool(step.axes) and self.by_first))
        self.texts.row_map(self.w, step, 0)
        self.by_all, self.by_first = self.by_all or bool(step.axes), True


def write_block(texts: KernelTexts, kernel: Kernel) -> Written:
    """The text of a kernel that one block runs."""
    w = texts.writer(kernel)
    scratch = texts.scratch(w, kernel)
    BlockWriter(texts, w, scratch).steps(kernel.steps)
    return texts.render(w, kernel, "block", [])
