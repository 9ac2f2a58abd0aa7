"""Loops over pairs of rows run in the grid, and an unbound name is as unbound as in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.convert.passes import lower
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import HostLoop
from porter.source.module import SourceModule
from porter.verify.run import verify_module
from tests.corpus.convert import converted
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

SOURCE = CORPUS / "pairs.py"
MODULE = SourceModule(SOURCE.read_text(), "pairs.py")
FUNCTIONS = {f.name: f for f in MODULE.functions}
IN_THE_GRID = ["minimum_image", "gravity", "both_ways", "potential", "distances", "upper",
               "neighbours", "centred", "nearest"]  # fmt: skip
UNBOUND = [
    ("last_change", (np.arange(5.0), 0)),
    ("last_sum", (np.arange(5.0), 0)),
    ("until_small", (np.arange(5.0), 2.0)),
    ("named_in_a_branch", (np.arange(5.0), -1.0)),
    ("viewed_in_a_branch", (np.arange(5.0), -1.0)),
    ("last_row", (np.ones((0, 3)),)),
]


@pytest.mark.parametrize("name", IN_THE_GRID)
def test_no_launch_for_each_pair(name: str) -> None:
    made = convert_function(FUNCTIONS[name], CASES[f"pairs:{name}"].signature)
    assert not any(isinstance(item, HostLoop) for item in made.plan.items)


def test_a_sum_of_the_row_is_made_once_for_each_pair() -> None:
    made = convert_function(FUNCTIONS["gravity"], CASES["pairs:gravity"].signature)
    text = "".join(made.text.parts)
    total = next(k for k, line in enumerate(text.splitlines()) if "total +=" in line)
    store = next(k for k, line in enumerate(text.splitlines()) if "math.pow(total" in line)
    depth = [len(line) - len(line.lstrip()) for line in text.splitlines()]
    assert total < store and depth[total] == depth[store]


INNER = """
def f(a, b, x, w):
    for i in range(x.shape[0]):
        if w[i] > 0:
            x[i] = a @ (b @ x[i])
        else:
            x[i] += (a * (b * x[i]).sum(axis=1)).sum(axis=1) - x[i].sum()
"""


def test_a_sum_inside_of_a_sum_is_one_for_each_term() -> None:
    module = SourceModule(f"import numpy as np\n{INNER}", "s.py")
    signature = "float64[:, :], float64[:, :], float64[:, :], float64[:]"
    function = module.functions[0]
    program = build(function, next(candidates(function, signature)), Globals(module))
    rng = np.random.default_rng(1)
    a, b, x = rng.random((3, 3)), rng.random((3, 3)), rng.random((5, 3))
    w = np.array([1.0, -1.0, 1.0, 0.0, 2.0])
    scope: dict[str, Any] = {}
    exec(INNER, scope)
    expected, found = x.copy(), x.copy()
    scope["f"](a, b, expected, w)
    body, context = lower(program)
    run(program, (a, b, found, w), body, context.buffers)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(("name", "arguments"), UNBOUND)
def test_what_has_no_value_raises(name: str, arguments: tuple[object, ...]) -> None:
    signature = CASES[f"pairs:{name}"].signature
    program = build(FUNCTIONS[name], next(candidates(FUNCTIONS[name], signature)), Globals(MODULE))
    body, context = lower(program)
    for stage, buffers in ((program.body, program.buffers), (body, context.buffers)):
        with pytest.raises(UnboundLocalError):
            run(program, arguments, stage, buffers)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "last_change",
        "last_sum",
        pytest.param("until_small", marks=pytest.mark.long),
        "named_in_a_branch",
    ],
)
def test_verification_finds_the_same_exception(name: str, tmp_path: Path) -> None:
    (function,) = verify_module(converted(f"pairs:{name}", tmp_path), on=("simulator",))
    assert function.verified and function.evidence[0].detail["exceptions"] > 0


@pytest.mark.slow
def test_a_value_out_of_nowhere_is_wrong(tmp_path: Path) -> None:
    module = converted("pairs:last_sum", tmp_path)
    line = "    stream = 0 if stream is None else stream\n"
    edited = module.read_text().replace(
        line, f"{line}    s = cuda.device_array((), u.dtype, stream=stream)\n", 1
    )
    (function,) = verify_module(module, on=("simulator",), text=edited)
    assert not function.verified and "UnboundLocalError" in str(function.mismatch)
