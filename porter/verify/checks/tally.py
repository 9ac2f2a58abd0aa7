"""What a verification is told, and what it counts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from porter.verify.checks.subject import MismatchFound
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.large import Reach
from porter.verify.oracle.measure import Worst

#: makes the cases beyond the table: of how many dimensions with a size of their own, and signatures
ExtraCases = Callable[[int, int], list[CaseSpec]]

#: how much a case with the module's own blocks may simulate (see `Launches.allow`)
MOST_WORK = 20_000


@dataclass(frozen=True)
class Settings:
    """How to verify: `report` is told what comes next.

    With `observe` only the launches matter, not the results; with `large` there are cases for the
    emulator and the GPU too.  Where launches do not check indices, no input is tried that makes
    the original raise an IndexError.  `extra_cases` makes cases beyond the table, for which there
    are `seconds`.  With `own_blocks` sizes cross the borders of the module's own blocks.  `work` is
    what a case may take that is about its sizes, in threads of a simulator.  Without a `device` its
    arrays are handed over as the host's.  With `every_variant` a signature that no case of the
    table has gets one.  With `samples` the distributions of what is drawn are compared.
    """

    seed: int
    deadline: float
    report: Callable[[int, tuple[str, ...], str], None]
    observe: bool = False
    large: bool = False
    checks_indices: bool = True
    extra_cases: ExtraCases | None = None
    seconds: float | None = None
    own_blocks: bool = False
    work: int = MOST_WORK
    device: bool = True
    every_variant: bool = False
    samples: bool = True


@dataclass
class Tally:
    """What came of the cases so far.

    `counts` has the keys values, launched (those of them in which a kernel ran), exceptions,
    wrong_inputs, not_compared, out_of_bounds (a kernel raised what the original raises: a GPU
    does not), stricter (a wrong or very short input that NumPy takes is refused), tried (cases of
    the table) and gave (those of them in which the original gave a result); `raised` has what it
    raised in the others; `copies` counts results equal to an input; `reach` says how far the
    cases beyond the table got.
    """

    counts: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    refusals: list[MismatchFound] = field(default_factory=list)
    copies: int = 0
    worst: Worst = field(default_factory=Worst)
    reach: Reach = field(default_factory=Reach)
    #: how many grid points a case with small blocks may have, from when one launched too often
    points: int = sys.maxsize

    def note(self, reason: str) -> None:
        """Keep one of the first reasons why cases gave no result."""
        reason = " ".join(reason.split())[:200]
        if reason not in self.reasons and len(self.reasons) < 5:
            self.reasons.append(reason)
