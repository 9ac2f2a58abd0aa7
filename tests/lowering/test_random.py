"""Random numbers: drawn once for each element, whatever the passes do; the rest is refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from porter import ir
from porter.convert.function import convert_function
from porter.convert.passes import lower
from porter.diagnostics import Refusal
from porter.ir.effects import nodes_of
from porter.ir.interp import Machine, run
from porter.ir.walk import statements
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule
from tests.support.random_numbers import ARGUMENTS, FUNCTIONS, SPACE

REFUSED = """import random
import numpy as np
from numpy.random import default_rng


def shuffled(x):
    np.random.shuffle(x)
    return x


def permuted(n: int):
    return np.random.permutation(n)


def poisson(n: int):
    return default_rng().poisson(3.0, n)


def weighted(a, p, n: int):
    return np.random.choice(a, n, p=p)


def distinct(a, n: int):
    return np.random.choice(a, n, replace=False)


def until(x):
    total = 0.0
    while total < 1.0:
        total += random.random()
    return x + total


def again(x, n: int):
    for t in range(n):
        np.random.seed(t)
        x = x + np.random.rand(x.shape[0])
    return x


def two_seeds(x):
    a, b = default_rng(1), default_rng(1)
    return a.random(x.shape[0]) - b.random(x.shape[0])


def narrow(x):
    return x + default_rng().random(x.shape[0], dtype=np.float16)


def of_an_argument(x, rng):
    return x + rng.normal(0.0, 1.0, x.shape[0])


def by_elements(x):
    return default_rng().normal(0.0, x[1:])


def large():
    return default_rng().integers(0, 2**60, 5)


def texts(n: int):
    return random.choice(["a", "b"])
"""
NAMES = [line[4:].partition("(")[0] for line in REFUSED.splitlines() if line.startswith("def ")]


def by_position(machine: Machine, e: ir.Draw) -> float:
    """A number that follows from the indices alone."""
    at = tuple(machine.poly(p) for p in e.index)
    return random.Random(f"{machine.buffers[e.buffer].draws} {at}").random()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_number_is_that_of_its_position(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "draw", by_position)
    made = convert_function(FUNCTIONS[name])
    body, context = lower(made.program)
    expected = run(made.program, ARGUMENTS[name]())
    found = run(made.program, ARGUMENTS[name](), body, context.buffers)
    np.testing.assert_allclose(_flat(found), _flat(expected), rtol=1e-12)
    like = SPACE[name](*ARGUMENTS[name]())
    for one, other in zip(_items(found), _items(like), strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def _items(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _flat(value: Any) -> np.ndarray:
    return np.concatenate([np.ravel(v) for v in _items(value)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_is_drawn_in_one_place(name: str) -> None:
    """In one statement, and by a schedule that comes to it once for each element."""
    plan = convert_function(FUNCTIONS[name]).plan
    seen: set[str] = set()
    for item in items_of(plan.items):
        if not isinstance(item, Launch):
            continue
        own = [
            {e.buffer for e in nodes_of(s) if isinstance(e, ir.Draw)}
            for s in statements(item.kernel.statements)
        ]
        own += [{e.buffer for e in folded} for folded in _folds(item)]
        for drawn in own:
            assert not drawn & seen
            seen |= drawn
        if any(own):
            assert item.kernel.schedule.name in ("draws", "total")
            assert not item.alternatives
    assert seen


def _folds(item: Launch) -> list[list[ir.Draw]]:
    from porter.ir.walk import walk

    return [[e for e in walk(r) if isinstance(e, ir.Draw)] for _, r in item.kernel.reductions]


@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_form_is_refused(name: str) -> None:
    module = SourceModule(REFUSED, "a.py")
    function = next(f for f in module.functions if f.name == name)
    with pytest.raises(Refusal) as refused:
        convert_function(function)
    assert refused.value.diagnostic.code in ("PRT901", "PRT902", "PRT903", "PRT907")
    assert refused.value.diagnostic.help


def test_a_generator_that_is_an_argument_is_named() -> None:
    module = SourceModule(REFUSED, "a.py")
    function = next(f for f in module.functions if f.name == "of_an_argument")
    with pytest.raises(Refusal, match="of a generator that is an argument") as refused:
        convert_function(function)
    assert "default_rng(seed)" in refused.value.diagnostic.help


def test_a_generator_of_the_module_goes_on() -> None:
    """Its seed is that of the first call alone; one in the function is that of every call."""
    assert convert_function(FUNCTIONS["of_the_module"]).plan.seed is None
    assert convert_function(FUNCTIONS["seeded"]).plan.seed is not None


def test_the_host_function_says_what_numbers_are_drawn_from() -> None:
    text = convert_function(FUNCTIONS["noisy"]).text.parts[-1]
    assert "def noisy(x, *, stream=None, seed=None, states=None):" in text
    assert "states, most_blocks = _states(states, seed, stream)" in text
    text = convert_function(FUNCTIONS["seeded"]).text.parts[-1]
    assert "_states(states, start if seed is None else seed, stream)" in text


def test_other_targets_refuse() -> None:
    from porter.target.registry import target_named

    target = target_named("loops", "cuda")
    with pytest.raises(Refusal, match="only CUDA kernels"):
        lower(convert_function(FUNCTIONS["noisy"]).program, target.schedules)
