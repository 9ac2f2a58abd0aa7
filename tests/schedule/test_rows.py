"""What joins the launch of a row, and what must not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.ptx.machine.counts import Counts
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from porter.verify.run import verify_module
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong
from tests.support.machine import compiler, module
from tests.support.paths import ROOT
from tests.support.shell import Shell

SOURCE = """
def f(a, out, n):
    u = a * 2.0
    v = a * 3.0
    for t in range(n):
        m = u.max(axis=1)
        u -= m[:, None]
        out[:] = v[::-1].sum(axis=1) + m
        REBIND
    return u, v
"""


def rows_launched(rebind: str) -> int:
    source = "import numpy as np\n" + SOURCE.replace("REBIND", rebind)
    text = plan_text(plan(array_program(source, "float64[:, :], float64[:], int64")))
    return text.count("a block per row")


def test_a_variable_that_may_mean_the_array_that_rows_store_into_is_read_later() -> None:
    """From the second iteration on, `v` is `u`: other blocks must have stored their rows."""
    assert rows_launched("v = u") == 2
    assert rows_launched("v = u.copy()") == 1


def test_a_value_of_a_row_is_read_before_its_elements_are_stored() -> None:
    """A warp that is late would read what another one has stored: a barrier stands between."""
    source = """import numpy as np

def f(x):
    s = x.sum(axis=1) + x[:, 5]
    x -= s[:, None]
    return s
"""
    (function,) = SourceModule(source, "f.py").functions
    kernel = convert_function(function, "float64[:, :]").text.parts[0]
    behind = kernel[kernel.index("x[i, 5]") :]
    assert behind.index("row_wait()") < behind.index("x[i, k] = ")


FOLDS = """import numpy as np


def siblings(x: "float64[:, :]"):
    return x.min(axis=1), x.max(axis=1), x[:, ::-1].mean(axis=1), (x * x).sum(axis=1) + x[:, 0]


def in_turn(x: "float32[:, :]"):
    m = x.max(axis=1)
    s = np.exp(x - m[:, None]).sum(axis=1)
    return m, s, x.min(axis=1), (x - m[:, None]).sum(axis=1)


def stored(x: "float64[:, :]"):
    m = x.max(axis=1)
    x[:, 0] = m
    return m, x.sum(axis=1), x.min(axis=1)


def lengths(x: "float32[:, :]", k: "int64"):
    return x[:, 1:].sum(axis=1) - x[:, :-1].max(axis=1), x[:, :k].sum(axis=1), x[:, 1:k].sum(axis=1)
"""


def kernel_of(name: str) -> str:
    function = next(f for f in SourceModule(FOLDS, "f.py").functions if f.name == name)
    (kernel, _) = convert_function(function).text.parts
    return kernel


@pytest.mark.parametrize("name", ["siblings", "in_turn", "stored", "lengths"])
def test_folds_of_rows_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", FOLDS)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def test_folds_over_one_row_share_its_loop() -> None:
    """That is the only loop: the grid has a warp for each short row, a block for each long one."""
    kernel = kernel_of("siblings")
    assert kernel.count("while ") == 1
    loop = kernel[kernel.index("while j") : kernel.index("j += ")]
    assert [loop.count(f) for f in ("minimum(", "maximum(", "total += ", "total2 += ")] == [1] * 4
    # what is stored of a fold comes after the barriers of that fold
    places = [f"{word}(" for word in ("row_min", "row_max", "row_sum")]
    stores = [f"out{k}[i] = " for k in (1, 2, 3)]
    order = [kernel.index(text) for pair in zip(places, stores, strict=True) for text in pair]
    assert order == sorted(order)


def test_a_fold_of_what_another_one_found_is_a_later_loop() -> None:
    kernel = kernel_of("in_turn")
    assert kernel.count("while ") == 2
    later = kernel[kernel.index("row_max(") :]
    assert all(text in later for text in ("math.exp(", "minimum(", "x[i, k] - row_m"))


def test_a_fold_of_what_was_stored_before_it_waits() -> None:
    kernel = kernel_of("stored")
    assert kernel.count("while ") == 2
    behind = kernel[kernel.index("x[i, 0] = ") :]
    assert behind.index("row_wait()") < behind.index("total += ")
    assert behind.count("while ") == 1


def test_domains_of_other_lengths_have_loops_of_their_own() -> None:
    assert kernel_of("lengths").count("while ") == 3


ARGUMENTS = """import numpy as np


