"""`@guvectorize` functions as input: what they become does what Numba's own gufuncs do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import FunctionOutcome, ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.rules.engine import Selection, analyze
from porter.source.files import SourceFile
from tests.support.modules import loaded

SOURCE = """
import math

import numpy as np
from numba import float32, float64, guvectorize, int64


@guvectorize(["(float32[:], float32[:])", "(float64[:], float64[:])"], "(i)->()")
def l2_norm(vec, out):
    acc = 0.0
    for value in vec:
        acc += value**2
    out[0] = math.sqrt(acc)


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def until_zero(x, y, out):
    if y[0] < -2:
        out[0] = 0
        return
    acc = 0.0
    for i in range(x.shape[0]):
        if y[i] == 0:
            break
        acc += x[i] * y[i]
    out[0] = acc


@guvectorize([(float64[:], float64, float64[:]), (float32[:], float32, float32[:])], "(n),()->(n)")
def add(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + y


@guvectorize([(int64[:], int64[:], int64[:])], "(n),()->(n)")
def at_most(x, most, res):
    for i in range(x.shape[0]):
        res[i] = min(x[i], most[0])


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(A, B, C):
    m, n = A.shape
    n, p = B.shape
    for i in range(m):
        for j in range(p):
            C[i, j] = 0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


@guvectorize("void(float64[:], float64[:])", "(n)->(n)")
def softmax(x, out):
    e = np.exp(x - x.max())
    out[:] = e / e.sum()


@guvectorize(["void(float64[:], float64[:], int64[:])"], "(n)->(),()")
def largest(x, value, place):
    value[0] = -np.inf
    place[0] = -1
    for i in range(x.size):
        if x[i] > value[0]:
            value[0] = x[i]
            place[0] = i
"""
RETURNING = """
import numpy as np
from numba import guvectorize


@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def spread(x, out):
    return x.max() - x.min()


@guvectorize(["float64(float64[:], float64[:])"], "(n),(n)->()")
def dot(x, y):
    return np.sum(x * y)


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(n),()")
def centred(x, out, mean):
    m = x.mean()
    return x - m, m
"""
LAYOUTS = {
    "l2_norm": "(n)->()", "until_zero": "(n),(n)->()", "add": "(n),()->(n)",
    "at_most": "(n),()->(n)", "matmul": "(n,m),(m,k)->(n,k)", "softmax": "(n)->(n)",
    "largest": "(n)->(),()",
}  # fmt: skip
#: the shapes of the arguments: none and several looped axes, broadcast ones, of no elements
CALLS: dict[str, list[tuple[tuple[int, ...], ...]]] = {
    "l2_norm": [((5,),), ((3, 7),), ((2, 3, 4),), ((0, 3),), ((3, 0),)],
    "until_zero": [((4,), (4,)), ((3, 1, 5), (2, 5)), ((1, 6), (3, 6)), ((2, 3), (2, 4))],
    "add": [((3,), ()), ((4, 3), (4,)), ((3,), (5,)), ((2, 1, 3), (4,)), ((0, 3), (0,))],
    "at_most": [((3,), ()), ((4, 3), (4,)), ((2, 3), (1,))],
    "matmul": [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (7, 3, 1)), ((2, 3), (2, 3))],
    "softmax": [((5,),), ((3, 1),), ((2, 2, 9),)],
    "largest": [((6,),), ((2, 4),), ((3, 0),), ((0, 2),)],
}


def convert(folder: Path, text: str, target: str = "gufunc", **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / "source.py"
    source.write_text(text)
    place = folder / f"source_{target}.py"
    asked = {"ufunc_target": "cpu", "verify": False} | options
    given = ConvertOptions((str(source),), target=target, **asked)
    made = convert_file(SourceFile(str(source), text), given, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return made.delivered(str(place), stale=False)


def outcome(function: Any, *args: Any) -> list[Any]:
    """The dtypes, the shapes and the values, or the kind of the exception."""
    try:
        made = function(*args)
    except Exception as error:
        return [type(error)]
    return [
        part for a in (made if isinstance(made, tuple) else (made,))
        for wide in (a.astype(np.result_type(a, float)),)
        for part in (type(a), a.dtype, a.shape, np.round(wide, 9).tolist())
    ]  # fmt: skip


def equal(one: list[Any], two: list[Any]) -> bool:
    """Whether two outcomes are, NaNs included."""
    return repr(one) == repr(two)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ModuleOutcome:
    return convert(tmp_path_factory.mktemp("gufuncs"), SOURCE, verify=True)


@pytest.fixture(scope="module")
def original(made: ModuleOutcome) -> Any:
    return loaded(Path(made.output).with_name("source.py"))


def test_everything_converts_and_is_verified(made: ModuleOutcome) -> None:
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(LAYOUTS, "converted")
    for function in made.functions:
        assert [e.status for e in function.evidence] == ["passed"], function


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_derived_layout_is_the_stated_one(made: ModuleOutcome, name: str) -> None:
    text = made.text or ""
    at = text.index(f"\ndef {name}_gufunc(")
    assert re.findall(r'"(\([^"]*\)->\([^"]*\))"', text[:at])[-1] == LAYOUTS[name]


@pytest.mark.parametrize("target", ["gufunc", "loops"])
def test_it_does_what_numbas_own_does(
    made: ModuleOutcome, original: Any, tmp_path: Path, target: str
) -> None:
    place = Path(made.output)
    if target != "gufunc":
        place = Path(convert(tmp_path, SOURCE, target, ufunc_target="cuda").output)
    module = loaded(place)
    rng = np.random.default_rng(3)
    for name, calls in CALLS.items():
        dtypes = [np.float32, np.float64] if name in ("l2_norm", "add") else [np.float64]
        dtypes = [np.int64] if name == "at_most" else dtypes
        for dtype in dtypes:
            for shapes in calls:
                args = [np.asarray(np.round(rng.normal(size=s) * 3, 1), dtype) for s in shapes]
                if args[0].ndim and args[0].size > 3 and dtype is not np.int64:
                    args[0].reshape(-1)[2] = np.nan
                if dtype is np.float32:
                    args = [np.round(a * 4) / 4 for a in args]
                expected = outcome(getattr(original, name), *args)
                found = outcome(getattr(module, name), *args)
                if dtype is np.float32 and name == "l2_norm":
                    expected, found = expected[:3], found[:3]  # Numba sums in double precision
                assert equal(expected, found), (name, shapes, dtype, expected, found)


def test_dtypes_are_cast_to_a_signature(made: ModuleOutcome, original: Any) -> None:
    module = loaded(Path(made.output))
    x, y = np.ones((2, 3), np.float32), np.ones(2)
    for name, args in (("add", (x, y)), ("softmax", (x,)), ("l2_norm", (x > 0,))):
        assert equal(outcome(getattr(module, name), *args), outcome(getattr(original, name), *args))
    for call in ((module.add, x, y + 0j), (module.l2_norm, x + 0j), (module.at_most, x, 1)):
        assert outcome(*call) == [TypeError]


def test_without_a_signature_there_is_none(made: ModuleOutcome) -> None:
    # a module for float64 alone does not compute in single precision
    header = (made.text or "").split('"""')[0]
    assert "also l2_norm(float64[:, :])" in header
    assert "also softmax" not in header
    assert "parts l2_norm: (i)->() float32[:], float32[:]" in header


def test_what_returns_is_rewritten(tmp_path: Path) -> None:
    made = convert(tmp_path, RETURNING, verify=True)
    assert [f.status for f in made.functions] == ["converted"] * 3
    module = loaded(Path(made.output))
    x = np.random.default_rng(1).normal(size=(2, 3, 5))
    np.testing.assert_allclose(module.spread(x), x.max(axis=-1) - x.min(axis=-1))
    np.testing.assert_allclose(module.dot(x, x[0, 0]), (x * x[0, 0]).sum(axis=-1))
    out, mean = module.centred(x)
    np.testing.assert_allclose(out, x - x.mean(axis=-1, keepdims=True))
    np.testing.assert_allclose(mean, x.mean(axis=-1))
    # what is written is right by the rule that the source breaks
    for path, codes in ((tmp_path / "source.py", {"PRT803"}), (Path(made.output), set())):
        found = analyze(SourceFile(str(path), path.read_text()), Selection(("PRT803",), ()))
        assert {d.code for d in found.diagnostics} == codes
        assert all("--target gufunc" in d.help for d in found.diagnostics if "returns" in d.message)


@pytest.mark.long
def test_kernels_of_it_are_verified(tmp_path: Path) -> None:
    text = SOURCE[: SOURCE.index("@guvectorize([(float64[:], float64")]
    made = convert(tmp_path, text, "cuda", ufunc_target="cuda", verify=True)
    assert [f.status for f in made.functions] == ["converted", "converted"]
    for function in made.functions:
        assert all(e.status in ("passed", "skipped") for e in function.evidence), function


def test_for_cuda_alone_it_is_kept(tmp_path: Path) -> None:
    text = SOURCE[
        : SOURCE.index('@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),')
    ]
    text = text.replace('"(i)->()"', '"(i)->()", target="cuda"')
    kept = convert(tmp_path, text, "cuda", ufunc_target="cuda")
    assert not kept.functions
    assert kept.notes == ("l2_norm is a kernel or ufunc already: not converted",)
    made = convert(tmp_path, text, ufunc_target="cuda")
    assert 'target="cuda"' in (made.text or "")
    (function,) = convert(tmp_path, text, ufunc_target="parallel").functions
    assert function.status == "converted"


def test_another_name_of_the_decorator_means_the_same(tmp_path: Path) -> None:
    text = SOURCE[
        : SOURCE.index('@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),')
    ]
    text = text.replace("guvectorize, int64", "guvectorize as gufunc, int64")
    made = convert(tmp_path, text.replace("@guvectorize", "@gufunc"), verify=True)
    (function,) = made.functions
    assert [e.status for e in function.evidence] == ["passed"]


def refused(folder: Path, decorator: str, body: str, target: str = "gufunc") -> FunctionOutcome:
    """The outcome of one function that is refused."""
    text = f"import numpy as np\nfrom numba import guvectorize\n\n\n{decorator}\n{body}\n"
    (function,) = convert(folder, text, target, ufunc_target="cuda").functions
    assert function.status == "refused", function
    return function


SIGNED = '@guvectorize(["void(float64[:], float64[:])"], "(n)->()")'
APART = '@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(m)->(n)")'
WRONG = [
    (SIGNED, "def f(x):\n    x[0] = 1", "PRT905", "`x` is an input of the layout"),
    ('@guvectorize("(n)->()")', "def f(x, out):\n    out[0] = x[0]", "PRT907", "no signatures"),
    ('@guvectorize(["void(float64[:], float64[:])"], "(n)->(m)")',
     "def f(x, out):\n    out[0] = x[0]", "PRT803", "has `m` in an output only"),
    (SIGNED, "def f(x, y, out):\n    out[0] = x[0]", "PRT803", "has 3 parameters"),
    ('@guvectorize(["void(float64[:,:], float64[:])"], "(n)->()")',
     "def f(x, out):\n    out[0] = x[0, 0]", "PRT803", "has the type `float64[:, :]` for `(n)`"),
    ('@guvectorize(["void(float64[:])"], "(n)->()")',
     "def f(x, out):\n    out[0] = x[0]", "PRT803", "has 1 types"),
    (SIGNED, "def f(x, out):\n    return x[0], x[0]", "PRT803", "returns 2 values for 1 outputs"),
    (SIGNED, "def f(x, out):\n    for i in range(x.size):\n        out[i] = x[i]", "PRT803",
     "the layout has one element where this counts up to `n`"),
    (SIGNED, "def f(x, out):\n    for v in x:\n        out[0] += v", "PRT803",
     "`out` is read before anything is stored into it"),
    (APART, "def f(x, y, out):\n    for i in range(x.size):\n        out[i] = y[i]", "PRT803",
     "the layout has `m` where this counts up to `n`"),
    (APART, "def f(x, y, out):\n    out[:] = x + y", "PRT803",
     "the layout has `m` beside `n` where this takes them to be equal"),
]  # fmt: skip


@pytest.mark.parametrize(("decorator", "body", "code", "message"), WRONG)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, decorator: str, body: str, code: str, message: str
) -> None:
    (found,) = refused(tmp_path, decorator, body).diagnostics
    assert found.code == code
    assert message in found.message
    assert found.span.line >= 4  # the decorator's, or a line of the body


@pytest.mark.parametrize("body", ["out[0] = x[0]", "out[1:] = x[1:] - x[:-1]"])
def test_an_element_that_is_not_stored_is_found(tmp_path: Path, body: str) -> None:
    text = "from numba import guvectorize\n\n\n@guvectorize(['void(f8[:], f8[:])'], '(n)->(n)')\n"
    made = convert(tmp_path, f"{text}def f(x, out):\n    {body}\n", verify=True)
    (function,) = made.functions
    assert function.status == "failed"
    assert "as it happened to be in memory" in str(function.problems)
