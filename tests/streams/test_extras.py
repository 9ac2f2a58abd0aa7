"""`--timing`, `--launch forall` and `--on-device`: what modules have beside their functions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from porter.cli import main
from tests.support.paths import ROOT
from tests.support.shell import Shell, porter

HEAD = "import numpy as np\n\n\n"
SOURCE = f"""{HEAD}def smooth(x, steps):
    for _ in range(steps):
        y = x.copy()
        y[1:-1] = 0.5 * (x[2:] + x[:-2])
        x = y
    return x / x.max()


def clip(x, most):
    x[x > most] = most
"""
SIGNATURES = (
    '[tool.porter.signatures]\nsmooth = "float64[:], int64"\nclip = "float64[:], float64"\n'
)


def run(shell: Shell, script: str) -> list[str]:
    """What a script says that has the module as `m`, on the simulator."""
    text = f"import numpy as np\nimport f_cuda as m\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def source(shell: Shell) -> Shell:
    """A folder with a source file."""
    shell.write("f.py", SOURCE)
    shell.write("pyproject.toml", SIGNATURES)
    return shell


def test_events_give_milliseconds_by_launch_and_by_kernel(source: Shell) -> None:
    """The simulator's events give -1 for each launch."""
    assert source.convert("f.py", "--timing") == 0
    assert (
        "def smooth(x, steps, *, stream=None, timing=None):"
        in (source.folder / "f_cuda.py").read_text()
    )
    said = run(source, (
        "each, by, x = [], {}, np.arange(9.0)\n"
        "one = m.smooth(x, 3, timing=each)\n"
        "two = m.smooth(x, 3, timing=by)\n"
        "print(len(each), {t for _, t in each}, {n for n, _ in each} == set(by))\n"
        "print(sum(by.values()) == -len(each), (one == two).all(), (m.smooth(x, 3) == two).all())\n"
        "m.clip(x, 4.0, timing=each)\n"
        "print(x.max(), each[-1][0].startswith('clip'))\n"
    ))  # fmt: skip
    count = said[0].split()[0]
    assert int(count) > 3
    assert said == [f"{count} {{-1.0}} True", "True True True", "4.0 True"]


def test_forms_take_and_hand_on_the_keyword(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x, mode):\n    if mode == 'a':\n        return x * 2\n"
                "    return x.sum(axis=0)\n")  # fmt: skip
    signatures = [
        part for k in "ab" for part in ("--signature", f"float64[:, :], Literal[str]({k})")
    ]
    assert shell.convert("f.py", "--timing", *signatures) == 0
    said = run(shell, (
        "t = []\nm.f(np.ones((3, 4)), 'a', timing=t)\nprint(len(t))\n"
        "m.f(np.ones((3, 4)), 'b', timing=t)\nprint(len(t) > 1)\n"
    ))  # fmt: skip
    assert said == ["1", "True"]


def test_a_parameter_of_that_name_stays_the_users(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x, timing):\n    return x * timing\n")
    assert shell.convert("f.py", "--timing", "--signature", "float64[:], float64") == 0
    said = run(shell, "t = []\nprint(m.f(np.ones(2), 3.0, timing2=t), len(t))\n")
    assert said == ["[3. 3.] 1"]


def test_a_bad_argument_says_which_command_converts_it(source: Shell) -> None:
    """The keyword is none of the function's own types."""
    assert source.convert("f.py", "--timing", "-f", "smooth") == 0
    said = run(
        source, "try:\n    m.smooth(np.ones((2, 2)), 1)\nexcept ValueError as e:\n    print(e)"
    )
    assert said[0].endswith('--signature "float64[:, :], int64"`')


@pytest.mark.long
def test_elementwise_kernels_are_launched_for_all_elements(source: Shell) -> None:
    assert source.convert("f.py", "--launch", "forall", verify=True) == 0
    text = (source.folder / "f_cuda.py").read_text()
    assert "clip_kernel.forall(x.shape[0], stream=stream)(" in text
    assert "note: launched with forall: " in source.out
    assert "note: launched on grids: smooth_total" in source.out
    # the threads beyond the last element of the last block are there as they are on a GPU
    wrong = text.replace("if 0 <= i < x.shape[0]:", "if 0 <= i:")
    assert wrong != text
    source.write("f_cuda.py", wrong)
    assert porter(source, "verify", "f_cuda.py", "--on", "simulator").returncode == 1


def test_arrays_stay_on_the_device_and_come_back_changed(source: Shell) -> None:
    assert source.convert("f.py", "--on-device") == 0
    said = run(source, (
        "x, y = np.arange(6.0), np.arange(6.0)[::2]\n"
        "y.flags.writeable = False\n"
        "with m.on_device(x, y) as (d_x, d_y):\n"
        "    m.clip(d_x, 4.0)\n"
        "    m.clip(d_x, 3.0)\n"
        "    again = m.smooth(d_y, 2)\n"
        "    print(x.max(), type(d_y).__name__, type(again).__name__)\n"
        "print(x, y)\n"
        "with m.on_device(x) as d_x, m.on_device(d_x) as same:\n"
        "    print(same is d_x)\n"
        "    m.clip(d_x, 1.0)\n"
        "with m.on_device(x, x) as (one, two):\n"
        "    print(one is two)\n"
        "print(x)\n"
        "try:\n"
        "    with m.on_device(x, x[1:]):\n"
        "        pass\n"
        "except ValueError as e:\n"
        "    print(e)\n"
        "try:\n"
        "    with m.on_device([1.0]):\n"
        "        pass\n"
        "except TypeError as e:\n"
        "    print(e)\n"
    ))  # fmt: skip
    assert said == [
        "5.0 FakeCUDAArray FakeCUDAArray",
        "[0. 1. 2. 3. 3. 3.] [0. 2. 4.]",
        "True",
        "True",
        "[0. 1. 1. 1. 1. 1.]",
        "two arrays overlap: each would have elements of its own there",
        "list is no array",
    ]


@pytest.mark.parametrize("option", [
    ("--timing",), ("--launch", "forall"), ("--on-device",), ("--pipeline", "2"),
])  # fmt: skip
def test_they_are_for_kernels(source: Shell, option: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["convert", "f.py", "--target", "loops", *option])
    source.out, source.err = source.capsys.readouterr()
    assert done.value.code == 2
    assert source.error() == f"{' '.join(option)} is for kernels, not for loops"


def test_all_of_it_together_is_verified(source: Shell) -> None:
    options = ["--timing", "--launch", "forall", "--on-device", "--pipeline", "2"]
    assert source.convert("f.py", *options, verify=True) == 0
    assert source.convert("f.py", *options, "--check") == 0
    assert source.convert("f.py", "--check") == 1


def test_benchmarks_pass_no_keyword_of_ours(source: Shell) -> None:
    assert source.convert("f.py", "--timing", "-f", "clip") == 0
    done = porter(source, "bench", "f_cuda.py", "--size", "n=64")
    assert done.returncode == 0, done.stderr
    assert "clip" in done.stdout
