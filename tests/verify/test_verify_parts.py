"""The verifier's parts: signatures, shapes, loading, budget, PTX text, commands."""

from __future__ import annotations

import json
import math
import re
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.codegen.module.header import render
from porter.commands import doctor, verify
from porter.diagnostics import UsageError
from porter.dtypes.signatures import ArgType, parse_types
from porter.options import DoctorOptions, VerifyOptions
from porter.verify import generated, report
from porter.verify.compile import compilers
from porter.verify.compile.ptx_report import double_instructions, resources
from porter.verify.engines.launches import MOST_LAUNCHES, Launches, TooCostly
from porter.verify.evidence import PASSED, Evidence, FunctionEvidence
from porter.verify.inputs.arguments import Parameter, Sums, build, lay_out
from porter.verify.inputs.cases import (
    SMALL_BLOCKS,
    TABLE,
    CaseSpec,
    choose_sizes,
    further,
    retries,
    specs,
    tame,
    with_own_blocks,
)
from porter.verify.inputs.shapes import complete, evaluate, parse_shapes
from porter.verify.kernels import constants_of_kernels
from porter.verify.oracle import calls, compare, original, rounding
from porter.verify.oracle.compare import Outcome
from porter.verify.oracle.measure import Worst
from porter.verify.run import verify_module
from tests.support.paths import VERIFY_MODULES
from tests.support.verification import copy

ARRAY = ArgType("array", "float64", 1)


def test_types() -> None:
    assert parse_types("float64[:, ::1], f4[:], int64, boolean") == (
        ArgType("array", "float64", 2),
        ArgType("array", "float32", 1),
        ArgType("scalar", "int64"),
        ArgType("scalar", "bool"),
    )
    assert parse_types("array(int8, 2d, C), UniTuple(int64, 2), none, types.float64[:]") == (
        ArgType("array", "int8", 2),
        ArgType("tuple", items=(ArgType("scalar", "int64"),) * 2),
        ArgType("none"),
        ArgType("array", "float64", 1),
    )
    assert parse_types("") == () and parse_types("unicode_type")[0].kind == "other"
    for bad in ("float64[", "thing[:]"):
        with pytest.raises(ValueError, match="not a"):
            parse_types(bad)


def test_shapes() -> None:
    shapes = parse_shapes("x[n, m+1] k[] y[*] z[3]")
    assert shapes == {"x": ("n", "m+1"), "k": (), "y": ("*",), "z": ("3",)}
    assert complete(shapes, {"x": 2, "y": 1}) == {"x": ("n", "m+1"), "y": ("y_0",)}
    # what the header does not say is taken from the last axes of what it says
    assert complete({"x": ("n", "m")}, {"x": 2, "w": 1}) == {"x": ("n", "m"), "w": ("m",)}
    assert complete({}, {"a": 2, "b": 1}) == {"a": ("axis_0", "axis_1"), "b": ("axis_1",)}
    assert evaluate("2*(n-1)//3 + m", {"n": 8, "m": 1}) == 5
    for bad in ("n +", "f(n)", "q"):
        with pytest.raises(ValueError):
            evaluate(bad, {"n": 1})


def test_the_table_has_what_is_promised() -> None:
    assert len(TABLE) >= 20 and [s.number for s in specs(30)] == list(range(30))
    words = {word for row in TABLE for word in row.sizes}
    assert {"0", "1", "2", "7", "B-1", "B", "B+1", "3B+7"} <= words
    layouts = {"C", "F", "strided", "reversed", "offset", "broadcast", "readonly"}
    assert {row.layout for row in TABLE} == layouts
    assert {row.form for row in TABLE} >= {"host", "alias", "list", "device", "device-view"}
    assert {row.domain for row in TABLE} >= {"positive", "normal", "special", "wide", "round"}
    assert sum(row.domain == "positive" for row in TABLE) >= len(TABLE) // 3
    assert sum(row.own for row in TABLE) >= 2 and retries(TABLE[0])[0] == TABLE[0]


def test_sizes_are_cut_when_there_are_too_many_points() -> None:
    spec = next(row for row in TABLE if row.sizes[0] == "3B+7" and not row.own)
    assert choose_sizes(["n"], spec, SMALL_BLOCKS, {}) == {"n": 31}
    many = choose_sizes(list("abcde"), TABLE[7], SMALL_BLOCKS, {"b": 3})
    assert np.prod(list(many.values())) <= 8000 and many["b"] >= 3


