"""Inputs from elsewhere: the user's strategies and recorded traces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from porter.commands.trace import run as trace
from porter.commands.verify import run as verify
from porter.diagnostics import UsageError
from porter.dtypes.signatures import parse_types
from porter.options import TraceOptions, VerifyOptions
from porter.verify import run as verifying
from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.resizing import resized, sizes_of
from porter.verify.run import verify_module
from tests.support.verification import copy, prove

STRATEGIES = """
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

values = arrays(np.float64, st.integers(0, 40), elements=st.floats(-3, 3))
INPUTS = {
    "density": st.tuples(values, st.floats(-1, 1), st.floats(0.5, 2)),
    "grow": st.fixed_dictionaries({"amount": st.just(0.5), "x": values}),
}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "porter_inputs.py"
    path.write_text(text)
    return path


def test_strategies_give_further_cases(tmp_path: Path) -> None:
    path, inputs = copy(tmp_path, "maps"), written(tmp_path, STRATEGIES)
    for name in ("density", "grow"):
        found = prove(path, name, inputs=inputs, cases=10)
        assert found.verified, found.mismatch
        detail = found.evidence[0].detail
        assert (found.evidence[0].cases, detail["values"], detail["strategies"]) == (20, 20, 10)
    assert "strategies" not in prove(path, "difference", inputs=inputs, cases=10).evidence[0].detail


def test_a_strategy_finds_what_the_own_cases_cannot(tmp_path: Path) -> None:
    # no array of the verifier's own is that large
    wrong = copy(tmp_path, "maps", "T(-0.5) * z", "T(0.5 if 54321 < x[i] < 1e9 else -0.5) * z")
    assert prove(wrong, "density").verified
    text = STRATEGIES.replace("st.floats(-3, 3)", "st.floats(0, 1e5)")
    found = prove(wrong, "density", inputs=written(tmp_path, text))
    assert found.failed and found.mismatch is not None
    # hypothesis made it small
    assert "x: float64 1" in found.mismatch.inputs
    assert "--inputs" in found.mismatch.command
    assert found.mismatch.command.endswith(f"--case {found.mismatch.case}")
    again = prove(
        wrong, "density", inputs=written(tmp_path, text), case=found.mismatch.case
    ).mismatch
    assert again is not None and again.inputs == found.mismatch.inputs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "has no dictionary `INPUTS`"),
        ("raise SystemExit(3)\n", "cannot be run: SystemExit: 3"),
        ("INPUTS = {'grow': 3}\n", "holds int, not a hypothesis strategy"),
        (
            "from hypothesis import strategies as st\nINPUTS = {'grow': st.tuples(st.just(1))}\n",
            "gives 1 arguments for 2 parameters",
        ),
        (
            "from hypothesis import strategies as st\n"
            "INPUTS = {'grow': st.just({'x': 1, 'amount': 2, 'z': 3})}\n",
            "one for `z`",
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    found = prove(copy(tmp_path, "maps"), "grow", inputs=written(tmp_path, text), cases=4)
    assert found.failed and found.mismatch is not None and said in found.mismatch.message


def test_hypothesis_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs hypothesis: pip install hypothesis"):
        prove(copy(tmp_path, "maps"), "grow", inputs=written(tmp_path, STRATEGIES))
    with pytest.raises(UsageError, match="no such file"):
        prove(copy(tmp_path, "maps"), "grow", inputs=tmp_path / "none.py")


def test_the_file_runs_only_when_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy(tmp_path, "maps")
    marker = tmp_path / "ran"
    written(tmp_path, f"open({str(marker)!r}, 'w').close()\n" + STRATEGIES)
    options = {"on": ("simulator",), "functions": ("grow",), "cases": 3, "verbose": True}
    assert verify(VerifyOptions((str(path),), **options)) == 0  # type: ignore[arg-type]
    assert not marker.exists()
    (tmp_path / "pyproject.toml").write_text('[tool.porter]\ninputs = "porter_inputs.py"\n')
    assert verify(VerifyOptions((str(path),), **options)) == 0  # type: ignore[arg-type]
    assert marker.exists() and "3 cases from strategies" in capsys.readouterr().out


SCRIPT = """
import numpy as np
from maps import density, threshold

x = np.linspace(-1, 1, 1000)
density(x, 0.25, 2.0)
density(x[::2], 0.5, 2.0)
density(np.ones(3, np.int16), 0.5, 2.0)
threshold(np.full(70000, 54321.0), np.ones(70000))
"""


@pytest.mark.parametrize("keep", [False, True])
def test_a_trace_gives_further_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    wrong = copy(tmp_path, "maps", "T(-0.5) * z", "T(-0.5 if mean != 0.25 else 0.5) * z")
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    assert trace(TraceOptions("script.py", record_inputs=keep)) == 0
    file = Path(".porter/trace.json")
    assert len(list(Path(".porter").glob("inputs/*.npz"))) == (3 if keep else 0)
    found = prove(wrong, "density", trace=file, cases=8)
    # only the recorded values tell that it is wrong
    assert found.failed is keep
    if keep:
        assert found.mismatch is not None and "mean = 0.25" in found.mismatch.inputs
        assert f"--trace {file}" in found.mismatch.command
        case = found.mismatch.case
        again = prove(wrong, "density", trace=file, cases=8, case=case).mismatch
        assert again is not None and again.message == found.mismatch.message
    else:
        detail = found.evidence[0].detail
        assert detail["traced"] == 2
        assert any("int16" in reason for reason in detail["reasons"])
    found = prove(wrong, "threshold", trace=file, cases=8)
    assert found.verified and found.evidence[0].detail["traced"] == 1


def test_a_trace_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({}))
    with pytest.raises(UsageError, match="not a trace"):
        prove(copy(tmp_path, "maps"), "grow", trace=tmp_path / "trace.json")


