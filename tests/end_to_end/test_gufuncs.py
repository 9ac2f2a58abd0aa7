"""Modules of `--target gufunc`: layouts, results beside NumPy's, and what is refused and why."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.run import verify_module

SOURCE = """
import math

import numpy as np


def l2_norms(vectors):
    return np.sqrt((vectors**2).sum(axis=1))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def product(a, b):
    return a @ b


def distances(x, y):
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))


def reversed_rows(x):
    return x[:, ::-1] * 2.0


def running(x):
    return np.cumsum(x, axis=1)


def scaled(x, w):
    return np.maximum(x * w, 0.0)


def polar(rho, theta):
    return rho * math.cos(theta), rho * math.sin(theta)


def totals(x):
    return x.sum(axis=0)


def shares(x):
    return x / x.sum(axis=0)


def by_rows(x, w):
    return w @ x


def scale_rows(x):
    for i in range(x.shape[0]):
        x[i] /= np.sqrt((x[i] ** 2).sum())


def clip(x, low):
    x[x < low] = 0.0


def add_totals(x, w):
    x += w
    x[:, 0] = x.sum(axis=1)
    return x


def by_loops(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for k in range(1, x.shape[1]):
            out[i] += abs(x[i, k] - x[i, k - 1])
    return out
"""
LAYOUTS = {
    "l2_norms": "(n)->()", "softmax": "(n)->(n)", "product": "(n),(n,m)->(m)",
    "distances": "(n),(m,n)->(m)", "reversed_rows": "(n)->(n)", "running": "(n)->(n)",
    "scaled": "(),()->()", "polar": "(),()->(),()", "totals": "(n)->()", "shares": "(n)->()",
    "by_rows": "(n,m),(n)->(m)", "by_loops": "(n)->()",
    "scale_rows": "(n)->(n)",
}  # fmt: skip
REFUSED = {
    "def f(x):\n    return x[1:] - x[:-1]": "reads `x` at another index",
    "def f(x):\n    return x - x[0]": "reads `x` at another index",
    "def f(x):\n    return np.cumsum(x, axis=0)": "stores `out` at another index",
    "def f(x):\n    x[:, 1:] = x[:, :-1].copy()\n    x[1:] += x[:-1].copy()": "at another index",
    "def f(x):\n    return x.sum()": "computes one number from whole arrays",
}


def convert(folder: Path, text: str, **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / "source.py"
    source.write_text(text)
    place = folder / "source_gufunc.py"
    asked = {"ufunc_target": "cpu", "verify": False} | options
    given = ConvertOptions((str(source),), target="gufunc", **asked)
    made = convert_file(SourceFile(str(source), text), given, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return made.delivered(str(place), stale=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ModuleOutcome:
    return convert(tmp_path_factory.mktemp("gufuncs"), SOURCE, verify=True)


@pytest.fixture(scope="module")
def module(made: ModuleOutcome) -> Any:
    spec = importlib.util.spec_from_file_location("source_gufunc", made.output)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_everything_converts_and_is_verified(made: ModuleOutcome) -> None:
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(
        [*LAYOUTS, "clip", "add_totals"], "converted"
    )
    for function in made.functions:
        assert [e.status for e in function.evidence] == ["passed"], function


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layout_is_derived(made: ModuleOutcome, name: str) -> None:
    text = made.text or ""
    at = text.index(f"\ndef {name}_gufunc(")
    layouts = re.findall(r'"(\([^"]*\)->\([^"]*\))"', text[:at])
    assert layouts[-1] == LAYOUTS[name]


def test_what_runs_along_another_axis_is_turned_by_the_host(made: ModuleOutcome) -> None:
    assert "totals_gufunc(own_x.T, out)" in (made.text or "")


def test_what_is_computed(module: Any) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(4, 6)), rng.normal(size=(5, 6))
    original: dict[str, Any] = {}
    exec(SOURCE, original)
    for name in ("l2_norms", "softmax", "reversed_rows", "running", "totals", "shares", "by_loops"):
        np.testing.assert_allclose(getattr(module, name)(x), original[name](x), rtol=1e-12)
        single = getattr(module, name)(x.astype(np.float32))
        assert single.dtype == original[name](x.astype(np.float32)).dtype, name
    np.testing.assert_allclose(module.product(x, y.T), x @ y.T)
    np.testing.assert_allclose(module.distances(x, y), original["distances"](x, y))
    assert module.scaled(x[:, None], y[0]).shape == (4, 1, 6)
    assert module.l2_norms(np.ones((0, 3))).shape == (0,)
    assert module.totals(np.ones((0, 3))).tolist() == [0.0] * 3
    np.testing.assert_allclose(module.totals(x[::2, ::-1]), x[::2, ::-1].sum(axis=0))
    np.testing.assert_allclose(module.by_rows(x, y[:, :4]), y[:, :4] @ x)
    np.testing.assert_array_equal(module.l2_norms(np.ones((3, 0))), np.zeros(3))
    a, b = module.polar(2.0, np.zeros((2, 1)))
    np.testing.assert_array_equal([a[0, 0], b[1, 0]], [2.0, 0.0])


def test_arguments_change_in_place(module: Any) -> None:
    original: dict[str, Any] = {}
    exec(SOURCE, original)
    whole = np.random.default_rng(6).normal(size=(6, 10))
    for view in (np.s_[:], np.s_[::2, ::-1], np.s_[1:3, ::3]):
        for name, args in (("scale_rows", ()), ("clip", (0.25,)), ("add_totals", (0.5,))):
            one, two = whole.copy(), whole.copy()
            expected = original[name](one[view], *args)
            found = getattr(module, name)(two[view], *args)
            np.testing.assert_allclose(one, two, rtol=1e-12)
            assert (expected is None) == (found is None)
    x = whole.copy()
    assert module.add_totals(x, 1.0) is x


def test_the_function_itself_takes_further_axes(module: Any) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    np.testing.assert_allclose(module.l2_norms_gufunc(x), np.sqrt((x**2).sum(axis=-1)))


def test_for_cuda_it_is_verified_on_the_cpu_and_as_ptx(tmp_path: Path) -> None:
    text = SOURCE[: SOURCE.index("def distances")]
    made = convert(tmp_path, text, ufunc_target="cuda", verify=True)
    assert 'target="cuda"' in (made.text or "")
    for function in made.functions:
        assert function.status == "converted", function.problems
        ran = [e for e in function.evidence if e.on != "ptx"]
        assert [e.detail.get("instead_of") for e in ran] == ["cuda"]
        ptx = [e for e in function.evidence if e.on == "ptx"]
        assert ptx
        assert all(e.status in ("passed", "skipped") and not e.detail.get("f64") for e in ptx)


def test_for_cuda_the_axes_are_turned_too(tmp_path: Path) -> None:
    text = "def totals(x):\n    return x.sum(axis=0)\n"
    made = convert(tmp_path, text, ufunc_target="cuda", verify=True)
    assert "totals_gufunc(d_x.T, out, stream=stream)" in (made.text or "")
    (function,) = made.functions
    assert all(e.status in ("passed", "skipped") for e in function.evidence), function


def test_a_wrong_body_is_found(made: ModuleOutcome, tmp_path: Path) -> None:
    text = SOURCE[: SOURCE.index("def softmax")]
    place = Path(convert(tmp_path, text, ufunc_target="cuda").output)
    own = place.read_text()
    assert "total = T(0.0)" in own
    place.write_text(own.replace("total = T(0.0)", "total = T(1.0)"))
    (found,) = verify_module(place, on=("emulator",), cases=8)
    assert found.mismatch is not None
    assert found.mismatch.what == "value"


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_gufunc_expresses_is_refused_with_the_reason(tmp_path: Path, text: str) -> None:
    (function,) = convert(tmp_path, f"import numpy as np\n\n{text}\n").functions
    assert function.status == "refused"
    assert function.diagnostics[0].code == "PRT806"
    assert REFUSED[text] in function.diagnostics[0].message