@pytest.mark.parametrize("row", TABLE)
def test_many_sizes_are_cut_alike(row: CaseSpec) -> None:
    """A nest of loops of the host launches a kernel for each of the points."""
    sizes = choose_sizes(list("abcdefghij"), row, SMALL_BLOCKS, {})
    assert np.prod(list(sizes.values())) <= max(row.points, 2**10)
    even = choose_sizes(list("abcdefghij"), replace(row, sizes=("7",)), SMALL_BLOCKS, {})
    assert len({*even.values()}) == 1


def test_a_case_launches_only_so_often_on_the_simulator() -> None:
    launches = Launches()
    for _ in range(2):
        launches.allow(math.inf)
        for _ in range(MOST_LAUNCHES):
            launches.spend("f_kernel", 1)
    with pytest.raises(TooCostly, match="launched too often"):
        launches.spend("f_kernel", 1)


def test_inputs_belong_together_and_repeat() -> None:
    parameters = [Parameter("x", ARRAY, ("n",)), Parameter("y", ARRAY, ("n-2",))]
    for spec in specs(24):
        first, again = (
            build(parameters, spec, SMALL_BLOCKS, np.random.default_rng(1)) for _ in "ab"
        )
        x, y = (a.value for a in first.arguments)
        assert len(y) == len(x) - 2 and np.array_equal(x, again.arguments[0].value, equal_nan=True)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "offset", "readonly"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 0)])
