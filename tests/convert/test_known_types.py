"""Types come from callers, then from the docstring, then from use; a module says where from."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.convert.check import check_function
from porter.convert.function import convert_function
from porter.source import callers
from porter.source.module import SourceModule
from tests.support.shell import Shell

NUMPY = "import numpy as np\n\n\n"
ROWS = "def f(x):\n    return x / x.sum()\n"


def module(text: str, path: str = "mine.py") -> SourceModule:
    return SourceModule(NUMPY + text, path)


def types(text: str, path: str = "mine.py") -> tuple[str, tuple[str, ...]]:
    """The signature and what is assumed; `analyze` says the same."""
    one = module(text, path)
    made = convert_function(one.by_name["f"])
    verdict = check_function(module(text, path).by_name["f"], None)
    assert (verdict.signature, tuple(verdict.assumed)) == (made.signature, made.assumed)
    return made.signature, made.assumed


def test_a_call_comes_before_the_docstring_and_before_use():
    said = '    """Parts.\n\n    Parameters\n    ----------\n    x : (n, m, k) array\n    """\n'
    documented = ROWS.replace(":\n", ":\n" + said, 1)
    assert types(ROWS)[0] == "float64[:]"
    assert types(documented) == ("float64[:, :, :]", ("x is float64[:, :, :] (docstring)",))
    called = documented + 'if __name__ == "__main__":\n    f(np.ones((2, 3), np.float32))\n'
    assert types(called) == (
        "float32[:, :]",
        ("x is float32[:, :] (line 13: f(np.ones((2, 3), np.float32)))",),
    )


def test_numeric_and_mixed_calls_give_the_form_for_any_rank():
    text = "def f(x, y):\n    return np.exp(-x) * y\n"
    assert types(text + "f(np.ones((2, 3)), 1.5)\nf(2.0, np.ones(4))\n")[0] == (
        "float64[:], float64[:]"
    )
    said = '    """\n    Parameters\n    ----------\n    x : numeric\n    y : numeric\n    """\n'
    assert types(text.replace("):\n", "):\n" + said))[0] == "float64[:], float64[:]"


def test_what_is_refused_for_a_call_gives_way_to_use():
    text = "def f(x):\n    n, m = x.shape\n    return x[:, 0] + x[0, 0]\nf(np.ones(3))\n"
    assert types(text) == ("float64[:, :]", ("x is a 2-D array of float64",))


def test_floats_where_the_default_is_a_whole_number():
    text = "def f(x, k=0):\n    return x.sum() + x * k\n"
    assert types(text)[0] == "float64[:], float64"
    assert types(text + "f(np.ones(3), 20.5)\n")[0] == "float64[:], float64"
    # a length stays one
    text = "def f(x, k=1):\n    return x[k:] - x[:-k]\nf(np.ones(3), 2)\n"
    assert types(text)[0] == "float64[:], int64"


def test_explicit_types_come_first():
    text = "def f(x: 'float64[:, :]'):\n    return x + 1.0\nf(np.ones(3))\n"
    assert types(text)[0] == "float64[:, :]"
    one = module(ROWS + "f(np.ones((2, 2)))\n").by_name["f"]
    assert convert_function(one, "float32[:]").assumed == ()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    callers.forget()
    (tmp_path / "pyproject.toml").write_text("")
    package = tmp_path / "pkg" / "sub"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "rows.py").write_text(NUMPY + ROWS)
    (tmp_path / "tests").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "imported, call",
    [
        ("from pkg.sub.rows import f", "f"), ("from pkg.sub import rows", "rows.f"),
        ("import pkg", "pkg.sub.f"), ("import pkg.sub.rows as r", "r.f"),
        ("from pkg.sub.rows import *", "f"),
    ],
)  # fmt: skip
def test_tests_of_the_project_say_how_a_function_is_called(project, imported, call):
    text = f"import numpy as np\n{imported}\n\n\ndef test():\n    {call}(np.ones((2, 3)))\n"
    (project / "tests" / "test_rows.py").write_text(text)
    path = project / "pkg" / "sub" / "rows.py"
    found = types(path.read_text().removeprefix(NUMPY), str(path))
    assert found == (
        "float64[:, :]",
        (f"x is float64[:, :] (tests/test_rows.py:6: {call}(np.ones((2, 3))))",),
    )


def test_functions_of_other_modules_are_not_meant(project):
    text = "import numpy as np\nfrom pkg.other import f\nimport pkg\nf(np.ones((2, 3)))\n"
    (project / "tests" / "test_rows.py").write_text(text)
    path = project / "pkg" / "sub" / "rows.py"
    assert types(path.read_text().removeprefix(NUMPY), str(path))[0] == "float64[:]"


def test_definitions_that_only_state_types_are_no_functions():
    text = (
        "from typing import overload\n@overload\ndef f(x: float) -> float: ...\n"
        "@overload\ndef f(x: list) -> list:\n    ...\ndef f(x):\n    return np.exp(x)\n"
    )
    assert [f.name for f in module(text).functions] == ["f"]
    assert types(text)[0] == "float64[:]"


DECORATED = """import numba


@numba.njit("f4[:](f4[:])")
def good(x):
    return x * 2


@numba.njit("f4[:](strange)")
def bad(x):
    return x + 1
"""


def test_types_of_the_source_that_cannot_be_read_refuse_their_function(shell: Shell) -> None:
    shell.write("f.py", DECORATED)
    assert shell.convert("f.py") == 1
    assert "converted good(float32[:])" in shell.out and "refused bad" in shell.out
    assert "error[PRT907]: `strange` in the signature `f4[:](strange)`" in shell.out
    assert "f.py:10:5" in shell.out and (shell.folder / "f_cuda.py").exists()
    # what the command says is an error of the command
    assert shell.convert("f.py", "-f", "good", "--signature", "strange[:]", "--force") == 2
