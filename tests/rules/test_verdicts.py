"""`porter analyze` has a verdict on every function, and counts what it does not list."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porter.cli import main
from porter.rules.verdicts import VERDICTS

Run = Callable[..., tuple[int, str, str]]

EVERY_KIND = """
import math

import numpy as np
from numba import cuda, guvectorize, njit, vectorize


def weighted(values, weights):
    return values * weights


def product(A, B):
    return A @ B


def squares(v):
    acc = 0.0
    for x in v:
        acc += x * x
    return acc


def mean(v):
    return v.sum() / v.size


def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


def squash(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = logistic(x[i])
    return out


def logged(x):
    return {"log": np.log(x)}


def guarded(x):
    try:
        return np.log(x)
    except FloatingPointError:
        return x


@vectorize
def gain(x, k):
    return x * k


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = twice(x[i])


def launch(x):
    out = np.empty_like(x)
    doubled[1, 32](x, out)
    return out


def load(path):
    with open(path) as file:
        return file.read()


async def fetch(url):
    return await url


class Model:
    def __init__(self, k):
        self.k = k

    def scale(self, x):
        return x * self.k
"""

EXPECTED = {
    "weighted": "convertible",
    "product": "convertible",
    "squares": "convertible",
    "mean": "convertible",
    "logistic": "device function",
    "squash": "convertible",
    "logged": "partly",
    "guarded": "refused",
    "gain": "ufunc",
    "twice": "device function",
    "doubled": "kernel",
    "Model.scale": "convertible",
}
HIDDEN = {"launch", "load", "fetch", "Model.__init__"}


@pytest.fixture
def analyze(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        (tmp_path / "s.py").write_text(textwrap.dedent(text).lstrip("\n"), "utf-8")
        with pytest.raises(SystemExit) as done:
            main(["analyze", "s.py", "--no-cache", *arguments])
        assert isinstance(done.value.code, int)
        return done.value.code, *capsys.readouterr()

    return run


def verdicts(output: str) -> dict[str, str]:
    functions: list[dict[str, Any]] = json.loads(output)["functions"]
    return {f["name"]: f["verdict"] for f in functions}


def test_every_function_has_a_verdict(analyze: Run) -> None:
    _, out, _ = analyze(EVERY_KIND, "--output-format", "json")
    assert verdicts(out) == EXPECTED
    _, out, _ = analyze(EVERY_KIND, "--output-format", "json", "--all")
    everything = verdicts(out)
    assert everything.keys() == EXPECTED.keys() | HIDDEN
    assert set(everything.values()) == set(VERDICTS)


def test_the_last_line_counts_every_function(analyze: Run) -> None:
    _, out, _ = analyze(EVERY_KIND)
    assert out.splitlines()[-1].endswith(
        "16 functions: 10 judged (6 convertible, 1 partly, 1 refused, 1 kernel, 1 ufunc), "
        "2 scalar helpers, 4 with nothing to convert (listed by --all)"
    )


def test_files_without_an_array_library_are_judged_by_what_they_compute(analyze: Run) -> None:
    text = """
    def weighted(values, weights):
        '''Both as arrays.'''
        return values * weights

    def title(name):
        return "Dr. " + name.strip()

    def handler(request):
        return request.get_json()["id"] + 1
    """
    _, out, _ = analyze(text, "--output-format", "json")
    assert verdicts(out) == {"weighted": "convertible"}
    _, out, _ = analyze(text)
    assert out.splitlines()[-1] == (
        "no findings; 3 functions: 1 judged (1 convertible), "
        "2 with nothing to convert (listed by --all)"
    )


def test_an_empty_file_is_not_silence(analyze: Run) -> None:
    assert analyze("")[1] == "no findings; no functions\n"


def test_lines_fit_a_terminal(analyze: Run) -> None:
    _, out, _ = analyze(EVERY_KIND, "--all")
    table = out[out.index("s.py:8") : out.rindex("\n\n")]
    assert [line for line in table.splitlines() if len(line) > 100] == []


ADVICE = """
from numba import cuda

@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]

def launch(x, out):
    doubled[x.size, 1](x, out)
"""


def test_advice_alone_is_no_failure(analyze: Run) -> None:
    chosen = ("--select", "PRT606")
    code, out, _ = analyze(ADVICE, "--output-format", "json", *chosen)
    assert [d["severity"] for d in json.loads(out)["diagnostics"]] == ["advice"]
    assert code == 0
    assert analyze(ADVICE, "--strict", *chosen)[0] == 1
    assert analyze(ADVICE, "--strict", "--exit-zero", *chosen)[0] == 0
    # a warning or an error still is one
    assert analyze(ADVICE.replace("out[i] = 2", "return 2"), "--select", "PRT301")[0] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x):\n    return x * 2\n", "faster below about 8,192 elements per axis (modelled)"),
        ("import numpy as np\ndef f(k):\n    return np.arange(3.0) * k\n",
         "too small for a GPU: 3 operations in 1 launch"),
    ],
)  # fmt: skip
def test_functions_too_small_for_a_launch_say_so(analyze: Run, text: str, said: str) -> None:
    _, out, _ = analyze(text)
    assert said in " ".join(out.split())


def test_a_kernel_of_one_thread_says_so(analyze: Run, tmp_path: Path) -> None:
    text = """
    def smoothed(x):
        for i in range(1, x.shape[0]):
            x[i] = 0.5 * x[i] + x[i - 1] * x[i - 1]
        return None
    """
    (tmp_path / "pyproject.toml").write_text("[tool.porter]\nallow-serial = true\n", "utf-8")
    _, out, _ = analyze(text)
    assert "one thread runs a kernel of" in " ".join(out.split())


def test_convert_says_it_too(
    analyze: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    analyze("import numpy as np\ndef f(k):\n    return np.arange(3.0) * k\n")
    with pytest.raises(SystemExit):
        main(["convert", "s.py", "--no-verify"])
    assert "  note: too small for a GPU: 3 operations in 1 launch\n" in capsys.readouterr().out