def found(x: "float32[:, :]"):
    return x.argmax(axis=1), x.max(axis=1), (x * x - 1).argmin(axis=-1)


def reversed_rows(x: "int32[:, :]"):
    k = np.argmin(np.abs(x[:, ::-1]), axis=1)
    return k * 2, np.argmax(x[:, 1:], axis=1)


def without_nan(x: "float64[:, :]"):
    n = x.shape[1]
    where = np.where(x == x.max(axis=1)[:, None], np.arange(n), n)
    return where.min(axis=1)


def same_dtype(x: "uint8[:, :]"):
    return x.astype(np.int64).argmax(axis=1)
"""


def arguments_of(name: str) -> str:
    function = next(f for f in SourceModule(ARGUMENTS, "f.py").functions if f.name == name)
    (kernel, _) = convert_function(function).text.parts
    return kernel


@pytest.mark.parametrize("name", ["found", "reversed_rows", "without_nan", "same_dtype"])
def test_positions_are_those_of_numpy(shell: Shell, name: str) -> None:
    shell.write("f.py", ARGUMENTS)
    assert shell.convert("f.py", "-f", name, "-o", "-") == 0, shell.err


def test_an_extreme_is_found_with_its_position() -> None:
    kernel = arguments_of("found")
    assert kernel.count("while ") == 1
    assert "if first_max(x[i, j], j, largest, place):" in kernel
    assert "largest, place = row_argmax(largest, place, scratch, scratch2)" in kernel
    assert "row_argmin(" in arguments_of("reversed_rows")


def test_what_is_no_position_of_an_extreme_is_a_fold_of_its_own() -> None:
    """NaN is nowhere equal, and int64 values and positions would share one array."""
    for name in ("without_nan", "same_dtype"):
        kernel = arguments_of(name)
        assert kernel.count("while ") == 2 and "_arg" not in kernel


def test_a_position_is_the_first_of_all_threads() -> None:
    """Of equal values, of NaN, and where every value is the one that the fold starts from."""
    module: dict[str, Callable[..., bool]] = {}
    text = (ROOT / "templates" / "helpers_device.py.j2").read_text()
    body = text[text.index("def first_{{ op }}(") : text.index('{% if "column_arg" ~ op')]
    for op, sign in (("max", ">"), ("min", "<")):
        source = body.replace("{{ op }}", op).replace("{{ sign }}", sign)
        exec(source.partition("{% endif")[0], module)
    nan, inf = math.nan, math.inf
    values = [nan, inf, 2.0, 0.0, -0.0, -inf]
    for op, best in (("max", np.argmax), ("min", np.argmin)):
        first = module[f"first_{op}"]
        for row in itertools.product(values, repeat=3):
            for order in itertools.permutations(range(3)):
                value, place = (-inf if op == "max" else inf), 3
                for k in order:
                    if first(row[k], k, value, place):
                        value, place = row[k], k
                assert place == best(row), (op, row, order)


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [1, pytest.param(10, marks=pytest.mark.long)])
def test_rows_that_end_at_the_borders_of_warps_and_blocks(engine: str, count: int) -> None:
    assert_none_wrong("rows_child", engine, str(count), "0")


COUNTED = """import numpy as np


def softmax(x: "float64[:, :]"):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def log_softmax(x: "float64[:, :]"):
    m = x.max(axis=1, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=1, keepdims=True))


def four(x: "float64[:, :]"):
    return x.min(axis=1), x.max(axis=1), x.mean(axis=1), x.var(axis=1)


def positions(x: "float64[:, :]"):
    return x.argmax(axis=1)


def sums(x: "float64[:, :]"):
    return x.sum(axis=1)


