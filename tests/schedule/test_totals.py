"""Totals of arrays of several axes: a grid with as many, and folds that share the pass."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from porter.target.registry import CUDA
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def shifted(x: "float64[:, :]"):
    return x[1:, ::-1].sum(), x[:-1].max(), np.abs(x[1:]).min()


def planes(x: "float32[:, :, :, :]", n: "int64"):
    for k in range(n):
        s = x.sum()
        x /= 1 + s * s
    return (x < 0.5).all(), x.max()


def ranks(x: "float64[:]", y: "float64[:, :]", z: "float64[:, :, :]"):
    return x.sum() + y.sum() + z.sum()


def places(x: "float32[:, :]"):
    k = (x * x - 1).argmin()
    return x.argmax(), x[::-1, 1:].max(), k


def places_of_integers(x: "int32[:]"):
    return np.abs(x).argmax(), x[1:].argmin() * 2


def place_in_a_loop(x: "float64[:]", n: "int64"):
    out = np.zeros(n)
    for t in range(n):
        j = np.argmax(np.abs(x))
        out[t] = j
        x *= -0.5
        x += 1 / (1 + j)
    return out
"""

SHARED = """\
import numpy as np


def f(x: "float64[:]", y: "float64[:]"):
    x[0] = y.max()
    return x * y.sum()
"""

Parts = Callable[..., tuple[int, tuple[int, ...], tuple[int, ...]]]
SIZES = (0, 1, 2, 7, 8, 9, 31, 33, 255, 257, 10**6)


def texts(name: str) -> list[str]:
    """The kernels of a function, and its host function."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    *kernels, host = convert_function(function).text.parts
    return [*"".join(kernels).split("@cuda.jit\n")[1:], host]


@pytest.mark.parametrize(
    "name",
    ["ranks", "places"]
    + [
        pytest.param(name, marks=pytest.mark.long)
        for name in ("shifted", "planes", "places_of_integers", "place_in_a_loop")
    ],
)
def test_totals_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-", verify=True) == 0, shell.err


def test_a_total_of_an_argument_that_may_have_been_stored_into_is_a_launch_of_its_own(
    shell: Shell,
) -> None:
    """Called as `f(x, x)`, the sum has the element that was stored; verification calls it so."""
    shell.write("f.py", SHARED)
    assert shell.convert("f.py", "-o", "-", verify=True) == 0, shell.err
    kernels = [k for k in shell.out.split("@cuda.jit\n") if "if is_last_block(done)" in k]
    assert [(k.count("block_max("), k.count("block_sum(")) for k in kernels] == [(2, 0), (0, 2)]


def test_folds_over_one_domain_are_in_one_loop_without_divisions() -> None:
    kernel = texts("shifted")[0].partition("is_last_block")[0]
    assert kernel.count("while ") == 2 and "%" not in kernel and "//" not in kernel
    assert kernel.index("j += ") < kernel.index("block_sum(") < kernel.index("block_max(")


def test_only_axes_before_the_last_two_are_taken_apart() -> None:
    kernel, *_, host = texts("planes")
    assert kernel.count(" % ") == kernel.count(" // ") == 1
    assert kernel.index(" // ") < kernel.index("= row\n") < kernel.index("= column\n")
    # made once; other launches in the loop have blocks and threads of their own
    assert host.index("parts, part_blocks, part_threads = _parts(") < host.index("def turn(")


def test_the_block_that_is_done_last_folds_the_results() -> None:
    kernel, *_, host = texts("planes")
    assert kernel.count("if is_last_block(done):") == 1 and kernel.count("block_sum(") == 2
    # two-dimensional blocks have a number for each thread
    assert "= thread_of_block()\n" in kernel and "+= THREADS\n" in kernel
    assert "_finish" not in host
    # what counts the blocks is found once for all turns of a loop
    assert host.index("done = _counter(stream)") < host.index("def turn(")
    assert host.count(", done)") == 1 and host.count(", _counter(stream))") == 1


def test_another_backend_has_no_fences() -> None:
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == "planes")
    target = CUDA.with_backend("numba-cuda-mlir")
    text = "".join(convert_function(function, target=target).text.parts)
    assert "is_last_block" not in text and "planes_total_finish[1, " in text
    assert "_counter" not in text


def test_domains_of_fewer_axes_have_the_whole_grid() -> None:
    kernel = texts("ranks")[0]
    assert "= (plane * rows + row) * columns + column\n" in kernel
    assert "+= planes * rows * columns\n" in kernel
    assert "= plane * rows + row\n" in kernel and "%" not in kernel


def test_an_extreme_is_found_with_its_position_in_one_launch() -> None:
    kernels = texts("places_of_integers")[:-1]
    assert len(kernels) == 2
    assert [k.count("while ") for k in kernels] == [2] * 2
    for kernel in kernels:
        first, last = kernel.split("is_last_block")
        assert re.search(r"place\d* = \(?x\.shape\[0\]", first)
        assert re.search(r"(place\d*) = \1_partial\[0\]\n", last)
        assert all(p.count("block_arg") == 1 for p in (first, last))


@pytest.fixture
def parts(shell: Shell) -> Parts:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "--no-verify", "-o", "-") == 0
    wanted = {"_parts", "_blocks", "THREADS", "BLOCK_X", "MOST_PARTIALS"}
    body = [
        s for s in ast.parse(shell.out).body
        if (isinstance(s, ast.FunctionDef) and s.name in wanted)
        or (isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) in wanted)
    ]  # fmt: skip
    module: dict[str, Parts] = {}
    exec(compile(ast.Module(body, []), "module", "exec"), module)
    return module["_parts"]


def test_blocks_are_full_and_few(parts: Parts) -> None:
    for rank in (2, 3):
        for shape in itertools.product(SIZES, repeat=rank):
            count, blocks, threads = parts(*shape)
            assert count == math.prod(blocks) <= 1024 and len(blocks) == len(threads) == rank
            assert math.prod(threads) == 256 and all(n & (n - 1) == 0 for n in threads), shape
            assert threads[2:] <= (64,), shape
            elements = math.prod(shape)
            if min(shape) > 1 and elements > 10**6:
                assert count * 256 >= 100_000, (shape, blocks, threads)


def test_blocks_lie_along_the_first_axes(parts: Parts) -> None:
    """The loop along the last one is long then."""
    assert parts(8192, 8192) == (1024, (1, 1024), (32, 8))
    assert parts(4, 10**7) == (1024, (1024, 1), (64, 4))
    assert parts(10**6, 3) == (1024, (1, 1024), (4, 64))
    assert parts(10**5, 28, 28) == (1024, (1, 1, 1024), (32, 8, 1))
