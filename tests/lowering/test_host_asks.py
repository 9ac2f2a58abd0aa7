"""A statement that stays on the host says which arguments its text asks about."""

from __future__ import annotations

import pytest

from porter import ir
from porter.convert.passes import plan
from porter.inference.signature import candidates
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule

HEAD = "import numpy as np\n\ndef f(x, bias):\n"
BROADCAST = "    return x + np.sum(x * bias) * bias\n"


def program_of(body: str) -> ir.Program:
    module = SourceModule(HEAD + body, "f.py")
    (function,) = module.functions
    return build(function, next(candidates(function, "float64[:], float64[:]")),
                 Globals(module))  # fmt: skip


@pytest.mark.parametrize(("test", "asked"), [
    ("if bias.shape[0] > 9:", {"bias"}),
    ("if len(x) > 9:", {"x"}),
    ("if x.size > bias.size:", {"x", "bias"}),
])  # fmt: skip
def test_shapes(test: str, asked: set[str]) -> None:
    program = program_of(f'    {test}\n        raise ValueError("bias, x")\n{BROADCAST}')
    found = {n for s in statements(program.body) if isinstance(s, ir.Host) for n in s.asks}
    assert found == asked


def test_a_message_that_names_an_array_does_not_ask_about_it() -> None:
    named = plan(program_of(f'    print("x and bias are added")\n{BROADCAST}')).widened
    asked = plan(program_of(f"    print(bias.shape)\n{BROADCAST}")).widened
    # either may be repeated, as long as nobody asks for its shape
    assert {dim.array for dim, _ in named} == {"bias", "x"} and not asked