def normal(x: "float64[:, :]"):
    d = x - x.mean(axis=1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
"""
#: instructions of lanes for each element, at most; exp of float64 alone is 34 of them
MOST = [
    ("softmax", "float32", 512, 42),
    ("softmax", "float64", 512, 72),
    ("softmax", "float64", 1024, 64),
    ("softmax", "float64", 8192, 70),
    ("log_softmax", "float32", 512, 43),
    ("log_softmax", "float64", 512, 73),
    ("four", "float64", 512, 41),
    ("positions", "float64", 512, 30),
    ("sums", "float64", 512, 11),
    ("sums", "float64", 8192, 9),
    ("normal", "float64", 512, 29),
]


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(("name", "dtype", "length", "most"), MOST)
def test_what_an_element_of_a_row_takes(
    shell: Shell, name: str, dtype: str, length: int, most: float
) -> None:
    """Rows of up to 1024 elements have no barrier, and longer ones two for each fold."""
    shell.write("f.py", COUNTED)
    assert shell.convert("f.py", "-f", name, "--no-verify") == 0, shell.err
    made = module(shell.folder / "f_cuda.py", "sm_90")
    kernel = getattr(made, f"{name}_rows")
    kernel.counts = counts = Counts()
    x = np.random.default_rng(1).normal(size=(16, length)).astype(dtype)
    getattr(made, name)(x)
    assert counts.instructions / x.size <= most
    assert (counts.barriers == 0) == (length <= 1024)
    assert counts.sectors <= 1.3 * counts.ideal  # an array of NumPy begins anywhere


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(
    "length",
    [33, 1025]
    + [pytest.param(n, marks=pytest.mark.long) for n in (1, 31, 32, 511, 512, 513, 1024, 2049)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_compiled_kernels_at_the_borders(shell: Shell, dtype: str, length: int) -> None:
    shell.write("f.py", COUNTED)
    assert shell.convert("f.py", "--no-verify") == 0, shell.err
    made = module(shell.folder / "f_cuda.py", "sm_90")
    x = np.random.default_rng(length).normal(size=(9, length)).astype(dtype)
    x[4, length // 2] = np.nan
    e = np.exp(x - x.max(axis=1, keepdims=True))
    close = {"rtol": 100 * np.finfo(dtype).eps, "atol": 100 * np.finfo(dtype).eps}
    np.testing.assert_allclose(made.softmax(x), e / e.sum(axis=1, keepdims=True), **close)
    wanted = x.min(axis=1), x.max(axis=1), x.mean(axis=1), x.var(axis=1)
    for found, expected in zip(made.four(x), wanted, strict=True):
        np.testing.assert_allclose(found, expected, **close)
    assert (made.positions(x) == x.argmax(axis=1)).all()


MISTAKEN = """import numpy as np


def f(x: "float64[:, :]"):
    s = x.sum(axis=1) + x[:, 5]
    x -= s[:, None]
    return s
"""


@pytest.mark.parametrize(
    ("engine", "right", "wrong"),
    [
        ("simulator", "+ THREADS - 1) // THREADS", ") // THREADS"),
        pytest.param(
            "emulator",
            "range(WARP, THREADS, WARP)",
            "range(WARP, THREADS - WARP, WARP)",
            marks=pytest.mark.long,
        ),
        ("emulator", "* cuda.blockDim.y + cuda.threadIdx.y", "+ cuda.threadIdx.y"),
        pytest.param("emulator", "step = WARP // 2", "step = WARP // 4", marks=pytest.mark.long),
        ("emulator", "        cuda.syncwarp()", "        pass"),
    ],
)
def test_verification_sees_a_mistake_in_a_row(
    shell: Shell, engine: str, right: str, wrong: str
) -> None:
    """Every second case takes blocks for rows, whatever their length is."""
    assert_seen(shell, MISTAKEN, engine, right, wrong)


def assert_seen(shell: Shell, source: str, engine: str, right: str, wrong: str) -> None:
    """Verification finds a wrong text in the module of a source."""
    shell.write("f.py", source)
    assert shell.convert("f.py", "--no-verify") == 0
    path = shell.folder / "f_cuda.py"
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
    (found,) = verify_module(path, on=(engine,))
    assert found.mismatch is not None


KEPT = """import numpy as np


def kept(x):
    return np.tanh(x) - np.tanh(x).mean(axis=1, keepdims=True)


def rounded(x):
    out = np.empty(x.shape, np.float32)
    out[:] = np.tanh(x) / np.tanh(x).sum(axis=1, keepdims=True)
    return out


def inside(x):
    total = np.tanh(x[:, 1:-1]).sum(axis=1)
    return np.tanh(x) - total[:, None]


def in_place(x):
    x[:] = np.tanh(x) / np.tanh(x).sum(axis=1)[:, None]


def some(x):
    total = np.where(x > 0, np.tanh(x), 0.0).sum(axis=1)
    return np.tanh(x) - total[:, None]


def turned(x):
    total = np.tanh(x).sum(axis=1)
    return np.tanh(x[:, ::-1]) - total[:, None]
"""


@pytest.mark.parametrize(
    ("name", "calls"),
    [("kept", 1), ("rounded", 2), ("inside", 2), ("in_place", 2), ("some", 2), ("turned", 2)],
)
def test_what_a_row_computes_twice_stays_in_its_result(shell: Shell, name: str, calls: int) -> None:
    """Where the result has it as it is, for the same elements, in any case."""
    shell.write("f.py", KEPT)
    signature = ("--signature", "float64[:, :]")
    assert shell.convert("f.py", "-f", name, *signature, "-o", "-") == 0, shell.err
    assert shell.out.count("math.tanh(") == calls


def test_what_a_row_keeps_has_room_in_shared_memory(shell: Shell) -> None:
    """The launch says how much: the rows of a block, or nothing if that is too much."""
    shell.write("f.py", KEPT)
    signature = ("--signature", "float64[:, :]")
    assert shell.convert("f.py", "-f", "kept", *signature, "--no-verify") == 0, shell.err
    path = shell.folder / "f_cuda.py"
    text = path.read_text()
    kernel = text[text.index("def kept_rows") : text.index("def kept(")]
    loops = kernel[kernel.index("while j <") :]
    assert loops.count("out[") == 1 and loops.count("kept[") == 3
    assert "_room(threads, x.shape[1], out.dtype)]" in text
    room, f8, f4 = module(path, "sm_90")._room, np.dtype(np.float64), np.dtype(np.float32)
    assert room((32, 8), 512, f8) == 8 * 512 * 8 and room((32, 8), 513, f8) == 0
    assert room((32, 8), 1024, f4) == 32768 and room((256, 1), 4096, f8) == 32768
    assert room((256, 1), 4097, f8) == 0 and room((32, 8), 0, f8) == 0


ROOM = """import numpy as np


def f(x: "float64[:, :]"):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
"""


@pytest.mark.parametrize(
    ("engine", "right", "wrong"),
    [
        ("simulator", "if len(room) else", "if not len(room) else"),
        ("simulator", "needed = threads[1] * length", "needed = length"),
        ("simulator", "needed if needed <= ROOM_BYTES else 0", "min(needed, ROOM_BYTES)"),
        ("simulator", "else out[i]", "else out[0]"),
        ("emulator", "room[cuda.threadIdx.y * x.shape[1] :]", "room[:]"),
    ],
)
def test_verification_sees_a_mistake_in_the_room_of_rows(
    shell: Shell, engine: str, right: str, wrong: str
) -> None:
    """In every second case, long rows have none."""
    assert_seen(shell, ROOM, engine, right, wrong)


def test_numba_cuda_mlir_has_no_shuffles(shell: Shell) -> None:
    """Version 0.6 makes 32 bits of a float64 that it shuffles."""
    shell.write("f.py", MISTAKEN)
    assert shell.convert("f.py", "--backend", "numba-cuda-mlir", "--no-verify", "-o", "-") == 0
    assert "block_sum(" in shell.out and "_row_threads(" in shell.out
    assert "shfl" not in shell.out and "WARP" not in shell.out
    assert shell.convert("f.py", "--no-verify", "-o", "-") == 0
    assert "shfl" in shell.out and "block_sum(" not in shell.out
