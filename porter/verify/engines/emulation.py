"""Launches of a verification on the emulator, where the simulator would run them.

Only the emulator's child imports this module.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porter.emulate import errors
from porter.emulate.errors import Unsupported
from porter.emulate.launch import TOTALS, Totals, launch
from porter.verify.engines.launches import LaunchError, TooCostly
from porter.verify.engines.scheduler import ORDER, shuffles
from porter.verify.engines.strict_arrays import spare

#: launches with more threads, or more bytes of arrays, are not watched for races
MOST_WATCHED = 20_000
MOST_BYTES = 1 << 21


class Emulation:
    """What the emulator runs for a verification, and what it has to leave to the simulator.

    `watched` are the globals of the modules (those with small blocks) whose launches are
    watched for races.  `large` asks for cases that a simulator has no time for.
    """

    large = True
    checks_indices = True

    def __init__(self) -> None:
        self.watched: list[dict[str, Any]] = []
        self.clear()

    def clear(self) -> None:
        """Forget what was run, for the next function."""
        self.skipped: dict[str, str] = {}
        self.races = 0
        vars(TOTALS).update(vars(Totals()))

    def run(self, kernel: Any, args: tuple[Any, ...]) -> bool:
        """Run one launch; False when the kernel is outside of what the emulator has."""
        name = kernel.fn.__name__
        if name in self.skipped and not shuffles(kernel.fn):
            return False
        plain = tuple(getattr(a, "_ary", a) for a in args)
        seed = ORDER.random.getrandbits(32)
        races = self._watches(kernel, plain)
        try:
            launch(
                kernel.fn, kernel.grid_dim, kernel.block_dim, plain,
                dynamic=kernel.dynshared_size, seed=seed, races=races,
            )  # fmt: skip
        except Unsupported as unsupported:
            self.skipped[name] = str(unsupported)
            if shuffles(kernel.fn):
                raise TooCostly(f"`{name}` has warps, which the simulator has not") from None
            return False
        except errors.LaunchError as error:
            raise LaunchError(str(error)) from None
        except errors.OutOfBounds as error:
            # what a spare element is for: the kernel goes on, and the host function raises
            spared = error.first and all(spare(a) is not None for a in plain if np.size(a) == 0)
            error.in_kernel = not spared  # type: ignore[attr-defined]
            raise
        except (errors.BarrierError, errors.RaceError) as error:
            error.in_kernel = True  # type: ignore[union-attr]
            raise
        self.races += races
        return True

    def _watches(self, kernel: Any, args: tuple[Any, ...]) -> bool:
        threads = math.prod([*kernel.grid_dim, *kernel.block_dim])
        size = sum(getattr(a, "nbytes", 0) for a in args)
        small = threads <= MOST_WATCHED and size <= MOST_BYTES
        return small and any(kernel.fn.__globals__ is known for known in self.watched)

    def reason(self) -> str:
        """Why this is no evidence of the emulator's; '' when every launch ran there."""
        said = [f"`{name}` runs on the simulator instead: {r}" for name, r in self.skipped.items()]
        return "; ".join(said)

    def detail(self) -> dict[str, Any]:
        """What the launches came to, for the evidence."""
        seconds = TOTALS.run_seconds
        return {
            "threads": TOTALS.threads,
            "largest": TOTALS.largest,
            "watched_for_races": self.races,
            "compile_seconds": round(TOTALS.compile_seconds, 3),
            "run_seconds": round(seconds, 3),
            "threads_per_second": round(TOTALS.threads / seconds) if seconds else 0,
        }