def test_layouts_keep_the_values(layout: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    laid = lay_out(values, layout)
    assert laid.shape == shape and np.array_equal(laid, values)
    if layout in ("strided", "reversed") and values.size > 1:
        assert not laid.flags.c_contiguous
    assert laid.flags.writeable == (layout != "readonly")


def test_a_broadcast_array_has_one_row_in_memory() -> None:
    spec = replace(TABLE[0], layout="broadcast", domain="special")
    (type_,) = parse_types("float64[:, :]")
    parameters = [Parameter("x", type_, ("n", "m"))]
    inputs = build(parameters, spec, SMALL_BLOCKS, np.random.default_rng(0))
    (x,) = inputs.make()
    assert x.shape == (5, 7) and x.strides[0] == 0 and not x.flags.writeable
    assert np.array_equal(x, inputs.arguments[0].value, equal_nan=True)


def test_denormal_numbers_are_among_the_special_ones() -> None:
    seen = set()
    for dtype, tiny in (("float64", 2.2e-308), ("float32", 1.1e-38)):
        (type_,) = parse_types(f"{dtype}[:]")
        spec = replace(TABLE[0], sizes=("900",), domain="special")
        inputs = build([Parameter("x", type_, ("n",))], spec, {}, np.random.default_rng(0))
        x = inputs.arguments[0].value
        seen |= {dtype} if ((x != 0) & (abs(x) < tiny)).any() else set()
    assert seen == {"float64", "float32"}


def test_only_what_the_functions_need_is_run(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\nimport math, no_such_module\nfrom numba import njit\n"
        "A = 3\nB = math.sqrt(A)\nC: int = 4\nRESULT = compute()\nprint('ran')\n"
        "try:\n    import also_missing\nexcept ImportError:\n    also_missing = None\n"
        "A += 1\nopen('marker', 'w')\n"
        "@njit(cache=True)\ndef f(x: Unknown, y):\n    return x[y] + A\n"
        "class K:\n    def g(self): return also_missing, no_such_module\n"
        "def h():\n    return B + RESULT\n"
        "if __name__ == '__main__':\n    raise SystemExit\n"
    )
    loaded = original.load(tmp_path / "s.py", text, ["f"])
    assert loaded.function("f")([1, 2], 1) == 6
    assert not {"B", "C", "K", "also_missing", "no_such_module", "RESULT"} & loaded.namespace.keys()
    loaded = original.load(tmp_path / "s.py", text)
    assert loaded.namespace["also_missing"] is None and loaded.namespace["B"] == 3**0.5
    assert callable(loaded.function("K.g"))
    assert "No module named" in loaded.missing["no_such_module"]
    assert "NameError" in loaded.missing["RESULT"]
    assert original.index_parameters(text, "f") == {"y"}
    assert original.literals(text, "f", loaded.namespace) == (-4.0, 4.0)
    for name, why in (("q", "does not define"), ("K.q", "no `q`"), ("RESULT", "NameError")):
        with pytest.raises(LookupError, match=why):
            loaded.function(name)


def test_block_sizes_are_replaced_where_they_are_assigned(tmp_path: Path) -> None:
    text = "THREADS = 256\nTILE: int = 16\nWARPS = THREADS // 32\nPAIR = (TILE, TILE + 1)\n"
    assert generated.block_sizes(text, SMALL_BLOCKS) == {"THREADS": 256, "TILE": 16}
    module = generated.load(tmp_path / "m.py", text, {"THREADS": 64, "TILE": 4})
    assert (module.THREADS, module.WARPS, module.PAIR) == (64, 2, (4, 5))


DOUBLE = Sums(8, 2.0**-52)


def differ(one: object, other: object, others: tuple[object, ...] = (), sums: Sums = DOUBLE) -> str:
    """What two results differ in, '' when they agree."""
    a, b = Outcome(result=one), Outcome(result=other)
    found = compare.compare(a, b, [])
    if found is None and not compare.exactly(a, b, []):
        found = compare.values(a, b, [], [Outcome(result=o) for o in others], sums)
    return found.what if found else ""


def test_a_sum_of_float32_is_one_whatever_it_is_stored_into() -> None:
    x = np.random.default_rng(0).uniform(1, 2, 40_000).astype(np.float32)
    pairwise, one_by_one = np.float64(x.sum()), np.float64(np.cumsum(x)[-1])
    moved = np.nextafter(x.sum(), np.float32(0), dtype=np.float32).astype(np.float64)
    single = Sums(x.size, 2.0**-23)
    assert abs(one_by_one - pairwise) > 20 * abs(moved - pairwise)
    assert differ(pairwise, one_by_one, (moved,), single) == ""
    assert differ(pairwise, pairwise * 1.01, (moved,), single) == "value"
    # in double precision it would have moved less
    assert differ(pairwise, one_by_one, (np.nextafter(pairwise, 0),), single) == "value"
    assert differ(pairwise, one_by_one, (moved,), Sums(x.size, 2.0**-52)) == "value"


def test_comparison_goes_by_kind_shape_dtype_nan_value() -> None:
    x = np.array([1.0, np.nan, np.inf, -2.0])
    assert differ(x, x.copy()) == ""
    assert differ(x, (x,)) == "kind" and differ((x,), (x, x)) == "results"
    assert differ(x, None) == "kind" and differ(x[0], x[:1]) == "kind"
    assert differ(x, x[:, None]) == "shape" and differ(x, x.astype(np.float32)) == "dtype"
    assert differ(x, np.array([1.0, np.nan, -np.inf, -2.0])) == "nan"
    assert differ(x, np.array([1.0, 0.0, np.inf, -2.0])) == "nan"
    assert differ(x, x * (1 + 1e-12)) == "value" and differ(x, x * (1 + 1e-15)) == ""
    assert differ(np.float64(2), 2.0) == "" and differ(np.float32(2), 2.0) == "dtype"
    assert differ(np.array([1, 2]), np.array([1, 3])) == "value"
    assert differ(x + 1j, x + 1j + 1e-9j) in ("value", "nan")
    assert differ("a", "a") == "" and differ("a", "b") == "value"


def test_a_python_number_of_a_loop_that_did_not_run() -> None:
    numbers = [
        (0.0, np.float32(0), True), (0, np.float32(0), True), (0, np.float32(1), False),
        (0.5, np.int64(0), False), (True, np.float64(1), False), (0.5, np.float32(0.5), True),
    ]  # fmt: skip
    for one, other, same in numbers:
        pair = Outcome(result=(one,)), Outcome(result=(other,))
        assert (compare.compare(*pair, [], plain=True) is None) == same
        assert (compare.compare(*pair, []) is None) == (same and one == 0)


def test_the_budget_grows_with_the_error_of_the_original_only() -> None:
    exact, off = np.array([1e-9, 1.0]), np.array([1.1e-9, 1.0])
    assert differ(exact, off) == "value"
    # the original itself is uncertain by 5e-11 in its first element
    assert differ(exact, off, (exact + np.array([5e-11, 0]),)) == ""
    # an index on which the original itself is undecided
    assert differ(np.array([1, 2]), np.array([1, 3]), (np.array([1, 3]),)) == ""
    assert differ(np.array([1, 2]), np.array([0, 3]), (np.array([1, 3]),)) == "value"


def test_random_roundings_measure_cancellation_and_keep_exact_numbers(tmp_path: Path) -> None:
    text = (
        "import numpy as np\n"
        "def sharp(x):\n    y = x * 0.1 + 1e6\n    return y - 1e6\n"
        "def exact(x):\n    y = x * 2.0\n    y += 1.0\n    y[0] -= 1.0\n"
        "    return y, 3 * 4, x @ x\n"
        "def steps(x):\n    s = 0.0\n    for v in x:\n        s += v * v\n    return s ** 0.5\n"
    )
    x = np.arange(1.0, 6.0)
    plain = original.load(tmp_path / "s.py", text)
    rough = original.load(tmp_path / "s.py", text, rough=True)
    rounding.reset(0)
    moved = max(
        abs(rough.function("sharp")(x) - plain.function("sharp")(x)).max() for _ in range(5)
    )
    assert 1e-11 < moved < 1e-8
    doubled, twelve, product = rough.function("exact")(x)
    assert np.array_equal(doubled, [2.0, 5.0, 7.0, 9.0, 11.0]) and twelve == 12
    assert abs(product - 55) < 1e-12
    assert abs(rough.function("steps")(x) - 55**0.5) < 1e-14
    assert np.array_equal(x, np.arange(1.0, 6.0))


def test_kernels_divide_as_a_gpu_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "config", types.SimpleNamespace(ENABLE_CUDASIM=True))
    text = (
        "def jit(f): return f\n"
        "@jit\ndef kernel(a, b):\n    c = a\n    c /= b\n    return a / b, a // b, a % b, c\n"
        "@jit\ndef power(a, b):\n    return a ** b\n"
        "def host(a, b):\n    return a / b\n"
    )
    module = generated.load(tmp_path / "m.py", text, {})
    with np.errstate(all="ignore"):
        assert np.isposinf(module.kernel(1.0, 0.0)[0]) and np.isnan(module.kernel(0, 0)[0])
        assert module.kernel(7, 0)[1:3] == (0, 0) and np.isposinf(module.kernel(1, 0)[3])
        assert np.isposinf(module.power(10.0, 400.0)) and np.isnan(module.power(-8.0, 0.5))
    assert module.kernel(7, -2)[:3] == (-3.5, -4, -1) and module.power(2, 10) == 1024
    with pytest.raises(ZeroDivisionError):
        module.host(1.0, 0.0)


