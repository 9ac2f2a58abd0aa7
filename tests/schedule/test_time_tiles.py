"""Loops over time of which blocks do several turns in a tile of shared memory."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.schedule.children import assert_none_wrong
from tests.support.shell import Shell, porter

SOURCE = """\
import numpy as np


def swapped(u: "float64[:, :]", alpha: float, steps: int):
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (u[:-2, 1:-1] + u[2:, 1:-1])
        u, new = new, u
    return u


def in_place(A: "float64[:]", B: "float64[:]", steps: int):
    for _ in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = 0.5 * (B[:-2] + B[2:])


def anew(u: "float64[:]", steps: int):
    for _ in range(steps):
        lap = np.zeros_like(u)
        lap[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        u = u + 0.25 * lap
    return u


def two_domains(A: "float64[:]", B: "float64[:]", steps: int):
    for _ in range(steps):
        B[1:-1] = A[:-2] + A[2:]
        A[2:-2] = 0.5 * (B[1:-3] - B[3:-1])


def coefficients(u: "float64[:]", k: "float64[:]", steps: int):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k[1:-1] * (u[2:] - u[:-2])
        u[1:-1] = v[1:-1]


def numbered(u: "float64[:]", steps: int):
    for t in range(steps):
        v = u.copy()
        v[1:-1] = u[:-2] + u[2:] * t
        u = v
    return u


def around(u: "float64[:]", steps: int):
    for _ in range(steps):
        u = 0.5 * (np.roll(u, 1) + np.roll(u, -1))
    return u


def planes(u: "float64[:, :, :]", steps: int):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u


def far(u: "float64[:]", steps: int):
    v = u.copy()
    for _ in range(steps):
        v[5:] = 0.5 * (u[:-5] + u[5:])
        u, v = v, u
    return u


def many(u: "complex128[:, :]", steps: int):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u


def own_elements(u: "float64[:]", steps: int):
    for _ in range(steps):
        u = u * 0.5
    return u
"""
#: what the host function makes of the number of turns
LAUNCHES = {
    "swapped": "2 * max((steps - 2) // (4 * (TIME_HALO // 2)), 0)",
    "in_place": "2 * max((steps - 1) // (2 * (LINE_HALO // 2)), 0)",
    "anew": "2 * max((steps - 3) // (4 * (LINE_HALO // 2)), 0)",
}


def text_of(name: str) -> list[str]:
    """The functions of a module."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    return list(convert_function(function).text.parts)


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches_of_tiles_come_before_what_is_left(name: str) -> None:
    *kernels, host = text_of(name)
    assert f"launches = {LAUNCHES[name]}" in host
    assert host.index(f"{name}_turns[") < host.rindex("_repeat(")
    (kernel,) = (k for k in kernels if f"def {name}_turns(" in k)
    assert kernel.count("cuda.syncthreads()") >= 3 and "shared.array" in kernel
    # a kernel that is launched in two places is written once
    assert len(kernels) == len(set(kernels))


def test_of_an_array_that_a_turn_stores_first_only_the_rest_is_loaded() -> None:
    (kernel,) = (k for k in text_of("swapped") if "def swapped_turns(" in k)
    assert "if not (1 <= i < u2_later.shape[0] - 1" in kernel
    (kernel,) = (k for k in text_of("anew") if "def anew_turns(" in k)
    assert "if not" not in kernel  # all of it is stored first


@pytest.mark.parametrize(
    "name", ["two_domains", "coefficients", "numbered", "around", "planes", "far", "many",
             "own_elements"]
)  # fmt: skip
def test_other_loops_stay_as_they_are(name: str) -> None:
    """Arguments may be one array, a launch needs the number of the turn, elements are far away, or
    a block has no room."""
    assert "_turns" not in "".join(text_of(name))


@pytest.mark.parametrize(
    "name", ["in_place", *(pytest.param(n, marks=pytest.mark.long) for n in ("swapped", "anew"))]
)
def test_results_are_those_of_numpy(shell: Shell, name: str) -> None:
    """Verification gives one array for two arguments, too, and enough turns for tiles."""
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", name, "-o", "-", verify=True) == 0, shell.err


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("A_tile[np.uint64(column + 1)]", "A_tile[np.uint64(column)]"),
        ("column < LINE_TILE - edge", "column < LINE_TILE - edge - 1"),
        ("cuda.threadIdx.x + LINE_HALO", "cuda.threadIdx.x + LINE_HALO + 1"),
        ("(steps - 1) // (2 *", "(steps - 1) // (1 *"),
    ],
)
@pytest.mark.long
def test_verification_sees_what_is_wrong(shell: Shell, right: str, wrong: str) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", "in_place", "-o", "f_cuda.py", "--no-verify") == 0
    text = (shell.folder / "f_cuda.py").read_text()
    assert right in text
    shell.write("f_cuda.py", text.replace(right, wrong))
    done = porter(shell, "verify", "f_cuda.py", "--on", "simulator")
    assert done.returncode == 1 and "failed verification" in done.stderr + done.stdout


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [12, pytest.param(240, marks=pytest.mark.long)])
def test_random_turns_at_the_borders_of_tiles(engine: str, count: int) -> None:
    assert_none_wrong("time_tiles_child", engine, str(count), "0")
