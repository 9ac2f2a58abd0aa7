"""What a module refuses names the command that makes kernels for the call; the command does."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.support.shell import Shell

SOURCE = """import numpy as np


def shifted(x, by, axis=-1, mode="wrap me"):
    out = np.roll(x[1:], 1, axis=axis) * by
    return out + 1.0 if mode == "wrap me" else out


def weighted(x, sizes=(2, 3)):
    return np.cumsum(x) * sizes[0] + sizes[1]


def counted(x, n: int):
    return x[:n] * 2.0


def line(x, slope=1.0, intercept=0.0):
    return slope * x + intercept
"""
#: what takes a text or an array, as the original does
TEXTS = """import numpy as np


def f(x, y, d=None):
    if isinstance(y, str):
        y = np.ones(len(x))
    return np.cumsum(x) * y
"""
#: calls that the first module refuses, and the words before the command
CALLS = [
    ("shifted", "np.ones((2, 3, 2)), 2.0, 1", "x has 3 dimensions instead of 1"),
    ("shifted", "np.ones(3), 2.0, mode='a b'", "mode must be "),
    ("shifted", "np.ones((3, 2)), np.ones(2), axis=-1", "by is an array"),
    ("shifted", "np.ones((4, 3), np.complex64), 2.0, 1", "x has dtype complex64"),
    ("weighted", "np.ones(3, np.int8), (4, 5)", "x has dtype int8"),
    ("counted", "np.ones((4, 2)), 3", "x has 2 dimensions instead of 1"),
    ("line", "np.arange(4), 2, 0.5", "slope and an array are integers"),
]
CHILD = """
import importlib, json, sys
import numpy as np
import a
said = []
for module, name, call in json.loads(sys.argv[1]):
    made = importlib.import_module(module)
    vars(made).update(THREADS=32)
    wanted = eval(f"a.{name}({call})")
    try:
        found = eval(f"made.{name}({call})")
    except (TypeError, ValueError) as e:
        said.append(f"{type(e).__name__}: {e}")
    else:
        np.testing.assert_allclose(found, wanted)
        assert found.dtype == wanted.dtype
        said.append("equal")
print(json.dumps(said))
"""


def all_called(shell: Shell, *calls: tuple[str, str, str]) -> list[str]:
    """What calls of modules' functions give, in one child process."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(calls)], cwd=shell.folder, capture_output=True,
        text=True, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(map(str, json.loads(done.stdout)))


def called(shell: Shell, name: str, call: str) -> str:
    return all_called(shell, ("a_cuda", name, call))[0]


def test_the_command_makes_kernels_for_the_call(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    first = (shell.folder / "a_cuda.py").read_text()
    said = all_called(shell, *(("a_cuda", name, call) for name, call, _ in CALLS))
    for k, ((_, _, words), one) in enumerate(zip(CALLS, said, strict=True)):
        assert words in one, one
        found = re.search(r"run `porter convert ([^`]*)`", one)
        assert found is not None, one
        options = shlex.split(found[1])
        assert shell.convert(*options, "--no-verify", "--force") == 0, (one, shell.out)
        shell.write(f"made{k}.py", (shell.folder / "a_cuda.py").read_text())
        shell.write("a_cuda.py", first)
    again = [(f"made{k}", name, call) for k, (name, call, _) in enumerate(CALLS)]
    assert all_called(shell, *again) == ["equal"] * len(CALLS), said


@pytest.mark.parametrize(
    ("values", "kind"),
    [("np.ones(3), object()", "object"), ("np.ones(3), np.sin", "ufunc")],
)
def test_what_no_signature_says_is_named(shell: Shell, values: str, kind: str) -> None:
    shell.write("a.py", "def f(x, k='a'):\n    return x * 2.0 if k == 'a' else x\n")
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    code = f"import numpy as np, a_cuda\na_cuda.f({values})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    said = "k must be 'a': call the original, f of a.py: no signature has a type for k"
    assert f"{said}, which is {kind}" in done.stderr
    assert "porter convert" not in done.stderr


def test_a_value_is_named_with_its_braces(shell: Shell) -> None:
    shell.write("a.py", "def f(x, k='{a}'):\n    return x * 2.0 if k == '{a}' else x\n")
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    assert "TypeError: k must be '{a}': run " in called(shell, "f", "np.ones(3), 7")


def test_squeeze_names_the_array_whose_shape_decides(shell: Shell) -> None:
    shell.write(
        "a.py",
        "import numpy as np\n\n\n"
        "def f(stream, d):\n    return np.squeeze(stream.reshape(-1, 2) * 2.0) + d\n\n\n"
        "def g(x):\n    y = np.fft.ifft(x)\n    return np.squeeze(y[:, None]).real * 2.0\n",
    )
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    end = "which makes an axis 1 long that squeeze was converted to keep: name its axis"
    assert called(shell, "f", "np.ones(4), 1.0") == "equal"
    said = called(shell, "f", "np.ones(2), 1.0")
    assert said == f"ValueError: stream has shape (2,), {end}"
    assert called(shell, "g", "np.ones(4)") == "equal"
    said = called(shell, "g", "np.ones(1)")
    assert said.endswith(f" has shape (1,), {end}"), said


def test_a_length_in_place_of_none_is_tried_as_an_integer(shell: Shell) -> None:
    source = (
        "import numpy as np\n\n\ndef f(x, n=None):\n    return np.abs(np.fft.fft(x, n=n)) * 2.0\n"
    )
    shell.write("a.py", source)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    for call in ("np.ones(8)", "np.ones(8), 16", "np.ones(8), 5", "np.ones(8), None"):
        assert called(shell, "f", call) == "equal"


def test_a_text_for_an_array_is_no_array_without_dimensions(shell: Shell) -> None:
    shell.write("a.py", TEXTS)
    types = "float64[:], float64[:], omitted"
    assert shell.convert("a.py", "-f", "f", "--signature", types, "--no-verify") == 0, shell.out
    start = "TypeError: y must be an array, not str: "
    said = called(shell, "f", "np.ones(3), 'sine'")
    assert said.startswith(f"{start}run `porter convert a.py -f f --signature "), said
    assert "float64[:], Literal[str]('sine'), Literal[NoneType](None)" in said
    said = called(shell, "f", "np.ones(3), 'sine', {'freq': 1}")
    assert (
        said == f"{start}call the original, f of a.py: no signature has a type for d, which is dict"
    )


def test_an_array_with_which_it_does_not_convert(shell: Shell) -> None:
    """No command is named for what was tried: the original is; another rank may convert."""
    source = (
        "import numpy as np\n\n\ndef f(x, s=None):\n"
        '    """\n    Parameters\n    ----------\n    s : array, shape (N,), optional\n    """\n'
        "    if s is not None:\n        x = x + np.linalg.eigvals(np.outer(s, s)).real.sum()\n"
        "    return x * 2.0\n"
    )
    shell.write("a.py", source)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    assert called(shell, "f", "np.ones(3)") == "equal"
    said = called(shell, "f", "np.ones(3), np.ones(3)")
    end = "call the original, f of a.py: with an array of 1 dimension for s it does not convert"
    assert said == f"TypeError: s must be None: {end}"
    said = called(shell, "f", "np.ones(3), np.ones((3, 3))")
    assert said.startswith("TypeError: s must be None: run `porter convert a.py -f f ")