def test_aliasing_and_mutation() -> None:
    x = np.zeros(3)
    same = Outcome(result=x, arguments=[x], aliases=[0])
    assert compare.compare(same, same, ["x"]) is None
    new = compare.compare(same, Outcome(result=x, arguments=[x], aliases=[-1]), ["x"])
    assert new is not None and new.what == "aliasing" and "argument `x`" in new.message
    stray = compare.compare(same, Outcome(None, x, [x], [0], ("x",)), ["x"])
    assert stray is not None and stray.what == "mutation"
    changed = Outcome(result=x, arguments=[x + 1], aliases=[0])
    found = compare.values(same, changed, ["x"], [], DOUBLE)
    assert found is not None and found.place == "argument `x` afterwards"


def test_a_view_of_an_argument_is_no_new_array() -> None:
    inputs = build([Parameter("x", ARRAY, ("n",))], specs(24)[0], {}, np.random.default_rng(1))
    inputs = replace(inputs, arguments=[replace(inputs.arguments[0], value=np.arange(5.0))])
    view, new = (calls.original(f, inputs) for f in (lambda x: x[1:], lambda x: x[1:].copy()))
    assert compare.compare(view, view, ["x"]) is None
    for pair, word in (((view, new), "is a view of"), ((new, view), "is a new array in")):
        found = compare.compare(*pair, ["x"])
        assert found is not None and found.what == "aliasing" and word in found.message


PTX = """
.reg .f64 %fd<9>;
// .f64 in a comment
ld.param.f64 %fd1, [p];
@%p1 add.f64 %fd2, %fd1, %fd1;
mov.b64 %rd1, %fd2;
cvt.rn.f64.s64 %fd3, %rd26;
mul.f64 %fd4, %fd3, 0d3BF921FB54442D19;
cvt.rn.f32.f64 %f51, %fd4;
"""


def test_ptx_text() -> None:
    assert double_instructions(PTX) == 2
    assert double_instructions("add.f32 %f1, %f2, %f3;") == 0
    log = (
        "0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
        "Used 30 registers, used 1 barriers, 2048 bytes smem\nused 32 registers"
    )
    expected = {"registers": 32, "spill_bytes": 12, "shared_bytes": 2048}
    assert resources(log) == expected
    assert set(resources("").values()) == {None}


