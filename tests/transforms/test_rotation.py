"""Arrays of host loops take turns: no iteration allocates one or stores into one that is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter import ir
from porter.convert.passes import lower, plan, steps
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, items_of
from porter.source.module import SourceModule

#: each with the allocations that stay in its loops
PROGRAMS = {
    "the caller's array, then two": (0, """
    for _ in range(n):
        new = 0.5 * (x + x[::-1]) + 1.0
        x = new
    return x
"""),
    "an array of its own changes places": (0, """
    y = x * 2.0
    for _ in range(n):
        y = 0.5 * (y + y[::-1]) + x
    return y
"""),
    "three take turns": (0, """
    before = x * 0.5
    for _ in range(n):
        after = 2.0 * x[::-1] - before
        before = x
        x = after
    return x, before
"""),
    "all at once": (0, """
    before = x * 0.5
    for _ in range(n):
        after = 2.0 * x[::-1] - before
        before, x = x, after
    return x + before
"""),
    "two that meet": (0, """
    y = x + 1.0
    for _ in range(n):
        x, y = x[::-1] + y, y[::-1] * 0.5 + x
    return x, y
"""),
    "one that is kept": (1, """
    best = x
    for k in range(n):
        x = x[::-1] * 0.5 + 1.0
        if k == 1:
            best = x
    return x, best
"""),
    "another name for the first": (0, """
    y = x * 2.0
    first = y
    for _ in range(n):
        y = y[::-1] + 1.0
    return y, first
"""),
    "an iteration that ends early": (0, """
    for k in range(n):
        new = x[::-1] + k
        if k == 1:
            continue
        x = new
    return x
"""),
    "a loop in a loop": (2, """
    for _ in range(n):
        for _ in range(n + 1):
            x = x[::-1] * 0.5 + 1.0
    return x
"""),
    "the array itself after the loop": (0, """
    new = x * 1.0
    for _ in range(n):
        new = x[::-1] + 1.0
        x = new * 0.5
    return x, new
"""),
    "no end but the test": (0, """
    y = x + 1.0
    while n > 0:
        y = y[::-1] * 0.5
        n -= 1
    return y
"""),
    "a fold of what the iteration made": (0, """
    y = x + 1.0
    while y.sum() > 10.0 - n:
        y = y[::-1] * 0.5
    return y
"""),
}  # fmt: skip


def program_of(body: str) -> tuple[Any, ir.Program]:
    source = f"import numpy as np\n\n\ndef f(x, n: int):{body}"
    names: dict[str, Any] = {}
    exec(source, names)
    module = SourceModule(source, "f.py")
    (function,) = module.functions
    return names["f"], build(
        function, next(candidates(function, "float64[:], int64")), Globals(module)
    )


@pytest.mark.parametrize("what", PROGRAMS)
def test_every_iteration_sees_the_arrays_of_those_before(what: str) -> None:
    expected, program = program_of(PROGRAMS[what][1])
    for n in range(6):
        x = np.arange(1.0, 6.0)
        wanted = expected(x.copy(), n)
        for name, statements, context in steps(program):
            given = x.copy()
            found = run(program, (given, n), statements, dict(context.buffers))
            np.testing.assert_array_equal(np.array(found), np.array(wanted), err_msg=f"{name} {n}")
            np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize("what", PROGRAMS)
def test_allocations_in_loops(what: str) -> None:
    count, body = PROGRAMS[what]
    items = plan(program_of(body)[1]).items
    loops = [i for i in items_of(items) if isinstance(i, (HostLoop, HostWhile, HostIf))]
    inside = {id(x) for loop in loops for x in items_of(loop.body) if isinstance(x, ir.Alloc)}
    assert len(inside) == count


def test_a_name_that_is_bound_later_is_no_reason_for_a_copy() -> None:
    """The fold reads the array after it has its name: the store before is of another one."""
    _, program = program_of(PROGRAMS["a fold of what the iteration made"][1])
    (loop,) = [s for s in lower(program)[0] if isinstance(s, ir.While)]
    made, test = [s for s in loop.body if isinstance(s, (ir.Stage, ir.Write))]
    assert isinstance(made, ir.Stage) and isinstance(test, ir.Write) and not test.axes
