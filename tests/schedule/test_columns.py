"""Folds of columns: which stores they are, the host's choice, and the borders of their blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from porter.codegen.module.module import module_text
from porter.convert.function import convert_function
from porter.ptx.machine.counts import Counts
from porter.source.module import SourceModule
from porter.verify.run import verify_module
from tests.schedule.children import assert_none_wrong
from tests.support.machine import compiler, module
from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"


def parts_of(body: str, arguments: str = 'x: "float64[:, :]"') -> list[str]:
    """The kernels of a function, and its host function."""
    source = f"{HEAD}def f({arguments}):\n    {body}\n"
    (function,) = SourceModule(source, "f.py").functions
    *kernels, host = convert_function(function).text.parts
    return [*"".join(kernels).split("@cuda.jit\n")[1:], host]


def ways(folds: str) -> tuple[str, str]:
    """What each block folds, and what the last one does with it."""
    parts, _, last = folds.partition("if is_last_part(done):")
    return parts, last


@pytest.mark.parametrize(
    ("value", "rank", "columns"),
    [
        ("x.sum(axis=0)", 2, True),
        ("x[::-1, ::-1].sum(axis=0)", 2, True),
        ("x.max(axis=0)", 3, True),
        ("x.mean(axis=1)", 3, True),
        ("x.sum(axis=(0, 1))", 3, True),
        ("np.arange(x.shape[0]) @ x", 2, True),
        ("(x * x[:, :1]).sum(axis=0)", 2, True),
        # rows: neighbours of the result are far from each other in memory
        ("x.sum(axis=1)", 2, False),
        ("x.T.sum(axis=0)", 2, False),
        # neighbours do not read neighbours
        ("x[:, ::2].sum(axis=0)", 2, False),
        # a window moves over the rows
        ("np.lib.stride_tricks.sliding_window_view(x, 40, axis=0).sum(axis=2)", 2, False),
    ],
)
def test_what_is_a_fold_of_columns(value: str, rank: int, columns: bool) -> None:
    array = f'x: "float64[{", ".join(":" * rank)}]"'
    *kernels, host = parts_of(f"return {value}", array)
    assert any(k.startswith("def f_columns(") for k in kernels) == columns
    assert ("_is_short(" in host) == columns


@pytest.mark.parametrize(("rows", "columns"), [(31, False), (32, True)])
def test_a_few_rows_are_folded_by_a_thread(rows: int, columns: bool) -> None:
    body = f"y = np.zeros(({rows}, 9))\n    y[1:] += x[0, 0]\n    return y.sum(axis=0)"
    assert ("_is_short(" in parts_of(body)[-1]) == columns


def test_the_host_takes_one_thread_for_each_short_column() -> None:
    folds, alone, host = parts_of("return x.mean(axis=0)")
    parts, last = ways(folds)
    assert "total += x[j, i]\n" in parts and "total += x[j, i]\n" in alone
    assert "out[i] = total / T(x.shape[0])" in last and "out[i] = total / T(x.shape[0])" in alone
    assert "shared" not in alone and "column_sum(" in parts and "column_sum(" in last
    short, long = host.index("f_kernel["), host.index("f_columns[")
    assert host.index("if _is_short(x.shape[0], x.shape[1]):") < short < long


def test_siblings_share_the_pass() -> None:
    body = "return x.min(axis=0), x.argmax(axis=0), (x > 1).any(axis=0), x.sum(axis=0) / 2"
    parts, last = ways(parts_of(body)[0])
    assert parts.count("while ") == last.count("while ") == 1
    assert [k.count("column_argmax(") for k in (parts, last)] == [1, 1]


def test_what_needs_the_result_is_a_launch_of_its_own() -> None:
    kernels = parts_of("return (x - x.mean(axis=0)) / np.abs(x - x.mean(axis=0)).max(axis=0)")[:-1]
    assert sum("_partial" in k.partition(":")[0] for k in kernels) == 2


def test_what_each_column_needs_is_computed_with_it() -> None:
    parts, last = ways(parts_of("s = x.sum(axis=0)\n    return s, np.sqrt(s * s + 1)")[0])
    assert "math.sqrt(" not in parts and "math.sqrt(" in last


def test_no_index_is_taken_apart_in_a_loop() -> None:
    folds = parts_of("return x.max(axis=0)", 'x: "float64[:, :, :]"')[0]
    head, _, loop = folds.partition("while ")
    assert " // " in head and " // " not in loop and " % " not in loop


def test_a_later_fold_waits_for_what_the_column_stores() -> None:
    """A stage of the last launch stores what the fold of the first one would read."""
    kernels = parts_of("x[0] = x.sum(axis=0)\n    return x.max(axis=0)")[:-1]
    assert sum("_partial" in k.partition(":")[0] and "blockIdx.y" in k for k in kernels) == 2


def test_in_a_loop_of_the_host_partial_results_are_made_once() -> None:
    host = parts_of("for _ in range(9):\n        x -= x.mean(axis=0)")[-1]
    assert host.index("= _columns(") < host.index("def turn(stream):") < host.index("_is_short(")


def test_partial_results_of_one_loop_are_apart() -> None:
    """Those of the total are made before the loop, those of the columns in each turn."""
    body = (
        "out = np.zeros(x.shape[1])\n    for k in range(x.shape[1] - 1):\n"
        "        out[k] = (x[:, k] ** 2).sum()\n"
        "        out[k + 1 :] += x[:, k] @ x[:, k + 1 :]\n    return out"
    )
    host = parts_of(body)[-1]
    before, _, inside = host.partition("for k in ")
    assert "    partials = _workspace(" in before
    assert "    partial = _workspace(" in inside


def helper(text: str, name: str) -> Callable[..., Any]:
    """A helper of the module."""
    wanted = {name, "_blocks", "THREADS", "BLOCK_X", "MOST_PARTIALS", "LONG"}
    body: list[ast.stmt] = [
        s for s in ast.parse(text).body
        if (isinstance(s, ast.FunctionDef) and s.name in wanted)
        or (isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) in wanted)
    ]  # fmt: skip
    made: dict[str, Callable[..., Any]] = {}
    exec(compile(ast.Module(body, []), "module", "exec"), made)
    return made[name]


@pytest.fixture
def text(shell: Shell) -> str:
    shell.write("f.py", f"{HEAD}def f(x):\n    return x.sum(axis=0)\n")
    assert shell.convert("f.py", "--signature", "float64[:, :]", "-o", "-") == 0
    return shell.out


def test_which_columns_are_short(text: str) -> None:
    short = helper(text, "_is_short")
    assert short(63, 1) and short(10**6, 10**6)
    assert not (short(64, 1) or short(10**6, 64) or short(10**4, 10**5))


def test_blocks_are_full_and_few(text: str) -> None:
    columns = helper(text, "_columns")
    for m in (0, 1, 2, 3, 8, 9, 31, 33, 40, 64, 256, 257, 10**5):
        for n in (0, 1, 64, 1000, 10**6):
            parts, (across, down), (width, height) = columns(m, n)
            assert parts == down and width * height == 256 and width * across >= m
            assert parts * across <= max(1024, across)
            assert m == 0 or width * across - m <= max(m // 4, 7)
            assert parts == 1 or n > (parts - 1) * 8 * height
    parts, (across, _), _ = columns(64, 10**6)
    assert parts * across * 256 >= 100_000


def test_parts_of_several_axes_are_those_of_the_first(text: str) -> None:
    assert helper(text, "_columns")(64, 32 * 3136, 32) == (32, (2, 32), (32, 8))


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.long)])
def test_sizes_at_the_borders_of_blocks_and_parts(engine: str, count: int) -> None:
    assert_none_wrong("columns_child", engine, str(count), "0")


@pytest.mark.parametrize(
    ("kernel", "right", "wrong"),
    [
        pytest.param(
            "f_columns",
            "while j < x.shape[0]",
            "while j < x.shape[0] - 1",
            marks=pytest.mark.long,
        ),
        ("f_columns", "j += cuda.gridDim.y * cuda.blockDim.y", "j += cuda.blockDim.y"),
        ("f_columns", "if column < x.shape[1]", "if column <= x.shape[1]"),
        pytest.param(
            "f_columns", "while k < total_partial.shape[0]", "while k < 1", marks=pytest.mark.long
        ),
        pytest.param("f_columns", "column_sum(total, scratch)", "total", marks=pytest.mark.long),
        pytest.param("f_kernel", "range(x.shape[0])", "range(x.shape[1])", marks=pytest.mark.long),
    ],
)
def test_verification_sees_a_mistake_in_each_kernel(
    shell: Shell, kernel: str, right: str, wrong: str
) -> None:
    """Every second case takes the kernels for long columns, whatever the sizes are."""
    shell.write("f.py", f"{HEAD}def f(x):\n    return x.sum(axis=0)\n")
    assert shell.convert("f.py", "--signature", "float64[:, :]") == 0
    path = shell.folder / "f_cuda.py"
    before, name, behind = path.read_text().partition(f"def {kernel}(")
    assert right in behind.partition("\n\n\n")[0]
    path.write_text(before + name + behind.replace(right, wrong, 1))
    (found,) = verify_module(path, on=("simulator",))
    assert found.mismatch is not None


def test_the_last_block_reads_what_all_threads_of_others_have_stored() -> None:
    """No machine here runs blocks at once: without the barrier, every result would be right."""
    *_, helper = "".join(parts_of("return x.sum(axis=0)")).partition("if is_last_part(done):")
    assert helper
    (function,) = SourceModule(f"{HEAD}def f(x):\n    return x.sum(axis=0)\n", "f.py").functions
    text = module_text(convert_function(function, "float64[:, :]").texts, "")
    lines = text.partition("def is_last_part(done):")[2].partition("return ")[0]
    order = [lines.index(x) for x in ("syncthreads()", "threadfence()", "atomic.inc")]
    assert order == sorted(order)


def test_another_launch_stores_into_what_blocks_still_read() -> None:
    *kernels, host = parts_of("x[0] = x.sum(axis=0)")
    assert "_counter(" not in host and not any("is_last_part" in k for k in kernels)


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_the_compiled_kernels(shell: Shell, dtype: str) -> None:
    """They give what NumPy gives, in few instructions, and read memory in order."""
    shell.write("f.py", f"{HEAD}def f(x):\n    return x.sum(axis=0)\n")
    assert shell.convert("f.py", "--signature", f"{dtype}[:, :]", "-o", "-") == 0
    text = shell.out.replace("LONG = 64", "LONG = 0").replace("PARTIALS = 1024", "PARTIALS = 8")
    made = module(shell.write("f_cuda.py", text), "sm_90")
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 33), (70, 40), (600, 5), (2048, 64)):
        x = (rng.normal(size=(n, m)) * 10).astype(dtype)
        made.f_columns.counts = counts = Counts()
        np.testing.assert_allclose(made.f(x), x.sum(axis=0), rtol=1e-4, atol=1e-2)
    assert made.f_kernel.launches == 0
    assert counts.instructions <= 15 * n * m
    assert counts.sectors <= 1.3 * x.nbytes / 32  # an array of NumPy begins anywhere


def test_a_fold_of_columns_that_nothing_reads_is_a_kernel_all_the_same() -> None:
    """NumPy raises for empty columns, so the function still asks for it."""
    source = HEAD + "def f(x):\n    k = np.argmin(x, axis=0)\n    return x * 2.0\n"
    (function,) = SourceModule(source, "f.py").functions
    assert any("_columns" in p for p in convert_function(function, "float64[:, :]").text.parts)
