"""The benchmark over research repositories, on a repository that is made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
SOURCE = """
import numpy as np
import not_installed_anywhere as missing


def centred(x):
    if isinstance(x, missing.Series):
        return x
    return x - x.mean()


def squared(x):
    return x * x


def labelled(x):
    return missing.Series(x)


@missing.cache
def wrapped(x):
    return x
"""
NAME = "repo/package/code.py:"
CALLS = {
    NAME + "centred": [
        {"call": "f(rng.random(8))", "from": "docstring"},
        {"call": "f(x=np.linspace(0, 1, 5))", "from": "tests"},
        {"call": "f(np.zeros(3) / 0)", "from": "tests"},
    ],
    NAME + "squared": [
        {"call": "f(np.array([1.0, 2.0]))", "from": "docstring"},
        {"call": "f('text')", "from": "tests: raises TypeError"},
        {"call": "f({1: 2})", "from": "tests: raises TypeError"},
    ],
}
POOL = {
    "seed": 1,
    "repositories": {
        "repo": {
            "commit": "0123456789abcdef",
            "functions": 4,
            "verdicts": {"convertible": 2, "refused": 2},
            "refusals": {"PRT901": 2},
            "pool": 2,
        }
    },
}


@pytest.fixture
def repos(tmp_path: Path) -> Path:
    """A checkout whose package needs what is not installed, its calls and its pool."""
    package = tmp_path / "repos" / "repo" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import not_installed_anywhere\n\n1 / 0\n")
    (package / "code.py").write_text(SOURCE)
    (tmp_path / "calls.json").write_text(json.dumps(CALLS))
    (tmp_path / "pool.json").write_text(json.dumps(POOL))
    return tmp_path / "repos"


def run(repos: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The script on the made repository."""
    command = [sys.executable, str(BENCHMARKS / "acceptance.py"), "--repos", str(repos)]
    command += ["--calls", str(repos.parent / "calls.json")]
    command += ["--pool", str(repos.parent / "pool.json"), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def judged(repos: Path, bodies: list[str], expression: str) -> dict[str, str]:
    """The words for one call of modules with these bodies instead of `squared`'s."""
    functions = []
    for k, body in enumerate(bodies):
        module = repos.parent / f"module{k}.py"
        module.write_text(f"import numpy as np\n\n\ndef squared(x):\n    {body}\n")
        source = str(repos / "repo/package/code.py")
        made = {"module": str(module), "refused": "", "calls": [expression]}
        functions.append({"source": source, "function": "squared", **made})
    request = repos.parent / "request.json"
    request.write_text(json.dumps({"functions": functions, "seconds": 10}))
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "acceptance_child.py"), str(request)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    return {body: v["word"] for body, (v,) in zip(bodies, answers, strict=True)}


def test_rows_and_page(repos: Path, tmp_path: Path) -> None:
    done = run(repos, "--write", str(tmp_path / "page.md"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 equal, 0 refused, 0 wrong, 0 slow of 6 calls of 2 functions (100 % equal)" in (
        done.stdout
    )
    page = (tmp_path / "page.md").read_text()
    assert f"| {NAME}centred | 3 | 3 | 0 | 0 |" in page
    assert "| repo | `0123456789` | 4 | 2 | 0 | 2 | PRT901 2 |" in page


def test_part_of_a_name(repos: Path) -> None:
    done = run(repos, "--only", "squared")
    assert "of 3 calls of 1 functions" in done.stdout and "centred" not in done.stdout


def test_what_a_module_does(repos: Path) -> None:
    words = {
        "return x * x": "equal",
        "return x * x * (1 + 1e-9)": "wrong",
        "return (x * x).astype(np.float32)": "wrong",
        "return list(x * x)": "wrong",
        "x *= x\n    return x.copy()": "wrong",
        "return np.square(x, out=x)": "wrong",
        "raise ValueError('x is float64[:]')": "refused",
        "raise RuntimeError('lost')": "wrong",
        "import os\n    os._exit(3)": "wrong",
        "while True: pass": "slow",
    }
    assert judged(repos, list(words), "f(np.array([1.0, 2.0, 3.0]))") == words


def test_what_the_original_refuses(repos: Path) -> None:
    """A module that takes it is wrong."""
    words = {"return 1": "wrong", "raise ValueError": "equal"}
    assert judged(repos, list(words), "f('a')") == words


def test_only_plain_functions_load(repos: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(BENCHMARKS)!r})\n"
        "from acceptance_load import MissingModule, load\n"
        f"path = Path({str(repos / 'repo/package/code.py')!r})\n"
        "assert load(path, 'squared')(3) == 9\n"
        "try: load(path, 'labelled')(1)\n"
        "except MissingModule: print('missing')\n"
        "try: load(path, 'wrapped')\n"
        "except LookupError: print('wrapped')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout.split() == ["missing", "wrapped"], done.stderr


def test_the_draw_is_the_same_each_time() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n"
        "from acceptance_draw import draw\n"
        "pools = {'a': ['a1', 'a2', 'a3'], 'b': ['b1']}\n"
        "print(draw(pools, 3, 5) == draw(pools, 3, 5), len(draw(pools, 9, 5)), *draw(pools, 2, 5))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    same, count, *two = done.stdout.split()
    assert same == "True" and count == "4" and {name[0] for name in two} == {"a", "b"}