def test_inputs_are_cut_together() -> None:
    types = parse_types("float64[:, :], float64[:], int64")
    shapes = [("n", "m"), ("m+1",), ()]
    parameters = [Parameter(n, t, d) for n, t, d in zip("xym", types, shapes, strict=True)]
    values = [np.arange(12.0).reshape(3, 4), np.arange(5.0), 4]
    inputs = Inputs(
        tuple(Argument(p.name, v) for p, v in zip(parameters, values, strict=True)),
        sizes={"n": 3, "m": 4},
    )
    assert sizes_of(inputs, parameters) == {"n": 3, "m": 4}
    small = resized(inputs, parameters, {"n": 2, "m": 1})
    assert small is not None
    x, y, m = (a.value for a in small.arguments)
    assert (x.tolist(), y.tolist(), m) == ([[0.0], [4.0]], [0.0, 1.0], 1)
    assert resized(inputs, parameters, {"n": 4, "m": 1}) is None
    values[1] = np.arange(4.0)
    wrong = Inputs(tuple(Argument(p.name, v) for p, v in zip(parameters, values, strict=True)))
    assert sizes_of(wrong, parameters) is None


@pytest.mark.slow
@pytest.mark.long
def test_one_array_is_given_for_two_whose_sizes_nothing_ties(tmp_path: Path) -> None:
    """A sum before the loop is of an array that the loop changes, if both are one."""
    source = tmp_path / "add.py"
    source.write_text("def add(x, y):\n    for i in range(y.shape[0]):\n        y[i] += x.sum()\n")
    path = tmp_path / "add_cuda.py"
    command = [sys.executable, "-m", "porter", "convert", "add.py", "--no-verify"]
    given = ["--signature", "float64[:, :], float64[:, :]"]
    subprocess.run([*command, *given], cwd=tmp_path, check=True, capture_output=True)
    (found,) = verify_module(path, on=("simulator",))
    assert found.verified and "y and x are one array" in str(found.evidence[0].detail["reasons"])
    text = path.read_text()
    assert "_same_memory(d_y, d_x):" in text
    path.write_text(text.replace("_same_memory(d_y, d_x):", "False:"))
    (found,) = verify_module(path, on=("simulator",))
    assert found.mismatch is not None and "y is x" in found.mismatch.inputs
