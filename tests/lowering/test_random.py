"""Random numbers: drawn once for each element, whatever the passes do; the rest is refused."""

from __future__ import annotations

import random
import re
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


def until(n: int, m: int):
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        while total < 1.0:
            u = np.random.random(m)
            total += u[0] * u[1]
        out[i] = total
    return out


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
    return x + rng.poisson(1.0, x.shape[0])


def with_a_seed_beside(x, rng):
    return x + rng.random(x.shape[0]) + default_rng(3).random(x.shape[0])


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


def test_a_generator_that_is_an_argument_gives_the_seed() -> None:
    """What draws from it, a hint and a signature say that it is one."""
    for name, kind in (("passed", "Generator"), ("handed_on", "Generator"),
                       ("old_class", "RandomState")):  # fmt: skip
        made = convert_function(FUNCTIONS[name])
        assert kind in made.signature
        text = made.text.parts[-1]
        assert f"if not isinstance(rng, np.random.{kind}):" in text
        assert "_seed_of(rng) if states is None and seed is None else seed" in text
    plain = SourceModule("def f(x, source):\n    return helper(x, source)\n\n\ndef helper(x, g):\n"
                         "    return x + g.normal(size=x.shape[0])\n", "a.py")  # fmt: skip
    assert "float64[:], Generator" in convert_function(plain.functions[0]).signature
    with pytest.raises(Refusal, match="is a method of generators") as refused:
        convert_function(plain.functions[1], "float64[:], float64[:]")
    assert "Generator" in refused.value.diagnostic.help


def test_a_generator_in_place_of_none_has_a_form() -> None:
    source = "import numpy as np\n\n\ndef f(n: int, seed=None):\n" \
             "    return np.random.default_rng(seed).random(n)\n"  # fmt: skip
    made = convert_function(SourceModule(source, "a.py").functions[0])
    assert [str(v.signature) for v in made.variants] == [
        "int64, omitted", "int64, Generator", "int64, int64"
    ]  # fmt: skip


def test_numbers_of_a_while_loop_have_no_counter_in_the_kernel() -> None:
    """What counts the turns is for the passes, which may not take one number for all of them."""
    made = convert_function(FUNCTIONS["rejected"])
    body, _ = lower(made.program)
    lets = {s.name for s in statements(body) if isinstance(s, ir.Let)}
    assert any(n.startswith("turn") for n in lets)
    assert re.search(r"\bturn", "\n".join(made.text.parts)) is None


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
