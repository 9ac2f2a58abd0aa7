"""One random program as a generated module, called with other ranks than it was converted for.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.corpus.simulator import install
from tests.end_to_end.ranks import any_rank, loaded, ranks
from tests.programs.check import Outcome
from tests.programs.excused import verdict
from tests.programs.strategy import Program


def on_other_ranks(program: Program) -> Outcome:
    """What the module does, where it says that it takes any rank; `ok` where it does not."""
    install()
    module = SourceModule(program.source, "f.py")
    function = next(f for f in module.functions if f.name == "f")
    try:
        made = convert_function(function, program.signature, Globals(module), siblings=False)
    except Refusal as refusal:
        return Outcome("refused", f"{refusal.diagnostic.code} {refusal.diagnostic.message}")
    names = [p.name for p in program.parameters]
    served = [names.index(n) for n in any_rank(made)]
    if not served:
        return Outcome("one rank")
    outcome = Outcome("ok")
    for what, given in ranks(program.calls[0], served):
        word, wrong = verdict(program, loaded(made), given)
        if word == "wrong" and "IndexError: too many indices" not in wrong:
            return Outcome(word, f"{what}: {wrong}")
        if word == "stricter":
            outcome = Outcome(word, wrong)
    return outcome
