"""The grids of elementwise kernels: they cover every shape, and no thread works twice."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

import pytest

from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def f(x: "float64[:, :]"):
    return x[1:] - x[:-1]


def g(x: "float64[:]", y: "float64[:, :]"):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            if y[i, j] > x[i]:
                continue
            for k in range(3):
                if y[i, j] > k:
                    continue
                y[i, j] += k


def h(x: "float32[:, :, :, :, :]"):
    return x[:, 1:, ::-1] * 2 - x[:, :-1]
"""

Grid = Callable[..., tuple[tuple[int, int, int], tuple[int, int]]]


@pytest.fixture
def text(shell: Shell) -> str:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-o", "-") == 0
    return shell.out


def grid_of(text: str) -> Grid:
    """The module's own `_grid`."""
    wanted = {"_grid", "_blocks", "THREADS", "BLOCK_X", "MAX_BLOCKS"}
    body = [
        s for s in ast.parse(text).body
        if (isinstance(s, ast.FunctionDef) and s.name in wanted)
        or (isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) in wanted)
    ]  # fmt: skip
    module: dict[str, Grid] = {}
    exec(compile(ast.Module(body, []), "module", "exec"), module)
    return module["_grid"]


SHAPES = [(n, m) for n in (1, 2, 7, 8, 9, 300) for m in (1, 2, 6, 31, 32, 33, 40, 257, 10**6)]
LONG = [(10**6, 64), (2**31, 3), (3, 2**31), (10**7, 3, 3), (10**5, 28, 28), (2, 10**7, 3)]


def test_a_grid_covers_every_shape(text: str) -> None:
    grid = grid_of(text)
    for shape in SHAPES + LONG:
        blocks, threads = grid(*shape)
        rows, columns = math.prod(shape[:-1]), shape[-1]
        covered = blocks[0] * threads[0], blocks[1] * blocks[2] * threads[1]
        assert columns <= covered[0] < 2**32 and rows <= covered[1] < 2**32, shape
        assert blocks[0] < 2**31 and max(blocks[1:]) <= 65535, shape
        assert threads[0] * threads[1] <= 256, shape
        # at most half of the lanes of a row have no element, and fewer where there are many
        assert covered[0] < 2 * columns and (columns < 100 or covered[0] <= 1.25 * columns), shape


def test_more_rows_than_a_grid_has_are_refused(text: str) -> None:
    grid = grid_of(text)
    for shape in ((2**31 + 1, 2), (2, 2**31 + 1), (2**20, 2**12, 2)):
        with pytest.raises(ValueError, match=r"more than 2\*\*31 rows or columns"):
            grid(*shape)


def test_a_thread_that_continues_is_done(text: str) -> None:
    kernel = text[text.index("def g_kernel") : text.index("def g(")]
    assert kernel.count("return\n") == 2 and kernel.count("continue\n") == 1


def test_many_axes_are_columns_rows_and_planes(text: str) -> None:
    kernel = text[text.index("def h_kernel") : text.index("def h(")]
    assert "plane = grid_3d(x.shape[3])" in kernel and "for " not in kernel
