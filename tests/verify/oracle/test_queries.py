"""What another run of the original, or a refusal, tells of a difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.verify.inputs.arguments import Argument, Inputs, Sums
from porter.verify.oracle import compare
from porter.verify.oracle.compare import Changed, Outcome
from porter.verify.oracle.judging import asks_for_copy
from porter.verify.oracle.queries import asks_for_dtypes
from tests.support.commands import porter

ASKING = [
    "return x * 2 if x.dtype == np.float64 else x + 1",
    "return x * (2 if x.dtype in (np.float32, np.float64) else 1)",
    "return x * TABLE[x.dtype]",
    "eps = np.finfo(x.dtype).eps\n    return x + eps",
    "kind = x.dtype\n    return x * 2 if kind == 'float64' else x",
    "return x * x.itemsize",
    "return np.full_like(x, fill_value=x.itemsize)",
    "return x * 2 if isinstance(x[0], np.float64) else x",
    "return x * 2 if np.issubdtype(x.dtype, np.double) else x",
    "return helper(x)",
]
NOT_ASKING = [
    "return np.zeros_like(x, dtype=x.dtype) + np.ones(3, x.dtype)",
    "return x.astype(x.dtype) * x.dtype.type(2)",
    "return x * 2 if isinstance(x, np.ndarray) else np.asarray(x)",
    "return other(x)",
]
HELPERS = (
    "\n\ndef helper(v):\n    return v * v.dtype.itemsize\n\n\ndef other(v):\n    return v + 1\n"
)


@pytest.mark.parametrize(
    ("body", "asks"), [(b, True) for b in ASKING] + [(b, False) for b in NOT_ASKING]
)
def test_who_asks(body: str, asks: bool) -> None:
    assert asks_for_dtypes(f"import numpy as np\n\n\ndef f(x):\n    {body}\n{HELPERS}", "f") == asks


SUMS = Sums(8, 2.0**-52)


def found(expected: object, actual: object, wide: object, rough: object) -> str:
    others = [Outcome(result=wide, changed=Changed(wide=True)), Outcome(result=rough)]
    difference = compare.values(Outcome(result=expected), Outcome(result=actual), [], others, SUMS)
    return difference.what if difference else ""


def test_a_wide_run_that_did_something_else_is_not_believed() -> None:
    x = np.linspace(1.0, 2.0, 50)
    rough = np.nextafter(2 * x, 4)
    for number in (1.0, 1j):
        e, wrong, near = number * 2 * x, number * (x + 1), number * rough
        # what the wide run made instead is no reason to take it from the kernel, nor ...
        assert found(
            e, wrong, wrong.astype(np.clongdouble if number == 1j else np.longdouble), near
        )
    # ... to take anything else
    assert found(2 * x, 2 * x * (1 + 1e-9), x + 1, rough) == "value"
    # where terms cancel, all runs are far off, and the wide one tells by how much
    noise = 1e-9 * np.sin(np.arange(50))
    assert found(noise, noise * 1.5, noise * 2, noise * 1.3) == ""
    # a threshold: few elements of the wide run are on its other side
    jump = np.where(np.arange(50) < 2, 100.0, x)
    assert found(x, jump, jump, x) == ""


def test_a_wrong_kernel_of_a_function_that_asks_is_found(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import numpy as np\n\n\ndef f(x: 'float64[:]'):\n"
        "    if x.dtype == np.float64:\n        return x * 2\n    return x + 1\n"
    )

    assert porter(tmp_path, "convert", "s.py", "-o", "out").returncode == 0
    module = tmp_path / "out" / "s_cuda.py"
    text = module.read_text()
    assert "x[i] * 2.0" in text
    module.write_text(text.replace("x[i] * 2.0", "x[i] + 1.0"))
    verdict = porter(tmp_path, "verify", str(module), "--on", "simulator")
    assert verdict.returncode == 1 and "result" in verdict.stdout + verdict.stderr


def test_a_text_may_differ_where_rounding_decides_it() -> None:
    def apart(expected: object, actual: object, *runs: object) -> bool:
        outcomes = [Outcome(result=r) for r in runs]
        e, a = Outcome(result=expected), Outcome(result=actual)
        return compare.compare(e, a, [], runs=lambda: outcomes) is not None

    assert apart("0.30", "0.31") and apart("0.30", "0.31", "0.30")
    assert not apart("0.300001", "0.300002", "0.300001", "0.300003")
    # each text for itself, and what is no text is as it was
    assert apart(("0.3", "a"), ("0.4", "b"), ("0.5", "a"))
    assert not apart(("0.3", "a"), ("0.4", "a"), ("0.5", "a"))
    assert apart("0.3", 0.3, "0.4") and apart(("0.3", x := np.ones(2)), ("0.4", x[:1]), ("0.5", x))


def test_a_copy_is_asked_for_where_an_argument_has_gaps() -> None:
    error = ValueError("x must be contiguous: the store would go to a reshaped copy")
    for layout, asked in (("strided", True), ("reversed", True), ("C", False)):
        inputs = Inputs((Argument("x", np.ones(4), layout), Argument("n", 4)))
        assert asks_for_copy(inputs, error) == asked
        assert not asks_for_copy(inputs, ValueError("x has 4 elements"))
        assert not asks_for_copy(inputs, TypeError(str(error)))
