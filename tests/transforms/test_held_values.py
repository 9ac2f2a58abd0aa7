"""Variables that keep what an earlier iteration gave them, and arrays of one iteration."""

from __future__ import annotations

import pytest

from porter.convert.passes import lower
from porter.diagnostics import Refusal
from porter.inference.signature import candidates
from porter.ir import Alloc, For, If, Program, Stage
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.support.paths import CORPUS

HEAD = (
    "import numpy as np\n\n\ndef f(x, y):\n    v = 0.0\n    n = m = 0\n    out = np.zeros_like(x)\n"
)
LOOP = "    for i in range(x.shape[0]):\n"


def program(text: str, signature: str, name: str = "f") -> Program:
    module = SourceModule(text, "f.py")
    function = next(f for f in module.functions if f.name == name)
    return build(function, next(candidates(function, signature)), Globals(module))


def converts(body: str) -> bool:
    """Whether a loop needs no order."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    try:
        left = lower(program(f"{HEAD}{LOOP}{lines}    return out\n", "float64[:], float64[:]"))[0]
    except Refusal as refused:
        assert refused.diagnostic.code == "PRT904"
        return False
    # nothing of it runs turn by turn
    assert not any(isinstance(s, For) for s in left)
    return True


HELD = {
    "if x[i] > 0:\n    v = y[i]\nout[i] = v": True,
    "out[i] = v\nv = x[i]": True,
    "v = x[i] if y[i] > 0 else v\nout[i] = v": True,
    "if x[i] > 0:\n    v = 1.0\nelif x[i] < 0:\n    v = 2.0\nout[i] = v": True,
    "if x[i] > 0:\n    v = y[i]\nelse:\n    out[i] = v": True,
    # the largest or smallest so far
    "if x[i] > v:\n    v = x[i]\nout[i] = v": True,
    "if v >= x[i]:\n    v = x[i]\nout[i] = v": True,
    "v = x[i] if x[i] > v else v\nout[i] = v": True,
    "if x[i] * y[i] > v:\n    out[i] = y[i]\n    v = x[i] * y[i]\nout[i] = out[i] + v": True,
    "if x[i] > v:\n    v = x[i]\ngap = v - y[i]\nout[i] = gap * gap": True,
    # sums and counts that begin again
    "if x[i] > 0:\n    v = v + 1.0\nelse:\n    v = 0.0\nout[i] = v": True,
    "v += y[i]\nif x[i] > 0:\n    v = 0.0\nout[i] = v": True,
    "v = 0.0 if x[i] > 0 else v + y[i]\nout[i] = v": True,
    "if x[i] > 0:\n    v = 1.0\nif x[i] > 1:\n    v = v + y[i]\nout[i] = v": True,
    "if x[i] > 0:\n    v = 2.0 * v\nelse:\n    v = v * v\nout[i] = v": False,
    "if x[i] > v:\n    v = v + 1.0\nelse:\n    v = 0.0\nout[i] = v": False,
    # a branch stores what was held before it
    "if x[i] > v:\n    out[i] = v\n    v = x[i]": True,
    # two values that wait for each other
    "if x[i] > v:\n    v = x[i]\nelse:\n    v = v - 1.0\nout[i] = v": False,
    # the condition is about what is held itself
    "if x[i] > v:\n    v = y[i]\nout[i] = v": False,
    # the value depends on the old one, beyond a sum
    "if x[i] > 0:\n    v = np.sin(v) + y[i]\nout[i] = v": False,
    # the loop changes what was held
    "if x[i] > 0:\n    v = x[i]\nx[i] = v": True,
    # two places give it a value, one after the other
    "if x[i] > 0:\n    v = 1.0\nif x[i] > 1:\n    v = v * v\nout[i] = v": False,
}


@pytest.mark.parametrize("body", HELD)
def test_what_a_variable_holds_needs_no_order(body: str) -> None:
    assert converts(body) == HELD[body]


COPIED = """
import numpy as np


def f(x, y):
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        t = np.empty_like(x[:, c])
        s = x[0, c]
        for i in range(x.shape[0]):
            s = np.sin(s) + x[i, c]
            t[i] = s
        LAST
    return out
"""
#: the last statement of an iteration, and how many arrays are made: for all lines, or for none
LAST = {
    "out[:, c] = t": 1,
    "out[::-1, c] = t": 2,
    "out[:, c] = t * 2.0": 2,
    "out[:, c] += t": 2,
    "out[:, c] = t\n        out[0, c] = t[0]": 2,
    "if s > 0:\n            out[:, c] = t": 2,
    "y[:, c] = t": 2,  # an argument may be another one
}


@pytest.mark.parametrize("last", LAST)
def test_a_copy_at_the_end_is_the_place_itself(last: str) -> None:
    text = COPIED.replace("LAST", last)
    left = lower(program(text, "float64[:, :], float64[:, :]"))[0]
    made = [s.buffer for s in left if isinstance(s, Alloc)]
    assert len(made) == LAST[last]
    # threads side by side store side by side
    assert all(str(b.shape[-1]).endswith("shape[1]") for b in made)
    assert not any(isinstance(s, For) for s in left)


def test_a_longer_place_is_another_one() -> None:
    # `t[-1]` is the last element of t
    text = COPIED.replace("LAST", "out[:-1, c] = t").replace("empty_like(x[:, c])", "empty(n)")
    text = text.replace("np.zeros_like(x)", "np.zeros((n + 1, x.shape[1]))")
    text = text.replace("def f(x, y):", "def f(x, y):\n    n = x.shape[0]")
    left = lower(program(text, "float64[:, :], float64[:, :]"))[0]
    assert len([s for s in left if isinstance(s, Alloc)]) == 2


def test_an_array_whose_length_an_iteration_knows_is_refused() -> None:
    text = COPIED.replace("LAST", "out[c, c] = t[0]").replace("empty_like(x[:, c])", "zeros(c + 1)")
    with pytest.raises(Refusal):
        lower(program(text.replace("t[i] = s", "t[0] += s"), "float64[:, :], float64[:, :]"))


def test_what_helpers_test_is_tested_before_the_loop() -> None:
    text = (CORPUS / "column_helpers.py").read_text()
    left = lower(program(text, "float64[:, :], float64", "fed_back_columns"))[0]
    (tests,) = (s for s in left if isinstance(s, If))
    assert str(tests.cond) == "(0 < x.shape[1])"
    assert len(tests.body) == 2
    stages = [s for s in left if isinstance(s, Stage)]
    assert not any(isinstance(s, If) for stage in stages for s in statements(stage.body))


def test_a_test_that_an_iteration_changes_stays() -> None:
    text = (
        "import numpy as np\n\n\ndef f(x, n):\n    for i in range(n):\n        if i > 3:\n"
        '            raise ValueError("many")\n        x *= 2.0\n'
    )
    left = lower(program(text, "float64[:], int64"))[0]
    (loop,) = (s for s in left if isinstance(s, For))
    assert isinstance(loop.body[0], If)
