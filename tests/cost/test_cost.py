"""The model of cost: its counts against the simulator and by hand, its advice, its settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porter.codegen.module.header import text_hash
from porter.config import load_config
from porter.convert.function import front_end
from porter.cost.advice import cost_of, sizes_of
from porter.cost.amounts import Amount, SizeUnknown, formula, value
from porter.cost.estimate import estimate
from porter.cost.machine import Machine, machine
from porter.cost.result import EVEN, RESIDENT, TOO_LIGHT, WORTH_IT, Run
from porter.cost.work import Work, work_of
from porter.diagnostics import Refusal, UsageError
from porter.resolve.globals import Globals
from porter.rules.engine import analyze
from porter.schedule.nodes import Plan
from porter.sizes.polynomial import Poly, sym
from porter.source.files import SourceFile
from porter.source.module import SourceModule
from porter.trace.counts import Counted, keep
from porter.trace.lookup import forget
from porter.trace.place import counts_file, trace_file
from porter.trace.record import Sizes, Trace, TracedFunction, TracedSignature, write_trace
from tests.corpus.inputs import CASES
from tests.corpus.sources import source_of
from tests.support.paths import ROOT
from tests.support.sampling import one_in

#: every kind of kernel: maps, rows, totals, tiles, scans, private sums, one block, host loops
COUNTED = (
    "examples/heat:heat", "examples/softmax:softmax", "examples/matmul:matmul",
    "examples/csr_matvec:csr_matvec", "examples/zscores:zscores",
    "examples/black_scholes:black_scholes", "examples/l2_norms:l2_norms",
    "scalar_reductions:dot_product", "scans:running_sum", "scans:row_running_sum",
    "scans:column_running_sum", "in_place:swap_halves", "histograms:histogram_ten",
    "time_loops:fdtd", "loops_tables:edit_distance", "broadcasting:squared_distances",
    "scatter:put", "sparse:take_rows", "host_library:ridge", "finance:greeks",
)  # fmt: skip
#: how far the model's memory traffic may be from the elements that were touched: it leaves
#: out the partial results of totals, and borders
TRAFFIC = (0.6, 1.6)


def counted(keys: tuple[str, ...], size: int) -> Iterator[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cost.cost_child", str(size), *keys],
        capture_output=True, text=True, timeout=400, check=False,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return map(json.loads, done.stdout.splitlines())


@pytest.mark.long
def test_counts_are_those_of_the_simulator() -> None:
    """Bytes that are moved and launches exactly, memory traffic nearly."""
    seen = []
    for line in counted(COUNTED, 33):
        assert "error" not in line, line
        model, real = line["model"], line["counted"]
        for what in ("to_device", "to_host", "launches"):
            assert model[what] == real[what], (line["key"], what)
        ratio = model["device_bytes"] / real["device_bytes"]
        assert TRAFFIC[0] < ratio < TRAFFIC[1], (line["key"], ratio)
        seen.append(line["key"])
    assert tuple(seen) == COUNTED


@pytest.mark.long
def test_a_branch_that_ends_a_loop_is_not_counted_in_each_iteration() -> None:
    """The power method has a kernel of its own for the end, which its loop comes to here."""
    (line,) = counted(("loops_linear:power_method",), 9)
    model, real = line["model"], line["counted"]
    assert model["launches"] == real["launches"] == 12 * 3 + 1
    assert model["to_host"] == real["to_host"]


def plan_of(key: str) -> Plan:
    path = source_of(key)
    module = SourceModule(path.read_text("utf-8"), str(path))
    case = CASES[key]
    scope = Globals(module)
    scope.options.allow_serial = case.serial
    return front_end(module.by_name[key.partition(":")[2]], case.signature, scope)[2]


def formulas(key: str) -> dict[str, str]:
    return dict(cost_of(plan_of(key), None, Machine()).formulas)


def test_formulas_of_a_matrix_product() -> None:
    n, k, m = "A.shape[0]", "A.shape[1]", "B.shape[1]"
    assert formulas("examples/matmul:matmul") == {
        "to_device": f"8 * {n} * {k} + 8 * {k} * {m}",
        "to_host": f"8 * {n} * {m}",
        "device_bytes": f"8 * {n} * {k} + 8 * {n} * {m} + 8 * {k} * {m}",
        "operations": f"2 * {n} * {k} * {m}",
        "launches": "1",
    }


def test_formulas_of_a_time_loop() -> None:
    found = formulas("examples/heat:heat")
    assert found["launches"] == "steps + 1"
    assert found["to_device"] == found["to_host"] == "8 * u.shape[0] * u.shape[1]"
    assert found["operations"].startswith("7 * steps * u.shape[0] * u.shape[1]")


def test_operations_by_hand() -> None:
    """softmax: a maximum, a difference with exp once, a sum, a division (4); exp counts 12."""
    assert formulas("examples/softmax:softmax")["operations"] == "19 * x.shape[0] * x.shape[1]"


def test_numbers_by_hand() -> None:
    plan = plan_of("examples/matmul:matmul")
    sizes = sizes_of(plan, {"A": (4000, 3000), "B": (3000, 2000)})
    assert sizes is not None
    m = Machine(transfer_gb_s=10, copy_us=0, device_gb_s=1000, fp64_tflops=1, launch_us=10)
    found = estimate(work_of(plan), sizes, m)
    assert found is not None
    assert found.transferred == 8 * (4000 * 3000 + 3000 * 2000 + 4000 * 2000)
    assert found.transfer_seconds == pytest.approx(found.transferred / 10e9)
    # 48 GFLOP at 1 TFLOP/s is more than 208 MB at 1 TB/s
    assert found.kernel_seconds == pytest.approx(48e9 / 1e12)
    assert found.operations == pytest.approx(48e9)


def test_few_threads_get_their_share() -> None:
    plan = plan_of("examples/gaussian:gaussian_pdf")
    work = work_of(plan)
    names = [p.name for p in plan.parameters]

    def seconds(n: int) -> float:
        sizes = sizes_of(plan, {names[0]: (n,)})
        found = estimate(work, sizes or {}, Machine(launch_us=1e-6, full_threads=1000))
        assert found is not None
        return found.kernel_seconds

    assert seconds(100) == pytest.approx(seconds(1000))
    assert seconds(2000) == pytest.approx(2 * seconds(1000))


@pytest.mark.parametrize("key", one_in(3, sorted(CASES)[::14]))
def test_plans_of_the_corpus_can_be_counted(key: str) -> None:
    """No formula fails, and none is negative for large arrays."""
    try:
        plan = plan_of(key)
    except Refusal:
        return
    work = work_of(plan)
    sizes = {f"{p.name}.shape[{d}]": 64 for p in plan.parameters for d in range(p.ndim or 0)}
    sizes |= {p.name: 8 for p in plan.parameters if p.ndim is None}
    found = estimate(work, sizes, Machine())
    assert cost_of(plan, None, Machine()).brief
    if found is not None:
        assert found.launches >= 0 and found.device_bytes >= 0 and found.operations >= 0
        assert found.seconds > 0


def test_amounts() -> None:
    n = sym("n", True)
    assert Amount(8, (n, n)).number({"n": 10}) == 800
    assert Amount(8, (n, n), (n,)).number({"n": 10}) == 80
    assert Amount(8, (n - 20,)).number({"n": 10}) == 0
    assert Amount(8, (sym("?"),), (n,)).number({"n": 10}) == 80
    assert str(formula([Amount(8, (n,)), Amount(4, (n,))])) == "12 * n"
    with pytest.raises(SizeUnknown):
        Amount(8, (n,)).number({})
    with pytest.raises(SizeUnknown):
        value(Poly.of(1) // sym("m"), {"m": 0})


# -- advice --------------------------------------------------------------------------------------


def run_of(seconds: float, gpu: float, transfer: float) -> Run:
    return Run(1, seconds, gpu, transfer, 0.0, 0.0, 0.0, 0.0, 1.0, "")


@pytest.mark.parametrize(
    ("run", "advice"),
    [
        (run_of(1.0, 0.1, 0.05), WORTH_IT),
        (run_of(1.0, 0.9, 0.8), RESIDENT),
        (run_of(1.0, 3.0, 1.0), TOO_LIGHT),
        (run_of(1.0, 0.9, 0.1), EVEN),
    ],
)
def test_advice_follows_from_the_seconds(run: Run, advice: str) -> None:
    assert run.advice == advice


SOURCE = """
import numpy as np

