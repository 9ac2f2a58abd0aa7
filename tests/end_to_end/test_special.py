"""Functions of `scipy.special`: SciPy's values and dtypes, in kernels and as CuPy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter import ir
from porter.config import Config
from porter.convert.files import convert_file
from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.ir.interp import run
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.source.module import SourceModule

special = pytest.importorskip("scipy.special")

ONE = ("erf", "erfc", "expit", "logit", "ndtr", "log_expit")
TWO = ("xlogy", "xlog1py")
VALUES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 0.3, 0.65, 1e-300, 40.0, -40.0, -12.5]
SOURCE = """import numpy as np
import scipy.special as sc
from scipy import special
from scipy.special import erf, expit, gammaln


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def call_price(S, K: float, r: float, sigma: float, T: float):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    return S * sc.ndtr(d1) - K * np.exp(-r * T) * sc.ndtr(d1 - sigma * np.sqrt(T))


def logistic(x, y):
    return expit(x) + special.xlogy(x, y)


def of_number(x, a: float):
    return x * erf(a) + sc.ndtr(0.5)


def unknown(x):
    return gammaln(x)
"""
MODULE = SourceModule(SOURCE, "a.py")
FUNCTIONS = {f.name: f for f in MODULE.functions}


def _made(name: str, parameters: str, types: str) -> ir.Program:
    head = f"import scipy.special as sc\n\n\ndef f({parameters}):\n"
    source = f"{head}    return sc.{name}({parameters})\n"
    return convert_function(SourceModule(source, "a.py").functions[0], types).program


@pytest.mark.parametrize("name", (*ONE, *TWO))
@pytest.mark.parametrize("dtype", ("float64", "float32", "int64", "int16", "float16", "bool"))
def test_values_and_dtypes_are_scipys(name: str, dtype: str) -> None:
    values = np.array(VALUES)
    rng = np.random.default_rng(5)
    values = np.concatenate([values, rng.normal(0.0, 3.0, 200), rng.random(100)])
    if dtype not in ("float64", "float32", "float16"):
        values = np.nan_to_num(values, posinf=3.0, neginf=-3.0)
    with np.errstate(all="ignore"):
        given = [values.astype(dtype)]
        if name in TWO:
            given.append(rng.permutation(values).astype(dtype))
        kind = "boolean" if dtype == "bool" else dtype
        program = _made(
            name, "x, y" if name in TWO else "x", ", ".join([f"{kind}[:]"] * len(given))
        )
        found = np.asarray(run(program, list(given)))
        expected = getattr(special, name)(*given)
    assert found.dtype == expected.dtype
    eps = np.finfo(expected.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=64 * eps, atol=eps / 4)


@pytest.mark.parametrize("name", ("gelu", "call_price", "logistic", "of_number"))
def test_functions_with_them_convert(name: str) -> None:
    made = convert_function(FUNCTIONS[name])
    arguments = [np.linspace(0.5, 2.0, 7), 1.1, 0.2, 0.3, 0.9][: len(made.program.parameters)]
    if name == "logistic":
        arguments[1] = arguments[0] + 1.0
    scope: dict[str, object] = {}
    exec(SOURCE, scope)
    expected = scope[name](*arguments)  # type: ignore[operator]
    np.testing.assert_allclose(run(made.program, list(arguments)), expected, rtol=1e-13)
    # what the host computes of a number is `math`'s, as NumPy has no such function
    assert "np.erf" not in "\n".join(made.text.parts)


def test_others_are_refused_by_name() -> None:
    with pytest.raises(Refusal, match="`gammaln` cannot be converted"):
        convert_function(FUNCTIONS["unknown"])


def test_they_are_cupyx_of_arrays(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text(SOURCE)
    options = ConvertOptions(paths=(str(source),), target="cupy", functions=("gelu", "of_number"))
    file, module = SourceFile(str(source), SOURCE), tmp_path / "a_cupy.py"
    outcome = convert_file(file, options, Config(), module, lambda _: None)
    assert [f.status for f in outcome.functions] == ["converted", "refused"]
    text = outcome.text or ""
    assert "import cupyx.scipy.special" in text
    assert "0.5 * x * (1.0 + cupyx.scipy.special.erf(x / np.sqrt(2.0)))" in text
    (refused,) = outcome.functions[1].diagnostics
    assert refused.message == "`erf` is given numbers of the host, no arrays"
