"""What a store would cost with each schedule that matches it, not only with the chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.cost.estimate import kernel_seconds
from porter.cost.kernels import KernelWork, kernel_work
from porter.cost.machine import Machine
from porter.cost.scopes import Scope
from porter.ir.context import Context
from porter.schedule.base import Around, Schedule
from porter.schedule.registry import candidates
from porter.support.names import NameSupply


def work_of_candidates(s: ir.Write, context: Context) -> dict[Schedule, KernelWork]:
    """What a launch for the store alone would do with each schedule, the chosen one first."""
    around = Around(replace(context, taken=NameSupply(context.taken)), {})
    found = candidates(s, context)
    return {c: kernel_work(c.start(s, around), context.buffers, Scope()) for c in found}


def seconds_of_candidates(
    s: ir.Write, context: Context, sizes: Mapping[str, int], machine: Machine
) -> dict[Schedule, float]:
    """The model's seconds with each schedule. Raises SizeUnknown."""
    works = work_of_candidates(s, context)
    return {schedule: kernel_seconds(w, sizes, machine) for schedule, w in works.items()}
