"""`porter convert` on inputs of all kinds: signatures, hints, odd files, notebooks, templates."""

from __future__ import annotations

import json

import pytest

from tests.support.paths import ROOT
from tests.support.shell import GOOD, Shell, signatures

# -- types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("float32[:, :]", "float32[:, :]"),
        ("float64[::1]", "float64[:]"),
        ("(float32[:],)", "float32[:]"),
        ("float64[:](float64[:])", "float64[:]"),
        ("f4[:]", "float32[:]"),
    ],
)
def test_signature_decides_the_types(shell: Shell, given: str, found: str) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-f", "double", "--signature", given) == 0
    assert signatures(shell) == {"double": found}
    assert "assumed" not in shell.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("float64[:], float64", "double"),
        ("", "double"),
        ("float65[:]", "float65"),
        ("float64[:", "float64[:"),
        ("float64[0]", "float64[0]"),
    ],
)
def test_wrong_signature_is_a_usage_error(shell: Shell, given: str, said: str) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("good.py", "-f", "double", "--signature", given) == 2
    assert said in shell.error()
    assert shell.files() == ["good.py", "pyproject.toml"]


def test_signatures_of_the_project(shell: Shell) -> None:
    shell.write("pyproject.toml", '[tool.porter.signatures]\ntotal = "float32[:, :]"\n')
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 0
    assert signatures(shell) == {"double": "float64[:]", "total": "float32[:, :]"}
    assert shell.convert("good.py", "-f", "total", "--signature", "float64[:]") == 0
    assert signatures(shell) == {"total": "float64[:]"}


@pytest.mark.parametrize(
    "table", ["signatures = 3", "[tool.porter.signatures]\ntotal = 3", "[tool.porter.signatures"]
)
def test_broken_settings_are_a_usage_error(shell: Shell, table: str) -> None:
    shell.write("pyproject.toml", f"[tool.porter]\n{table}\n")
    shell.write("good.py", GOOD)
    assert shell.convert("good.py") == 2
    assert "pyproject.toml" in shell.error()


@pytest.mark.parametrize(
    "decorator",
    [
        '@njit("float32[:](float32[:])")',
        '@jit("float32[:](float32[:])", nopython=True)',
        '@njit(["float32[:](float32[:])", "float64[:](float64[:])"])',
        "@njit(nb.float32[:](nb.float32[:]))",
    ],
)
def test_a_decorators_signature_is_taken(shell: Shell, decorator: str) -> None:
    shell.write(
        "good.py",
        f"import numba as nb\nimport numpy as np\nfrom numba import jit, njit\n\n\n{decorator}\n"
        "def f(x):\n    return np.exp(x)\n",
    )
    assert shell.convert("good.py") == 0
    assert signatures(shell) == {"f": "float32[:]"}
    assert "assumed" not in shell.out


@pytest.mark.parametrize(
    ("hint", "found"),
    [
        ("NDArray[np.float32]", "float32[:]"),
        ("npt.NDArray[np.float32]", "float32[:]"),
        ('"NDArray[np.float32]"', "float32[:]"),
        ("Samples", "float32[:]"),
        ("np.ndarray", "float64[:]"),
        ("nb.float32[:, :]", "float32[:, :]"),
    ],
)
def test_a_type_hint_is_taken(shell: Shell, hint: str, found: str) -> None:
    shell.write(
        "good.py",
        "import numba as nb\nimport numpy as np\nimport numpy.typing as npt\n"
        "from numpy.typing import NDArray\n\nSamples = NDArray[np.float32]\n\n\n"
        f"def f(x: {hint}):\n    return np.exp(x)\n",
    )
    assert shell.convert("good.py") == 0
    assert signatures(shell) == {"f": found}


def test_a_hinted_array_is_never_taken_for_a_scalar(shell: Shell) -> None:
    shell.write(
        "good.py",
        "import numpy as np\nfrom numpy.typing import NDArray\n\nA = NDArray[np.float64]\n\n\n"
        "def f(x: A, y: A):\n    return np.exp(x) * y\n",
    )
    assert shell.convert("good.py") == 0
    assert signatures(shell) == {"f": "float64[:], float64[:]"}


# -- inputs of all kinds -------------------------------------------------------------------------


def test_syntax_error_is_a_finding(shell: Shell) -> None:
    shell.write("broken.py", "x = 1\ndef f(x:\n    return x\n")
    assert shell.convert("broken.py") == 1
    assert "PRT900" in shell.out
    assert "broken.py:" in shell.out
    assert shell.files() == ["broken.py", "pyproject.toml"]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "x = 1\n", "\ufeff"])