def heavy(x):
    return np.exp(x) * np.sin(x) / np.cosh(x)

def light(x):
    return x * 2.0
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A file with a trace: one function that a GPU makes faster, one that it does not."""

    def traced(name: str, line: int, n: int, seconds: float) -> TracedFunction:
        kind = TracedSignature("float64[::1]", 10, (Sizes(((n,),), 10, seconds),))
        return TracedFunction("work.py", name, line, ("x",), 10, seconds, seconds, (kind,))

    (tmp_path / "work.py").write_text(SOURCE)
    functions = (traced("heavy", 4, 10_000_000, 4.0), traced("light", 7, 1000, 0.00002))
    write_trace(trace_file(tmp_path), Trace("main.py", seconds=5.0, functions=functions), "0")
    forget()
    return tmp_path


def test_functions_are_ranked_with_numbers(project: Path) -> None:
    (project / "work.py").write_text(SOURCE + "\ndef neither(x):\n    return np.linalg.eig(x)\n")
    text = porter(project, "analyze", "work.py", "--ignore", "PRT9,PRT710")
    rows = text.split("by time in the recorded run of main.py (5.00 s):\n")[1].splitlines()
    assert "80 %  4.00 s  10 calls  work.py:4 heavy  worth porting, about " in rows[0]
    assert "to move 1.6 GB" in rows[0] and "10 launches (10000000)" in rows[0]
    assert "work.py:7 light  too light for a GPU: " in rows[1]


def test_json_has_effort_cost_and_trace(project: Path) -> None:
    found = json.loads(porter(project, "analyze", "work.py", "--output-format", "json"))
    heavy, light = found["functions"]
    assert (heavy["effort"], heavy["places"], heavy["trace"]["calls"]) == ("none", [], 10)
    assert heavy["cost"]["to_device"] == "8 * x.shape[0]"
    assert heavy["cost"]["run"]["advice"] == "worth porting"
    assert heavy["cost"]["run"]["transferred"] == 10 * 16 * 10_000_000
    assert light["cost"]["run"]["gain"] < heavy["cost"]["run"]["gain"]


def test_counted_kernels_correct_the_plan(project: Path) -> None:
    before = porter(project, "analyze", "work.py")
    counts = Counted("work.py", "heavy", text_hash(SOURCE), "float64[:]", "sm_90", {"x": (1000,)},
                     1, 16_000.0, 2_000_000.0)  # fmt: skip
    keep(counts_file(project), [counts])
    # the kept answer is of the time before
    assert "10 launches (10000000), kernels as counted for sm_90, 1000\n" in porter(
        project, "analyze", "work.py"
    )
    assert "counted" not in before
    (project / "work.py").write_text(SOURCE + "\n")
    assert "counted" not in porter(project, "analyze", "work.py")


def test_too_light_is_said_with_numbers(project: Path) -> None:
    slow = "[tool.porter.cost]\ntransfer-gb-s = 0.001\n"
    assert "PRT710" not in porter(project, "analyze", "work.py", "-f", "heavy")
    (project / "pyproject.toml").write_text(slow)
    text = porter(project, "analyze", "work.py", "--output-format", "concise")
    assert "work.py:4:5: PRT710 `heavy` is too light for its transfers: 400 ms per call" in text


def test_a_function_that_takes_no_time_is_not_worth_a_word(project: Path) -> None:
    trace = trace_file(project)
    trace.write_text(trace.read_text().replace('"seconds": 5.0', '"seconds": 5000.0'))
    (project / "pyproject.toml").write_text("[tool.porter.cost]\ntransfer-gb-s = 0.001\n")
    assert "PRT710" not in porter(project, "analyze", "work.py")


def porter(folder: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "porter", *args],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


# -- settings ------------------------------------------------------------------------------------


def test_constants_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.porter.cost]\nlaunch-us = 5\n")
    config = load_config(str(tmp_path))
    assert machine(config.cost) == Machine(launch_us=5.0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[tool.porter.cost]\nspeed = 1", "has no `speed`; it has transfer-gb-s"),
        ("[tool.porter.cost]\nlaunch-us = 0", "must be a table of positive numbers"),
        ('[tool.porter.cost]\nlaunch-us = "5"', "must be a table of positive numbers"),
        ("[tool.porter]\ncost = 3", "must be a table of positive numbers"),
    ],
)
def test_wrong_constants_are_errors_of_usage(tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(table)
    with pytest.raises(UsageError, match=re.escape(said)):
        load_config(str(tmp_path))


# -- effort ----------------------------------------------------------------------------------------

EFFORT = {
    "none": "def f(x):\n    return np.sin(x)",
    "small": "def f(x):\n    return np.sin(x['price'])",
    "medium": "def f(x):\n    y = np.random.gamma(2.0, size=x.shape)\n    return np.sin(x) + y",
    "large": "def f(x):\n    for i in range(1, len(x)):\n        x[i] = np.sin(x[i - 1])",
}


@pytest.mark.parametrize("effort", sorted(EFFORT))
def test_effort_is_that_of_the_obstacle(effort: str) -> None:
    found = analyze(SourceFile("f.py", f"import numpy as np\n\n{EFFORT[effort]}\n")).functions
    assert [v.effort for v in found] == [effort]
    assert {code for code, _ in found[0].places} == set(found[0].reasons)


def test_effort_of_kernels_and_of_what_stays_on_the_host() -> None:
    text = """
import numpy as np
from numba import cuda

@cuda.jit
def good(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 2.0

@cuda.jit
def returns(x):
    i = cuda.grid(1)
    if i < x.size:
        return x[i]

def partly(x):
    y = np.linalg.eigvalsh(x @ x)
    return np.sin(y)
"""
    found = {v.name: v for v in analyze(SourceFile("f.py", text)).functions}
    assert (found["good"].verdict, found["good"].effort) == ("kernel", "none")
    assert found["returns"].effort in ("small", "medium")
    assert found["returns"].reasons == ("PRT301",)
    assert (found["partly"].verdict, found["partly"].effort) == ("partly", "small")


def test_work_adds_up() -> None:
    one = Work((Amount(1),), (Amount(2),), (Amount(3),), ())
    assert (one + one).to_host == (Amount(2), Amount(2))
