"""The user's own inputs: hypothesis strategies in a file that `--inputs` names.

Only the verifier's child imports this module, and runs the file.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs, Parameter

#: the name of the dictionary in the file
NAME = "INPUTS"
#: seconds for making an input smaller on which the functions differ
SHRINKING = 5.0


class BadInputs(ValueError):
    """The file cannot be used; the text says why."""


class _Over(BaseException):
    """Ends hypothesis's search: the time is over."""


def load(path: Path) -> dict[str, Any]:
    """The strategies of a file by the function's name. Raises BadInputs."""
    sys.path.append(str(path.parent))
    try:
        found = runpy.run_path(str(path)).get(NAME)
    except BaseException as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise BadInputs(f"{path.name} cannot be run: {said}") from error
    if not isinstance(found, dict):
        raise BadInputs(f"{path.name} has no dictionary `{NAME}` of strategies by function name")
    return found


def explore(
    strategy: Any,
    parameters: Sequence[Parameter],
    count: int,
    seed: int,
    deadline: float,
    check: Callable[[Inputs], None],
) -> int:
    """Check `count` inputs of a strategy; how many there were before the deadline.

    What `check` raises about a difference comes for the smallest input that hypothesis
    finds. Raises BadInputs for what is no strategy, or gives no arguments.
    """
    # may not be installed: only files of strategies need it
    import hypothesis as h

    if not isinstance(strategy, h.strategies.SearchStrategy):
        raise BadInputs(f"{NAME} holds {type(strategy).__name__}, not a hypothesis strategy")
    search = _Search(parameters, deadline, check)
    settings = h.settings(
        max_examples=count, database=None, deadline=None, print_blob=False,
        phases=(h.Phase.generate, h.Phase.shrink), report_multiple_bugs=False,
        suppress_health_check=list(h.HealthCheck), verbosity=h.Verbosity.quiet,
    )  # fmt: skip

    # hypothesis reads the signature: the strategy goes in by name
    def run(example: Any) -> None:
        search.one(example)

    try:
        h.seed(seed)(settings(h.given(example=strategy)(run)))()
    except _Over:
        if search.found is not None:
            raise search.found from None
    return search.count


class _Search:
    """One run of hypothesis: counts inputs, and minds the time when one differs."""

    def __init__(
        self, parameters: Sequence[Parameter], deadline: float, check: Callable[[Inputs], None]
    ) -> None:
        self.parameters, self.deadline, self.check = parameters, deadline, check
        self.count = 0
        self.found: Exception | None = None

    def one(self, example: Any) -> None:
        """Check one input; raises what `check` raises."""
        if time.monotonic() > self.deadline:
            raise _Over
        inputs = arguments(example, self.parameters)
        self.count += 1
        try:
            self.check(inputs)
        except Exception as error:
            if self.found is None:
                self.deadline = min(self.deadline, time.monotonic() + SHRINKING)
            self.found = error
            raise


def arguments(example: Any, parameters: Sequence[Parameter]) -> Inputs:
    """The inputs that a strategy drew: a tuple in order, or a dictionary by name."""
    names = [p.name for p in parameters]
    if isinstance(example, dict):
        missing = [n for n in names if n not in example]
        extra = [n for n in example if n not in names]
        if missing or extra:
            word = f"none for `{missing[0]}`" if missing else f"one for `{extra[0]}`"
            raise BadInputs(f"{NAME} gives arguments by name, but {word}")
        values = [example[n] for n in names]
    elif isinstance(example, (tuple, list)):
        if len(example) != len(names):
            raise BadInputs(f"{NAME} gives {len(example)} arguments for {len(names)} parameters")
        values = list(example)
    else:
        raise BadInputs(f"{NAME} gives {type(example).__name__}, not a tuple or a dictionary")
    made = (Argument(n, v, layout_of(v)) for n, v in zip(names, values, strict=True))
    return Inputs(tuple(made))


def layout_of(value: Any) -> str:
    """The layout of the table that is nearest to an array's own."""
    if not isinstance(value, np.ndarray) or value.flags.c_contiguous:
        return "C"
    if value.flags.f_contiguous:
        return "F"
    return "reversed" if any(s < 0 for s in value.strides) else "strided"
