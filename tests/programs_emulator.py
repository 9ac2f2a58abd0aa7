"""One random program as a generated module on the emulator, against NumPy.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Every launch is watched for races;
a program with a kernel that the emulator does not take counts as `unsupported`.
"""

from __future__ import annotations

from functools import cache

from programs import Program
from programs_check import Outcome
from programs_simulator import compared, converted

from porter.diagnostics import Refusal
from porter.emulate import program as programs
from porter.verify.emulation import Emulation


@cache
def _installed() -> Emulation:
    from porter.verify.simulator import EMULATED, install

    install()
    emulation = Emulation()
    EMULATED.append(emulation.run)
    return emulation


def on_emulator(program: Program) -> Outcome:
    """What the generated module does on the emulator."""
    emulation = _installed()
    emulation.clear()
    programs.forget()
    try:
        function = converted(program, siblings=False)
    except Refusal as refusal:
        return Outcome("refused", f"{refusal.diagnostic.code} {refusal.diagnostic.message}")
    except Exception as error:
        return Outcome("crashed", f"{type(error).__name__}: {error}")
    emulation.watched = [function.__globals__]
    outcome = compared(program, function)
    left = emulation.reason()
    return Outcome("unsupported", left) if outcome.word == "ok" and left else outcome
