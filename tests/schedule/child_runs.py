"""What children that run random programs have in common: the loop over them, and the last line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping

from porter.emulate.source.scope import TEXT
from tests.programs.emulator import on_emulator
from tests.programs.simulator import converted, on_simulator
from tests.programs.strategy import Program

Constants = Mapping[str, int]


def run(
    programs: Callable[[int, int], Iterator[Program]],
    constants: Callable[[int], tuple[Constants, Constants]],
    mark: str,
    what: str,
    least: float = 0.5,
) -> int:
    """Run the programs that the command line asks for: engine, count and seed.

    `constants` gives those of a module on the simulator and on the emulator, for the number of a
    program.  A line is printed for each wrong result.  Returns 1 if there is one, or if `least` is
    more than the share of programs whose modules have the `mark`, which tells `what` they have.
    """
    warnings.simplefilter("ignore")
    engine, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failed = marked = done = refused = 0
    for program in programs(count, seed):
        small, own = (dict(found) for found in constants(done))
        if engine == "emulator":
            outcome = on_emulator(program, own)
        else:
            outcome = on_simulator(program, as_given=True, blocks=small)
        done += 1
        if outcome.word == "refused":
            refused += 1
            continue
        marked += mark in converted(program, blocks=small).__globals__[TEXT]
        if outcome.word != "ok":
            failed += 1
            print(f"{program.source}{program.signature}: {outcome.word} {outcome.detail}")
    print(f"{done} programs, {marked} {what}, {refused} refused, {failed} wrong")
    return int(failed > 0 or marked < least * done)
