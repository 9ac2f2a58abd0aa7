"""Powers of Python integers of which just the call tells the exponent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal
from porter.ir.interp import run
from porter.source.module import SourceModule
from tests.corpus.check import compare
from tests.support.shell import Shell

BODIES = {
    "a size": "    return np.ones(r**k) * x[: r**k]",
    "reshaped": "    return x.reshape(r ** (k - 1), r).sum(axis=1)",
    "in turns": (
        "    y = x.copy()\n"
        "    for i in range(k):\n"
        "        y[:] = y.reshape(r**i, r, r ** (k - i - 1)).transpose(1, 0, 2).ravel() / r**i\n"
        "    return y"
    ),
    "with an axis left out": (
        "    y = np.ones(r**k)\n"
        "    for i in range(k):\n"
        "        y = y.reshape(-1, r, r**i).transpose(1, 0, 2).reshape(r**k) + x[0]\n"
        "    return y"
    ),
    "a slice in turns": (
        "    s = 0.0\n    for i in range(k):\n        s += x[: r**i].sum()\n    return x * s"
    ),
    "shifted": "    return np.ones(1 << k) * x[:1].sum()",
    "shifted in turns": (
        "    y = np.ones(1 << k)\n"
        "    for i in range(k):\n"
        "        y = y.reshape(1 << i, 2, 1 << (k - i - 1)).transpose(1, 0, 2).ravel() + x[i % r]\n"
        "    return y"
    ),
    "in branches": "    if k > 2:\n        return x * 2**k\n    return x / 3 ** (2 - k)",
    "of minus one": (
        "    y = x.copy()\n    for i in range(len(x)):\n        y[i] *= (-1) ** i\n    return y"
    ),
}
REFUSED = {
    "read from data": "    return x * 2 ** int(x[0])",
    "perhaps not computed": "    return x * (2**k if k > 0 else 1)",
    "of as many turns as elements": (
        "    y = x.copy()\n    for i in range(len(x)):\n        y[i] *= 2**i\n    return y"
    ),
    "of a float, as it is meant": "    return x * 2**-k",
    "negative": "    for i in range(k):\n        x = x * 2 ** (i - 1)\n    return x",
    "of a negative number in turns": (
        "    for i in range(k):\n        x = x * (-2) ** i\n    return x"
    ),
}


def converted(body: str) -> tuple[Any, Converted]:
    source = f"import numpy as np\n\ndef f(x, r, k):\n{body}\n"
    scope: dict[str, Any] = {}
    exec(source, scope)
    function = SourceModule(source, "f.py").functions[0]
    return scope["f"], convert_function(function, "float64[:], int64, int64")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_as_numpy_computes(body: str) -> None:
    original, made = converted(body)
    rng = np.random.default_rng(0)
    for r, k in ((2, 1), (2, 4), (3, 2), (1, 3), (5, 1)):
        arguments = rng.random(r**k), r, k
        assert not compare(original, lambda *a: run(made.program, a), arguments)


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_no_integer_that_the_host_tests(body: str) -> None:
    with pytest.raises(Refusal) as refused:
        converted(body)
    assert refused.value.diagnostic.code == "PRT907"


def test_a_negative_exponent_is_an_error() -> None:
    _, made = converted(BODIES["a size"])
    with pytest.raises(ValueError, match="`k`, an exponent of integers, is negative"):
        run(made.program, (np.ones(4), 2, -1))


def test_a_shift_by_an_index_stays_one() -> None:
    turns = "    for i in range(len(x)):\n        y[i] = 1 << i\n    return y"
    original, made = converted(f"    y = np.zeros(len(x), int)\n{turns}")
    assert not compare(original, lambda *a: run(made.program, a), (np.ones(5), 2, 2))


def test_a_base_without_growing_powers_is_an_error_in_turns() -> None:
    _, made = converted(BODIES["in turns"])
    with pytest.raises(ValueError, match="`r`, of which a loop makes powers, is not positive"):
        run(made.program, (np.ones(0), 0, 2))


def test_a_power_that_no_kernel_computes_is_an_error() -> None:
    _, made = converted("    for i in range(k):\n        x = x / r**i\n    return x")
    run(made.program, (np.ones(3), 2, 63))
    with pytest.raises(ValueError, match="the power of `r` is too large"):
        run(made.program, (np.ones(3), 2, 64))


@pytest.mark.slow
def test_a_power_beyond_the_integers_of_a_kernel_is_stricter_and_not_wrong(shell: Shell) -> None:
    body = "    for i in range(k):\n        x = x / 2**i\n    return x\n"
    shell.write("f.py", f"import numpy as np\n\n\ndef f(x, k):\n{body}")
    assert shell.convert("f.py", verify=True) == 0, shell.out
