"""Where the sizes of a call come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.bench.counting import count
from porter.bench.sizes import STEPS, halved, parse_sizes, said_sizes, usual_sizes
from porter.diagnostics import UsageError
from porter.trace.lookup import forget
from porter.trace.record import Sizes, Trace, TracedFunction, TracedSignature, write_trace
from porter.verify.compile.backends import version
from tests.support.paths import EXAMPLES, ROOT

SOURCE = """import numpy as np


# porter: size n=1e6
# porter: size m = 20
def f(x):
    return x


class C:
    def g(self, x):  # porter: size n=3
        # porter: size: steps=4
        return x
"""


def test_sizes_are_names_and_whole_numbers() -> None:
    assert parse_sizes("n=4096, m=1e6,k = 1_000", "--size") == {
        "n": 4096, "m": 1_000_000, "k": 1000
    }  # fmt: skip
    assert parse_sizes("", "--size") == {}


@pytest.mark.parametrize("text", ["n", "n=", "n=x", "n=-1", "n=1.5", "3=4", "n=1e30", "n=2;m=3"])
def test_what_is_no_size_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"--size: `.*` is not a size such as n=4096"):
        parse_sizes(text, "--size")


def test_comments_are_of_the_function_that_they_are_in_or_above() -> None:
    assert said_sizes(SOURCE, "a.py") == {
        "f": {"n": 1_000_000, "m": 20}, "C.g": {"n": 3, "steps": 4}
    }  # fmt: skip
    assert said_sizes("# porter: domain x > 0\ndef f(x): ...\n", "a.py") == {}


def test_a_comment_at_no_function_or_without_a_size_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"a\.py:1: size comment: it stands neither in a function"):
        said_sizes("# porter: size n=3\n\nx = 1\n", "a.py")
    with pytest.raises(UsageError, match=r"a\.py:2: size comment: `n=a` is not a size"):
        said_sizes("def f(x):\n    # porter: size n=a\n    return x\n", "a.py")


def test_usual_sizes_follow_from_the_largest_array() -> None:
    found = usual_sizes([("n", "m"), ("m", "k+1", "3"), ("q",)])
    assert found == {"n": 1024, "m": 128, "k": 128, "q": 1 << 20}
    assert halved({"n": 100, "m": 4, "k": 1}) == {"n": 50, "m": 4, "k": 1}


@pytest.mark.skipif(version("numba-cuda") is None, reason="no CUDA compiler is installed")
def test_a_size_is_given_or_said_or_traced_or_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (EXAMPLES / "heat.py").read_text("utf-8")
    said = source.replace("def heat(", "# porter: size n=40\ndef heat(")
    (tmp_path / "heat.py").write_text(said, "utf-8")
    golden = (ROOT / "tests" / "golden" / "heat_cuda.py").read_text("utf-8")
    module = tmp_path / "heat_cuda.py"
    module.write_text(golden.replace("../../examples/heat.py", "heat.py"), "utf-8")
    signature = TracedSignature("float64[:, ::1], float64, int64", 3, (
        Sizes(((30, 60), None, 7), 2, 0.5), Sizes(((10, 10), None, 1), 1, 0.1)
    ))  # fmt: skip
    traced = TracedFunction(
        "heat.py", "heat", 6, ("u", "alpha", "steps"), 3, 1.0, 1.0, (signature,)
    )
    write_trace(tmp_path / ".porter" / "trace.json", Trace("main.py", functions=(traced,)), "0")
    monkeypatch.chdir(tmp_path)
    forget()
    (found,) = count(module, sizes={"steps": 3}, seconds=60)
    assert found.reason == ""
    assert found.size == {"steps": 3, "n": 40, "m": 60}
    assert found.launches == 4 and STEPS != 3
