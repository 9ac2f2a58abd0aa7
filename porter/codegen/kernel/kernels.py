"""Kernels as text: the template of each one's schedule, its slots filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.codegen.kernel.state import Needs, Written
from porter.codegen.kernel.writer import Writer
from porter.codegen.templates import expanded, kernel_environment
from porter.ir.walk import walk
from porter.schedule.base import Kernel
from porter.target.base import Target


class KernelTexts:
    """Renders the kernels of one function with the templates of a target."""

    def __init__(
        self,
        buffers: dict[str, ir.Buffer],
        order: Sequence[str],
        constants: Sequence[str],
        needs: Needs,
        target: Target,
    ) -> None:
        self.buffers = buffers
        self.order = order
        self.constants = constants
        self.needs = needs
        self.target = target
        self.shuffles = target.shuffles()
        self._writers: list[Writer] = []

    def write(self, kernel: Kernel) -> tuple[str, tuple[Written, ...]]:
        """The text of a kernel, and its launches."""
        self._writers = []
        if not self.target.counts_blocks(repeated=kernel.repeated):
            # what the last block of a launch would do, another launch does
            kernel = replace(kernel, counts=False)
        schedule = kernel.schedule
        slots = schedule.slots(kernel, self)
        lost = [line for w in self._writers for line in w.out.lines]
        assert not lost, f"the schedule `{schedule.name}` wrote outside of its slots: {lost}"
        folders = self.target.folders
        if schedule.folder is not None:
            folders = (*folders, schedule.folder)
        template = kernel_environment(folders, self.target.templates).get_template(
            f"kernel_{schedule.name}.py.j2"
        )
        grids = schedule.launches(kernel)
        launches = [w.launch(grid) for w, grid in zip(self._writers, grids, strict=True)]
        return expanded(template.render(slots)), tuple(launches)

    def writer(self, kernel: Kernel, partial: Sequence[ir.Buffer] = ()) -> Writer:
        """A writer that knows the arrays and variables of a kernel, and partial results."""
        buffers = {**self.buffers, **{b.name: b for b in partial}}
        order = [*self.order, *(b.name for b in partial)]
        w = Writer(kernel.name, buffers, order, self.constants, self.needs, self.target)
        self._writers.append(w)
        w.reserve(kernel.statements)
        if kernel.number:
            w.counted(kernel.turn, kernel.number)
        for e in (x for folded in kernel.folded() for x in walk(folded)):
            if isinstance(e, ir.Load):
                w.array(e.buffer)
        for a in accesses(kernel.statements):
            w.array(a.buffer)
            if a.write:
                w.head.written.add(a.buffer)
        for fold in kernel.folds:
            names = {fold.name, *(n for n, _ in fold.reductions)}
            names |= {*fold.spread.names} if fold.spread is not None else set()
            w.naming.taken |= names
            w.naming.own |= names
            if fold.store is not None:
                w.array(fold.store.buffer)
                w.head.written.add(fold.store.buffer)
        return w