def test_float64_of_range_reduction_is_not_counted(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    old = "math.exp(T(-0.5) * z * z)"
    path = copy(tmp_path, "maps", old, "math.sin(z) * math.cos(z) + math.tan(z)")
    found = verify_module(path, on=("ptx",), functions=("density",))[0]
    assert [e.detail["f64"] for e in found.evidence] == [0, 0, 0]


def test_without_a_compiler_ptx_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = (
        "import os, sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numba.cuda.dispatcher': raise ImportError('no libnvvm')\n"
        "if 'NUMBA_ENABLE_CUDASIM' not in os.environ: sys.meta_path.insert(0, Missing())\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hook)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(compilers, "_waiting", None)  # one that waits would serve
    found = verify_module(VERIFY_MODULES / "maps_cuda.py", functions=("grow",))[0]
    assert [(e.on, e.status) for e in found.evidence] == [
        ("simulator", "passed"),
        ("emulator", "passed"),
        ("ptx", "skipped"),
    ]
    assert 'pip install "porter[cuda]"' in found.evidence[2].detail["reason"] and found.verified


def test_a_text_that_is_not_in_its_place_yet(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    text = path.read_text()
    path.unlink()
    found = verify_module(path, on=("simulator",), functions=("grow",), text=text)
    assert found[0].verified and not path.exists()


def options(*paths: Path, **rest: object) -> VerifyOptions:
    """Simulator only, one function, few cases, unless told otherwise."""
    given = {"on": ("simulator",), "cases": 6, **rest}
    return VerifyOptions(paths=tuple(map(str, paths)), **given)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = copy(tmp_path, "maps")
    assert verify.run(options(tmp_path, functions=("grow",))) == 0
    said = capsys.readouterr().out
    assert "grow" in said and "on the simulator: 6 cases passed" in said and right.name in said
    wrong = copy(tmp_path, "maps", "amount * SCALE)", "amount)")
    assert verify.run(options(wrong, functions=("grow",))) == 1
    said = capsys.readouterr().out
    assert "error[PRT911]: `grow`" in said and "help: repeat it with `porter verify" in said
    assert re.search(r"case \d+, seed 0, made smaller:", said)
    assert verify.run(options(wrong, functions=("grow",), output_format="concise")) == 1
    assert capsys.readouterr().out.count("\n") == 1
    assert verify.run(options(wrong, functions=("grow",), output_format="json")) == 1
    data = json.loads(capsys.readouterr().out)
    (function,) = data["modules"][0]["functions"]
    assert function["name"] == "grow" and function["mismatch"]["what"] == "value"
    assert function["evidence"][0]["on"] == "simulator"


def test_the_command_on_what_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain.py"
    plain.write_text("x = 1\n")
    right = copy(tmp_path, "maps")
    assert verify.run(options(plain, right, functions=("grow",))) == 2
    captured = capsys.readouterr()
    assert "plain.py: no header" in captured.err and "6 cases passed" in captured.out
    (tmp_path / "empty").mkdir()
    assert verify.run(options(tmp_path / "empty", tmp_path / "none.py")) == 2
    assert capsys.readouterr().err.count("error: ") == 2
    for wrong in ({"sanitize": True}, {"timeout": 0.0}, {"seed": -1}):
        with pytest.raises(UsageError):
            verify.run(options(right, **wrong))


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(DoctorOptions()) == 0
    said = capsys.readouterr().out
    assert "simulator  available" in said and "emulator   available" in said and "numpy" in said
    assert doctor.run(DoctorOptions(output_format="json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert [e["on"] for e in report["evidence"]] == ["simulator", "emulator", "ptx", "gpu"]
    assert all(e["status"] in ("available", "missing") for e in report["evidence"])
    for e in report["evidence"]:
        assert bool(e["install"] or e["help"]) == (e["status"] == "missing")


def test_fixture_headers_are_what_render_writes() -> None:
    from porter.codegen.module.header import body_of, is_edited, parse

    for path in VERIFY_MODULES.glob("*_cuda.py"):
        text = path.read_text()
        header = parse(text)
        assert header is not None and not is_edited(text)
        assert render(header, body_of(text)) == text


def test_errors_are_measured_in_last_places_and_of_the_budget() -> None:
    worst = Worst(case=3)
    x = np.array([1.0, 1e-20, np.nan, 4.0])
    y = x + np.array([2.0**-52, 1e-30, 0, 2.0**-50])
    error = np.abs((y - x).astype(np.longdouble))
    worst.add("result", x, y, error, np.full(4, 2.0**-48))
    assert worst.ulp.index == (1,) and worst.ulp.ulp == pytest.approx(1e-30 / np.spacing(1e-20))
    assert (worst.share.index, worst.share.ulp, worst.share.share) == ((3,), 1.0, 0.25)
    worst.add("result", x[:1], x[:1], np.zeros(1), np.ones(1))
    detail = worst.to_json()
    assert detail["worst_share"] == {
        "ulp": 1.0, "share": 0.25, "place": "result", "index": [3], "case": 3
    }  # fmt: skip
    passed = Evidence("simulator", "passed", 24, detail)
    function = FunctionEvidence("f", [passed])
    line = "verified on the simulator: 24 cases passed, worst error 1 ulp"
    assert list(report.lines(function)) == [line]
    assert list(report.lines(function, verbose=True))[1:] == [
        "  the worst error is 25 % of its budget"
    ]
    assert Worst().to_json() == {}
    equal = Evidence("simulator", "passed", 24, Worst(floats=1).to_json())
    assert report.run_line(equal).endswith("all equal to the last bit")


def test_an_architecture_that_the_compiler_does_not_know() -> None:
    good = {"arch": "sm_80", "registers": 24, "spill_bytes": 0, "f64": None, "occupancy": 0.5}
    evidence = [
        Evidence("ptx", "passed", 1, good),
        Evidence("ptx", "skipped", 0, {"arch": "sm_121", "reason": "no sm_121 here"}),
    ]
    skipped = "not compiled to PTX: no sm_121 here"
    assert list(report.ptx_lines(evidence)) == [
        "compiled to PTX: sm_80, 24 registers, no spills, occupancy 50 %", skipped
    ]  # fmt: skip
    assert list(report.ptx_lines(evidence[1:])) == [skipped]


def test_the_header_counts_the_cases_that_run_on_every_machine() -> None:
    found = FunctionEvidence("f", [
        Evidence("simulator", PASSED, 24),
        Evidence("emulator", PASSED, 233, {"sizes": {"wanted": 206, "done": 205}}),
        Evidence("ptx", PASSED, 1, {"arch": "sm_90", "cases": 8}),
    ])  # fmt: skip
    assert found.summary() == ("simulator 24 cases", "emulator 28 cases", "ptx sm_90 8 cases")


def test_cases_of_compiled_kernels_cross_their_own_blocks() -> None:
    table = [with_own_blocks(spec) for spec in specs(24)]
    blocks = {"THREADS": 256, "TILE": 16}
    chosen = [(s, choose_sizes(["n", "m", "k"], s, blocks, {})) for s in table if s.own]
    assert sum(max(sizes.values()) > 2 * 256 for _, sizes in chosen) >= 4
    # two axes over several tiles at once
    assert any(sorted(sizes.values())[1] > 3 * 16 for _, sizes in chosen)
    # grids are cut in some, and not in others
    assert len({s.many for s, _ in chosen}) == 2
    assert table[2] == specs(24)[2]  # no block is in its sizes
    # more rows than the large tiles of a cut grid have: kernels with tiles go round
    large = {"TILE": 16, "EACH": 4, "EACH_LARGE": 8, "LARGE": 1}
    rows = [choose_sizes(["n", "m"], s, large, {})["n"] for s in table if s.many and s.choice("L")]
    assert max(rows) > 3 * 128


def test_every_signature_has_a_case_where_the_table_has_none() -> None:
    table = specs(8)
    assert {s.variant for s in table} == {0, 1}
    assert [s.variant for s in further(table, 5)] == [2, 3, 4] and further(table, 2) == []
    assert not {s.number for s in further(table, 5)} & {s.number for s in table}


def test_the_constants_that_kernels_read_are_told() -> None:
    text = "@cuda.jit\ndef k(x):\n    x[0] = THREADS\n\n\ndef f(x):\n    k[MAX_BLOCKS, 1](x)\n"
    assert {"THREADS", "x"} <= constants_of_kernels(text) and "MAX_BLOCKS" not in (
        constants_of_kernels(text)
    )


def test_no_turns_and_no_zeros_are_one() -> None:
    """No turns means 0, but a case without zeros takes 1; no number was left to choose from."""
    types = parse_types("float64[:], int64")
    parameters = [Parameter("x", types[0], ("n",)), Parameter("k", types[1], ())]
    empty = next(spec for spec in TABLE if spec.most == 0)
    inputs = [
        build(parameters, spec, {"THREADS": 4}, np.random.default_rng(0)) for spec in tame(empty)
    ]
    assert [i.arguments[1].value for i in inputs][:2] == [0, 1]
