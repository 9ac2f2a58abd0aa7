"""Stores into parts that never meet, parts that the next store replaces, and short axes."""

from __future__ import annotations

import pytest

from porter.convert.passes import lower
from porter.inference.signature import candidates
from porter.ir import For, Program, Stage, Write
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.support.paths import CORPUS

F3 = "float64[:, :, :]"
BODIES = {
    # two moves are one store, for which one copy is made; the nine of a turn share a launch
    "for i, c in ((0, 1), (1, -1), (2, 2)):\n        x[:, :, i] = np.roll(x[:, :, i], c, axis=0)\n"
    "        x[:, :, i] = np.roll(x[:, :, i], c, axis=1)\n    return x": (2, 6),
    # moved by nothing
    "x[:, :, 0] = np.roll(x[:, :, 0], 0, axis=0)\n    return x": (0, 0),
    # the last column is read, and no store has it
    "x[:, :-1, 0] = x[:, 1:, 0]\n    x[:, :-1, 0] = x[:, 1:, 0]\n    return x": (4, 4),
    # the same part, which other threads have stored
    "x[:, :, 0] = x[:, :, 1]\n    x[:, :, 1] = np.roll(x[:, :, 0], 1, axis=0)\n"
    "    return x": (2, 2),
    # the parts are told apart by a variable
    "x[:, :, k] = 2.0\n    x[:, :, 0] = np.roll(x[:, :, 1], 1, axis=0)\n    return x": (2, 2),
}  # fmt: skip


def program(body: str) -> Program:
    module = SourceModule(f"import numpy as np\n\ndef f(x, k):\n    {body}\n", "f.py")
    (function,) = module.functions
    return build(function, next(candidates(function, f"{F3}, int64")), Globals(module))


@pytest.mark.parametrize("body", BODIES)
def test_stages_and_stores_that_are_left(body: str) -> None:
    left = [s for s in lower(program(body))[0] if isinstance(s, Stage)]
    stores = [s for s in statements(tuple(left)) if isinstance(s, Write)]
    assert (len(left), len(stores)) == BODIES[body]


def test_a_turn_of_lattice_boltzmann_is_two_launches() -> None:
    path = CORPUS / "time_loops.py"
    module = SourceModule(path.read_text(), path.name)
    function = next(f for f in module.functions if f.name == "lattice_boltzmann")
    signature = f"{F3}, bool[:, :], float64, int64"
    found = build(function, next(candidates(function, signature)), Globals(module))
    (loop,) = (s for s in lower(found)[0] if isinstance(s, For))
    assert len([s for s in loop.body if isinstance(s, Stage)]) == 2
