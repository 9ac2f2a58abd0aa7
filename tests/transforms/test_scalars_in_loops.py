"""Scalars in host loops: the last thread of a reduction does their work where it can."""

from __future__ import annotations

import numpy as np
import pytest

from porter.convert.passes import plan, steps
from porter.ir.interp import run
from porter.schedule.nodes import HostLoop, HostWhile, Launch, items_of
from tests.transforms.test_rotation import program_of

#: each with the kernels that its loops launch, and how many of those are of one thread
PROGRAMS = {
    "a scalar of two others": (3, 1, """
    rho = np.dot(x, x)
    for _ in range(n):
        x = x / (1.0 + rho)
        old = rho
        rho = np.dot(x, x)
        ratio = rho / old
        x = x + ratio
    return x
"""),
    "kept for the next iteration": (2, 0, """
    rho = np.sum(x)
    for _ in range(n):
        x = x * 0.5 + rho
        new = np.sum(x)
        x = x + new / (1.0 + rho * rho)
        rho = new
    return x
"""),
    "read after the loop": (2, 1, """
    rho = np.sum(x)
    new = rho
    for _ in range(n):
        x = x * 0.5 + rho
        new = np.sum(x) + 1.0
        x = x - rho
        rho = new
    return x + rho - 2.0 * new
"""),
    "read before it is computed again": (2, 0, """
    rho = np.sum(x)
    new = rho + 1.0
    for _ in range(n):
        x = x * 0.5 + rho - new
        new = np.sum(x)
        x = x - rho
        rho = new
    return x
"""),
    "in the order of the source": (2, 1, """
    low = x.min()
    for _ in range(n):
        high = low
        x = x * 0.5 + high
        low = x.min()
        high = high + low
        x = x - high
    return x
"""),
    "while it is not small": (1, 0, """
    gap = np.sum(x * x)
    while gap > 1.0:
        x = x * 0.5
        gap = np.sum(x * x)
    return x
"""),
}  # fmt: skip


@pytest.mark.parametrize("what", PROGRAMS)
def test_every_iteration_sees_the_scalars_of_those_before(what: str) -> None:
    expected, program = program_of(PROGRAMS[what][2])
    for n in range(5):
        x = np.arange(1.0, 6.0)
        wanted = expected(x.copy(), n)
        for name, statements, context in steps(program):
            given = x.copy()
            found = run(program, (given, n), statements, dict(context.buffers))
            np.testing.assert_allclose(np.array(found), np.array(wanted), 1e-13, err_msg=name)


@pytest.mark.parametrize("what", PROGRAMS)
def test_kernels_in_loops(what: str) -> None:
    kernels, alone, body = PROGRAMS[what]
    items = plan(program_of(body)[1]).items
    loops = [i for i in items_of(items) if isinstance(i, (HostLoop, HostWhile))]
    inside = [x.kernel for loop in loops for x in items_of(loop.body) if isinstance(x, Launch)]
    lonely = [k for k in inside if not k.axes and not k.folds]
    assert (len(inside) - len(lonely), len(lonely)) == (kernels, alone), [k.name for k in inside]
