"""Deep and long functions convert in seconds or are refused; their neighbours always convert."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from tests.support.commands import Done, porter
from tests.support.sampling import one_in

OTHER = "\n\ndef other(x):\n    return np.sqrt(x) + 1.0\n"


def one(body: str, head: str = "def f(x):\n") -> str:
    return f"import numpy as np\n\n\n{head}{body}{OTHER}"


CONVERTED: dict[str, str] = {
    "200 lines": one("".join(f"    x = x + {i}.0\n" for i in range(200)) + "    return x\n"),
    "each twice": one("    a = x\n" + "    a = a * a + x\n" * 60 + "    return a\n"),
    "each squared": one("    a = x\n" + "    a = a * a\n" * 60 + "    return np.sqrt(a)\n"),
    "a sum of 300": one("    return x + " + " + ".join(f"{i}.0" for i in range(300)) + "\n"),
    "a sum of x": one("    return " + " + ".join(["x"] * 300) + "\n"),
    "150 calls": one("    return " + "np.sin(" * 150 + "x" + ")" * 150 + "\n"),
    "180 brackets": one("    return " + "(" * 180 + "x" + ")" * 180 + " + 1.0\n"),
    "a list of 3,000": one(
        "    w = [" + ", ".join(f"{i}.0" for i in range(3000)) + "]\n    return x * w[3]\n"
    ),
}
REFUSED: dict[str, str] = {
    "a sum of 3,000": one("    return x + " + " + ".join(f"{i}.0" for i in range(3000)) + "\n"),
    "3,000 of x": one("    return " + " + ".join(["x"] * 3000) + "\n"),
    "2,000 signs": one("    return " + "-" * 2000 + "x\n"),
    "2,000 nots": one("    return " + "not " * 2000 + "x\n"),
    "2,000 subscripts": one("    return x" + "[0]" * 2000 + "\n"),
    "2,000 attributes": one("    return x" + ".T" * 2000 + "\n"),
    "2,000 powers of a sum": one("    return x" + " * 2.0" * 2000 + "\n"),
    "1,000 elif": one(
        "    if n < 0:\n        x = x + 1.0\n"
        + "".join(f"    elif n < {i}:\n        x = x + {i}.0\n" for i in range(1000))
        + "    return x\n",
        "def f(x, n):\n",
    ),
    "1,500 conditions": one(
        "    return x * (" + "1.0 if n else " * 1500 + "0.0)\n", "def f(x, n):\n"
    ),
    "a default": one("    return x\n", "def f(x, n=" + "1 + " * 2000 + "1):\n"),
}


def convert(folder: Path, source: str) -> Done:
    (folder / "a.py").write_text(source)
    done = porter(folder, "convert", "a.py", "--no-verify", "--timeout", "60", seconds=120)
    assert "Traceback" not in done.stderr and "PRT917" not in done.stdout, done.stdout
    return done


@pytest.mark.parametrize(
    "kind",
    one_in(3, CONVERTED),
)
def test_it_converts(kind: str, tmp_path: Path) -> None:
    done = convert(tmp_path, CONVERTED[kind])
    assert done.returncode == 0, done.stdout + done.stderr
    ast.parse((tmp_path / "a_cuda.py").read_text())


@pytest.mark.parametrize(
    "kind",
    one_in(3, REFUSED),
)
def test_it_is_refused_and_its_neighbour_is_not(kind: str, tmp_path: Path) -> None:
    done = convert(tmp_path, REFUSED[kind])
    assert done.returncode == 1
    assert "levels deep; the limit is 800" in done.stdout
    assert "converted other" in done.stdout
    found = porter(tmp_path, "analyze", "a.py", "--no-cache", seconds=60)
    assert found.returncode in (0, 1) and not found.stderr, found.stderr
    assert "other" in found.stdout


@pytest.mark.long
def test_time_grows_near_linearly(tmp_path: Path) -> None:
    seconds = []
    for lines in (250, 500):
        source = one("".join(f"    x = x + {i}.0\n" for i in range(lines)) + "    return x\n")
        before = time.perf_counter()
        assert convert(tmp_path, source).returncode == 0
        seconds.append(time.perf_counter() - before)
        (tmp_path / "a_cuda.py").unlink()
    assert seconds[1] < 3.2 * seconds[0] + 1.0
