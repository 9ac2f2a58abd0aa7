"""What porter says of loops that can only run in order, and what it makes of them when asked."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.inference.signature import candidates
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.corpus.check import compare
from tests.corpus.inputs import CASES
from tests.support.interpreted import run_with, versions
from tests.support.paths import CORPUS

SOURCE = CORPUS / "loops_in_order.py"
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
    scope.options.allow_serial = True
    made = convert_function(FUNCTIONS[name], CASES[f"loops_in_order:{name}"].signature, scope)
    assert any("[1, 1, stream]" in part for part in made.text.parts)
    assert any("one thread" in a for a in made.assumed)
    assert [d.code for d in made.plan.notes] == ["PRT904"] * len(made.plan.notes)
    assert made.plan.notes


@pytest.mark.parametrize("name", ["stores_and_says_so", "spread_largest"])
def test_a_flag_on_the_device_is_stored_into_without_a_copy(name: str) -> None:
    module = SourceModule((SOURCE.parent / "flags.py").read_text(), "flags.py")
    function = next(f for f in module.functions if f.name == name)
    made = convert_function(function, CASES[f"flags:{name}"].signature)
    text = "".join(made.text.parts)
    assert "changed[()] = True" in text and "changed_set" not in text


def test_a_complex_variable_is_divided_by_a_helper() -> None:
    """By 0, Numba's `/=` ends the thread on a GPU; the simulator's is NumPy's."""
    module = SourceModule((SOURCE.parent / "complex_numbers.py").read_text(), "complex_numbers.py")
    function = next(f for f in module.functions if f.name == "quotients_in_place")
    text = "".join(convert_function(function, "complex128[:, :], int64").text.parts)
    assert "x_here = quotient(x_here, x_here)" in text and " /= " not in text.replace(
        "# x[0] /=", ""
    )


# -- random nests -------------------------------------------------------------------------

ROWS = ("range(1, n - 1)", "range(n - 2, 0, -1)")
COLUMNS = (
    "range(1, m - 1)",
    "range(m - 2, 0, -1)",
    "range(1, min(i, m - 1))",
    "range(max(i, 1), m - 1)",
)


def random_nest(seed: int) -> str:
    """Two loops whose stores read their neighbours in any direction."""
    draw = random.Random(seed)

    def near(name: str) -> str:
        return name + draw.choice(["", " - 1", " + 1"])

    def element(array: str) -> str:
        return f"{array}[{near('i')}, {near('j')}]"

    lines = ["def f(A, B, v):", "    n, m = A.shape", f"    for i in {draw.choice(ROWS)}:"]
    if draw.random() < 0.3:
        lines.append(f"        v[i] = v[{near('i')}] + A[{near('i')}, 1]")
    if draw.random() < 0.25:
        lines.append(f"        A[i, 1:-1] += B[{near('i')}, 1:-1] + A[{near('i')}, 2:]")
    lines.append(f"        for j in {draw.choice(COLUMNS)}:")
    lines.append(f"            t = {draw.choice(['1.0', element('B')])}")
    store = f"A[i, j] = 0.5 * {element('A')} + 0.25 * {element('A')} + t"
    if draw.random() < 0.3:
        lines += ["            if A[i, j] > 0.2:", f"                {store}"]
    else:
        lines.append(f"            {store}")
    if draw.random() < 0.4:
        lines.append(f"            B[i, j] = {element('A')} + B[{near('i')}, j]")
    if draw.random() < 0.2:
        lines.append("        v[i] += A[i, 0]")
    return "\n".join([*lines, "    return A", ""])


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.long] * (n >= 20)) for n in range(60)]
)
def test_random_nests_keep_the_order_that_matters(seed: int) -> None:
    """After every pass the results are Python's; or the nest is refused."""
    source = random_nest(seed)
    scope: dict[str, Any] = {}
    exec(source, scope)
    module = SourceModule(source, "f.py")
    function = module.functions[0]
    types = next(candidates(function, "float64[:, :], float64[:, :], float64[:]"))
    try:
        stages = list(versions(build(function, types, Globals(module))))
    except Refusal as refused:
        assert refused.diagnostic.code == "PRT904"
        return
    program = build(function, types, Globals(module))
    rng = np.random.default_rng(seed)
    for shape in ((5, 6), (6, 4), (3, 3)):
        arguments = (*(rng.standard_normal(shape) for _ in range(2)), rng.standard_normal(shape[0]))
        for name, body, buffers in stages:
            found = compare(scope["f"], partial(run_with, program, body, buffers), arguments)
            assert found == "", f"after {name}: {found}\n{source}"
