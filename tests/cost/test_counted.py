"""What `porter bench --record` keeps, and what `porter analyze` makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.bench.recording import arguments_of, recorded
from porter.bench.records import FunctionCounts, KernelCounts
from porter.codegen.module.header import FunctionRecord, text_hash
from porter.config import Config
from porter.convert.files import convert_file
from porter.convert.function import front_end
from porter.cost.advice import cost_of
from porter.cost.estimate import Factors, estimate, factors
from porter.cost.machine import Machine
from porter.cost.work import work_of
from porter.options import ConvertOptions
from porter.resolve.globals import Globals
from porter.schedule.nodes import Plan
from porter.source.files import read
from porter.source.module import SourceModule
from porter.trace.counts import Counted, counted_for, forget, keep, stamp
from porter.trace.place import counts_file

SOURCE = "import numpy as np\n\ndef f(x, steps):\n    return np.exp(x) * steps\n"
TYPES = "float64[:, :], int64"


def plan() -> Plan:
    module = SourceModule(SOURCE, "f.py")
    return front_end(module.functions[0], TYPES, Globals(module))[2]


def counted(**others: object) -> Counted:
    given = {"arguments": {"x": (100, 50), "steps": 3}, "launches": 1, "bytes": 160_000.0,
             "instructions": 500_000.0, **others}  # fmt: skip
    return Counted("f.py", "f", text_hash(SOURCE), TYPES, "sm_90", **given)  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(SOURCE)
    forget()
    return tmp_path


def test_counts_come_back_as_they_were(project: Path) -> None:
    keep(counts_file(project), [counted(bytes=1.0)])
    keep(counts_file(project), [counted()])
    path = str(project / "f.py")
    assert counted_for(path, "f", text_hash(SOURCE), "float64[:, ::1],int64") == counted()
    assert stamp(path) and not stamp("/f.py")


@pytest.mark.parametrize(
    ("path", "name", "source", "types"),
    [
        ("g.py", "f", SOURCE, TYPES),
        ("f.py", "g", SOURCE, TYPES),
        ("f.py", "f", SOURCE + "\n", TYPES),
        ("f.py", "f", SOURCE, "float32[:, :], int64"),
    ],
)
def test_counts_of_anything_else_do_not_hold(
    project: Path, path: str, name: str, source: str, types: str
) -> None:
    keep(counts_file(project), [counted()])
    assert counted_for(str(project / path), name, text_hash(source), types) is None


@pytest.mark.parametrize("text", ["", "[]", '{"porter_counts": 0}', '{"porter_counts": 1}'])
def test_what_is_no_record_is_none(project: Path, text: str) -> None:
    counts_file(project).parent.mkdir()
    counts_file(project).write_text(text)
    assert counted_for(str(project / "f.py"), "f", text_hash(SOURCE), TYPES) is None
    keep(counts_file(project), [counted()])
    assert json.loads(counts_file(project).read_text())["porter_counts"] == 1


def test_a_plan_has_what_was_counted(project: Path) -> None:
    work = work_of(plan())
    sizes = {"x.shape[0]": 100, "x.shape[1]": 50, "steps": 3}
    found = cost_of(plan(), None, Machine(), counted())
    assert found.counted == "sm_90, 100x50, 3" and found.bytes == 2.0
    by = Factors(found.bytes, found.instructions)
    large = dict.fromkeys(sizes, 20_000)
    plain, corrected = (estimate(work, large, Machine(), f) for f in (Factors(), by))
    assert plain is not None and corrected is not None
    assert corrected.device_bytes == 2 * plain.device_bytes
    assert corrected.kernel_seconds > 1.9 * plain.kernel_seconds
    assert corrected.host_seconds == plain.host_seconds


@pytest.mark.parametrize("other", [{"launches": 2}, {"arguments": {"steps": 3}}])
def test_what_does_not_fit_the_plan_corrects_nothing(other: dict[str, object]) -> None:
    found = cost_of(plan(), None, Machine(), counted(**other))
    assert (found.counted, found.bytes, found.instructions) == ("", 1.0, 1.0)


def test_the_plan_stays_where_amounts_are_unknown() -> None:
    assert factors(work_of(plan()), {}, counted()) == Factors()


def test_bench_knows_the_source_and_the_arguments(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    module = project / "f_cuda.py"
    options = ConvertOptions(("f.py",), signature=TYPES, verify=False)
    made = convert_file(read("f.py"), options, Config(), module, lambda _: None)
    assert made.text is not None
    module.write_text(made.text)
    kernel = KernelCounts(
        "k", 1, 5, 256, {"float": 3e5, "load": 2e5}, 1, 1, 1.6e5, 1, 1, 1, 0, 0, 1, 1
    )
    record = FunctionRecord("f", TYPES, shapes="x[n, m] steps[]")
    size = {"n": 100, "m": 50, "steps": 3}
    assert arguments_of(record, size) == {"x": (100, 50), "steps": 3}
    assert arguments_of(record, {"n": 100}) is None
    names = made.text.split("# porter: shapes f: ")[1].splitlines()[0]
    assert names == "x[n, m] steps[]"
    functions = [FunctionCounts("f", TYPES, size, 1, kernels=(kernel,)), FunctionCounts("g")]
    assert list(recorded(module, functions, "sm_90")) == [counted()]
