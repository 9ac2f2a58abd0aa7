"""One random program as a generated module on the emulator, against NumPy.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Every launch is watched for races;
a program with a kernel that the emulator does not take counts as `unsupported`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from porter.emulate import program as programs
from porter.verify.engines.emulation import Emulation
from tests.programs.check import Outcome
from tests.programs.excused import passes_int64
from tests.programs.simulator import SMALL, attempted, compared
from tests.programs.strategy import Program


@cache
def installed() -> Emulation:
    """The emulator in place of the simulator's launches."""
    from porter.verify.engines.simulator import EMULATED, install

    install()
    emulation = Emulation()
    EMULATED.append(emulation.run)
    return emulation


def on_emulator(program: Program, blocks: Mapping[str, int] = SMALL) -> Outcome:
    """What the generated module does on the emulator, which has the warps of a GPU."""
    blocks = {
        **blocks,
        "WARP": 32,
        "THREADS": max(blocks.get("THREADS", 0), 64),
        "MANY_THREADS": 64,
    }
    emulation = installed()
    emulation.clear()
    programs.forget()
    made = attempted(program, siblings=False, blocks=blocks)
    if isinstance(made, Outcome):
        return made
    emulation.watched = [made.__globals__]
    outcome = compared(program, made, excused=passes_int64)
    left = emulation.reason()
    return Outcome("unsupported", left) if outcome.word == "ok" and left else outcome