def test_file_without_functions(shell: Shell, text: str) -> None:
    shell.write("empty.py", text)
    assert shell.convert("empty.py") == 0
    assert shell.out == "note: empty.py: no functions to convert\n"
    assert shell.files() == ["empty.py", "pyproject.toml"]


def test_binary_file(shell: Shell) -> None:
    shell.write("blob.py", bytes(range(256)))
    assert shell.convert("blob.py") == 2
    assert shell.error() == "blob.py: a binary file, not Python source"


def test_missing_file_and_directory_without_python(shell: Shell) -> None:
    assert shell.convert("missing.py") == 2
    assert shell.error() == "missing.py: no such file or directory"
    (shell.folder / "folder").mkdir()
    assert shell.convert("folder") == 2
    assert shell.error() == "folder: no Python files in this directory"


def test_a_problem_with_one_path_does_not_hide_the_others(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    assert shell.convert("missing.py", "good.py") == 2
    assert shell.error() == "missing.py: no such file or directory"
    assert "good_cuda.py" in shell.files()


def test_directory_respects_gitignore(shell: Shell) -> None:
    shell.write("src/.gitignore", "skipped/\n")
    shell.write("src/good.py", GOOD)
    shell.write("src/skipped/other.py", GOOD)
    assert shell.convert("src") == 0
    assert [f for f in shell.files() if f.endswith("_cuda.py")] == ["src/good_cuda.py"]


def test_a_file_of_20000_lines(shell: Shell) -> None:
    filler = "".join(f"CONSTANT_{i} = {i}\n" for i in range(20_000))
    shell.write("long.py", GOOD + "\n\n" + filler)
    assert shell.convert("long.py", "-f", "double") == 0
    assert signatures(shell, "long_cuda.py") == {"double": "float64[:]"}


def test_a_file_of_20000_lines_of_code(shell: Shell) -> None:
    body = "".join(
        f"def f{i}(name):\n    text = name.strip()\n    return open(text + '{i}')\n\n\n"
        for i in range(4_000)
    )
    shell.write("long.py", body)
    assert shell.convert("long.py", "-f", "f3999") == 1
    assert "long.py:19997:" in shell.out


def test_notebook(shell: Shell) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# title"], "metadata": {}},
        {"cell_type": "code", "source": "%matplotlib inline\nimport numpy as np", "metadata": {},
         "outputs": [], "execution_count": None},
        {"cell_type": "code", "source": "def double(x):\n    return 2.0 * np.exp(x)\n",
         "metadata": {}, "outputs": [], "execution_count": None},
    ]  # fmt: skip
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    shell.write("study.ipynb", json.dumps(book))
    assert shell.convert("study.ipynb") == 0
    assert shell.files() == ["pyproject.toml", "study.ipynb", "study_cuda.py"]
    assert signatures(shell, "study_cuda.py") == {"double": "float64[:]"}


def test_notebook_is_verified_too(shell: Shell) -> None:
    source = "import numpy as np\ndef double(x):\n    return 2.0 * np.exp(x)\n"
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    shell.write("study.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    assert shell.convert("study.ipynb", verify=True) == 0
    assert "verified on the simulator" in shell.out


# -- templates -----------------------------------------------------------------------------------


def test_templates_override_ours(shell: Shell) -> None:
    shell.write("good.py", GOOD)
    text = (ROOT / "templates" / "module.py.j2").read_text()
    shell.write("mine/module.py.j2", text + "\n# made for our team\n")
    assert shell.convert("good.py", "--templates", "mine", "-o", "-") == 0
    assert shell.out.endswith("# made for our team\n")
    assert shell.convert("good.py", "--templates", "nowhere") == 2
    assert shell.error() == "--templates nowhere: no such directory"


@pytest.mark.parametrize(
    ("text", "said"),
    [("{{ no_such_name }}\n", "no_such_name"), ("{% for %}\n", "module.py.j2")],
)
def test_a_mistake_in_a_template_is_one_line(shell: Shell, text: str, said: str) -> None:
    shell.write("good.py", GOOD)
    shell.write("mine/module.py.j2", text)
    assert shell.convert("good.py", "--templates", "mine") == 2
    assert said in shell.error()
    assert "mine" in shell.error()
    assert "PORTER_DEBUG" not in shell.error()
    assert "good_cuda.py" not in shell.files()
