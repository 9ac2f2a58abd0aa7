"""What porter says of loops that can only run in order, and what it makes of them when asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from corpus_inputs import CASES

from porter.convert import convert_function
from porter.diagnostics import Refusal
from porter.frontend.globals import Globals
from porter.source.module import SourceModule

SOURCE = Path(__file__).parent / "corpus" / "loops_in_order.py"
MODULE = SourceModule(SOURCE.read_text(), "loops_in_order.py")
FUNCTIONS = {f.name: f for f in MODULE.functions}


def line_of(text: str) -> int:
    return next(k for k, line in enumerate(MODULE.lines, 1) if text in line)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sequential_loop_is_refused_with_both_places(name: str) -> None:
    """In the user's names: no numbered variables, no marks of subscripts to be checked."""
    with pytest.raises(Refusal) as refused:
        convert_function(FUNCTIONS[name], CASES[f"loops_in_order:{name}"].signature)
    found = refused.value.diagnostic
    assert found.code == "PRT904"
    assert "[[" not in found.message
    assert "--allow-serial" in found.help
    used = {
        w for w in found.message.replace("[", " ").replace("`", " ").split() if w.isidentifier()
    }
    assert not any(w[-1].isdigit() and w not in SOURCE.read_text() for w in used)
    assert found.notes or "last iteration" in found.message


def test_a_variable_is_named_with_the_lines_that_pass_it_on() -> None:
    with pytest.raises(Refusal) as refused:
        convert_function(FUNCTIONS["crc16"], "uint8[:], int64")
    found = refused.value.diagnostic
    assert "carries `crc` from one iteration to the next" in found.message
    assert found.span.line == line_of("crc >>= 1")
    assert found.notes[0].span.line == line_of("if (crc & 0x0001)")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_thread_runs_it_when_allowed(name: str) -> None:
    """The loop stands in one kernel of one thread, and the header says so."""
    scope = Globals(MODULE)
    scope.allow_serial = True
    made = convert_function(FUNCTIONS[name], CASES[f"loops_in_order:{name}"].signature, scope)
    assert any("[1, 1, stream]" in part for part in made.text.parts)
    assert any("one thread" in a for a in made.assumed)
    assert [d.code for d in made.plan.notes] == ["PRT904"] * len(made.plan.notes)
    assert made.plan.notes
