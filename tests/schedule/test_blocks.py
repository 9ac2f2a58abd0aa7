"""Short folds inside host loops run in one block, launched once, or once for each outer step."""

from __future__ import annotations

import pytest

from porter import ir
from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.base import BlockLoop, Fold, Kernel
from porter.schedule.nodes import HostLoop, Launch, items_of
from porter.source.module import SourceModule
from tests.support.interpreted import program_of


def launches(key: str) -> list[list[Kernel]]:
    """The kernels launched in each host loop of a program."""
    loops = [i for i in items_of(plan(program_of(key)).items) if isinstance(i, HostLoop)]
    return [[i.kernel for i in loop.body if isinstance(i, Launch)] for loop in loops]


@pytest.mark.parametrize("name", ["forward_substitution", "levinson"])
def test_loops_whose_launches_are_all_one_block_are_one_launch(name: str) -> None:
    items = plan(program_of(f"triangular:{name}")).items
    assert not any(isinstance(i, HostLoop) for i in items)
    kernels = [i.kernel for i in items if isinstance(i, Launch)]
    (block,) = (k for k in kernels if k.schedule.name == "block")
    assert isinstance(block.steps[0], BlockLoop)
    assert any(isinstance(p, Fold) for p in block.parts)


def test_arrays_of_turns_are_made_once_as_large_as_any_turn_needs_them() -> None:
    """`y_new` has as many elements as there were turns."""
    items = plan(program_of("triangular:levinson")).items
    at = next(k for k, i in enumerate(items)
              if isinstance(i, Launch) and i.kernel.schedule.name == "block")  # fmt: skip
    made = [i.buffer for i in items[:at] if isinstance(i, ir.Alloc)]
    assert made and all("k" not in n.names() for b in made for n in b.shape)


def test_the_inner_loop_is_in_the_block_and_wide_work_is_not() -> None:
    """Where the matrix is small, one block does all of it."""
    source = (
        'def f(A: "float64[:, :]"):\n    for i in range(1, A.shape[0]):\n'
        "        for j in range(i):\n            A[i, j] *= A[i, :j] @ A[i - 1, :j]\n"
        "        for j in range(i, A.shape[1]):\n            A[i, j] += A[i, :i] @ A[i - 1, :i]\n"
    )
    (function,) = SourceModule(source, "f.py").functions
    items = items_of(convert_function(function).plan.items)
    (loop,) = (i for i in items if isinstance(i, HostLoop))
    kernels = [i.kernel for i in loop.body if isinstance(i, Launch)]
    *kernels, _ = kernels  # the last one counts the turns
    assert [k.schedule.name for k in kernels] == ["block", "map"]
    assert isinstance(kernels[0].steps[0], BlockLoop)


def test_long_folds_use_all_blocks() -> None:
    found = [k.schedule.name for ks in launches("research:power_iteration") for k in ks]
    assert "block" not in found
