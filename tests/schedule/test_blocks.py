"""Short folds inside host loops run in one block, launched once for each outer step."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.schedule.base import BlockLoop, Fold, Kernel
from porter.schedule.nodes import HostLoop, Launch
from tests.support.interpreted import program_of


def launches(key: str) -> list[list[Kernel]]:
    """The kernels launched in each host loop of a program."""
    loops = [i for i in plan(program_of(key)).items if isinstance(i, HostLoop)]
    return [[i.kernel for i in loop.body if isinstance(i, Launch)] for loop in loops]


@pytest.mark.parametrize("name", ["forward_substitution", "levinson", "cholesky_in_place"])
def test_one_launch_for_each_step(name: str) -> None:
    (kernels,) = launches(f"triangular:{name}")
    assert [k.schedule.name for k in kernels] == ["block"]
    assert any(isinstance(p, Fold) for p in kernels[0].parts)


def test_the_inner_loop_is_in_the_block_and_wide_work_is_not() -> None:
    (kernels,) = launches("triangular:lu_in_place")
    assert [k.schedule.name for k in kernels] == ["block", "map"]
    assert isinstance(kernels[0].steps[0], BlockLoop)


def test_long_folds_use_all_blocks() -> None:
    found = [k.schedule.name for ks in launches("research:power_iteration") for k in ks]
    assert "block" not in found
