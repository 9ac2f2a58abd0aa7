"""Inputs that a generated function refuses although NumPy takes them, and sizes that belong
together."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import porter

SOURCE = """
import numpy as np


def gates(x, W, b):
    z = x @ W + b
    n = x.shape[1]
    return z[:, :n] * z[:, n : 2 * n] + z[:, 2 * n :]


def lagged(x, lags):
    out = np.zeros(lags)
    for k in range(lags):
        out[k] = np.sum(x[: x.size - k] * x[k:])
    return out


def partly_filled(x):
    out = np.empty((x.shape[0], 3))
    out[:, 1] = x * 2.0
    return out


def relaxed(n, x):
    # the grid has a border of one around its n times n cells, as solvers of fluids have it
    x[1:-1, 1:-1] = 0.25 * (x[:n, 1:-1] + x[2:, 1:-1] + x[1:-1, :n] + x[1:-1, 2:])


def binned(times, edges):
    return np.searchsorted(edges, times, side="right") - 1
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strict")
    (folder / "work.py").write_text(SOURCE)
    done = porter(folder, "convert", "work.py", "-o", ".", "--no-verify")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "work_cuda.py"


def simulated(module: Path, *options: str) -> dict[str, dict[str, object]]:
    """The simulator's evidence of every function."""
    given = ["--on", "simulator", "--output-format", "json", *options]
    done = porter(module.parent, "verify", module.name, *given)
    functions = json.loads(done.stdout)["modules"][0]["functions"]
    return {f["name"]: f["evidence"][0] | {"mismatch": f["mismatch"]} for f in functions}


def test_multiples_of_a_size_stay_together(generated: Path) -> None:
    assert "# porter: shapes gates: x[n, m] W[m, 3*m] b[3*m]" in generated.read_text()


def test_short_inputs_that_are_refused_are_counted_and_told(generated: Path) -> None:
    found = simulated(generated)
    for name in ("gates", "lagged", "partly_filled"):
        assert found[name]["status"] == "passed", found[name]
        assert found[name]["detail"]["values"] >= 12
    detail = found["lagged"]["detail"]
    assert detail["refused_sizes"] > 0 and "slices of different lengths" in detail["refusal"]


def test_an_integer_that_counts_what_is_inside_of_a_border(generated: Path) -> None:
    """Random sizes rarely fit together: which of them depend on each other is found by trying."""
    detail = simulated(generated)["relaxed"]
    assert detail["status"] == "passed"
    assert detail["detail"]["values"] >= 12  # type: ignore[index]


def test_what_numpy_searches_is_sorted(generated: Path) -> None:
    found = simulated(generated, "-f", "binned")["binned"]
    assert found["status"] == "passed", found
    assert found["detail"]["domain"] == "sorted(edges)"


def test_a_function_that_refuses_longer_arrays_too_is_not_verified(generated: Path) -> None:
    text = generated.read_text()
    check = re.compile(r'^    x = _array\(x, "x", 1, .*\)\n', re.MULTILINE)
    assert len(check.findall(text)) >= 2
    refusing = r'\g<0>    if x.shape[0] > 0:\n        raise ValueError("no")\n'
    edited = generated.parent / "edited_cuda.py"
    edited.write_text(check.sub(refusing, text))
    found = simulated(edited, "-f", "partly_filled")
    assert found["partly_filled"]["status"] == "failed"
    assert "raises ValueError (no)" in found["partly_filled"]["mismatch"]["message"]
