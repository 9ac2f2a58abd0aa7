"""Functions that loops compute several at a time, beside NumPy's in the widest float there is."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile

#: the largest error in units in the last place of float64; float32 is rounded from float64
ULP = {"exp": 1.0, "expm1": 2.0, "tanh": 3.0, "log": 1.0, "log1p": 3.0}
SOURCE = "import numpy as np\n" + "".join(
    f"def own_{name}(x):\n    return np.{name}(x)\n" for name in ULP
)
SPECIAL = [
    0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308,
    709.78, 709.79, -708.4, -745.1, -745.2, 88.8, -103.9, -104.1, 22.0, -22.1, 1e-45, -1e-45,
]  # fmt: skip


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A function for each of them."""
    options = ConvertOptions(
        ("f.py",), signature="float64[:]", target="loops", verify=False
    )  # fmt: skip
    path = tmp_path_factory.mktemp("vectors") / "f_loops.py"
    made = convert_file(SourceFile("f.py", SOURCE), options, Config(), path, lambda _: None)
    assert made.text is not None, made.diagnostics
    path.write_text(made.text, "utf-8")
    spec = importlib.util.spec_from_file_location("f_loops", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def numbers(name: str) -> np.ndarray:
    """All magnitudes, many where the results change most, and what is special."""
    r = np.random.default_rng(len(name))
    magnitudes = 10.0 ** r.uniform(-320, 308, 50_000)
    either = np.where(r.random(50_000) < 0.5, magnitudes, -magnitudes)
    around = r.uniform(-3, 3, 100_000)
    wide = r.uniform(-760, 720, 100_000)
    near = 1 + r.standard_normal(20_000) * 1e-6
    return np.concatenate([either, around, wide, near, near - 1, np.abs(around), SPECIAL])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(ULP))
@np.errstate(all="ignore")
def test_results_are_numpys_within_the_error_that_is_stated(
    name: str, dtype: str, module: ModuleType
) -> None:
    x = numbers(name).astype(dtype)
    found = getattr(module, f"own_{name}")(x)
    assert found.dtype == x.dtype
    numpy = getattr(np, name)
    exact = numpy(x.astype(np.longdouble))
    rounded = exact.astype(dtype)
    ends = ~np.isfinite(rounded)
    np.testing.assert_array_equal(found[ends], rounded[ends])
    signed = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(found[signed]), np.signbit(rounded[signed]))
    apart = np.abs(found[~ends] - exact[~ends]) / np.spacing(np.abs(rounded[~ends]))
    # where the widest float is no wider, the reference is wrong by another unit
    more = 1.0 if np.finfo(np.longdouble).eps > 1e-17 else 0.0
    assert apart.max() <= (0.51 if dtype == "float32" else ULP[name]) + more


@pytest.mark.parametrize("name", list(ULP))
def test_the_compiler_makes_vectors_of_it(name: str, module: ModuleType) -> None:
    getattr(module, f"own_{name}")(np.ones(3))
    kernel = getattr(module, f"own_{name}_loops")
    text = "\n".join(kernel.inspect_llvm().values())
    assert " x double>" in text
    # nothing of the mathematics library is called
    assert f"@{name}(" not in text
