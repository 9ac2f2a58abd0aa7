"""Modules of `--target ufunc`: what they compute beside NumPy, and what is refused and why."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.codegen.module.header import parse
from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.run import verify_module
from tests.support.commands import porter
from tests.support.paths import EXAMPLES

NUMBER = itertools.count()

SOURCE = '''
import math

import numpy as np
from numba import njit, vectorize

ROOT = np.float32((2 * math.pi) ** 0.5)


def zero_suppress(image_value, threshold):
    """Zero what is small."""
    if image_value < threshold:
        return 0
    return image_value


@vectorize
def cpu_gaussian_pdf(x, mean, sigma):
    return math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * ROOT)


def escape_count(re, im, most):
    z = 0.0j
    c = complex(re, im)
    for i in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4.0:
            return i
    return most


def halvings(x, least):
    count = 0
    while x > least:
        x = x / 2
        count += 1
    return count


@njit
def cartesian(rho, theta):
    return rho * math.cos(theta), rho * math.sin(theta)


def polar_distance(rho1, theta1, rho2, theta2):
    x1, y1 = cartesian(rho1, theta1)
    x2, y2 = cartesian(rho2, theta2)
    return ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5


def soft(x, limit):
    return np.sign(x) * np.maximum(np.abs(x) - limit, 0.0)


def clipped(x, low):
    x[x < low] = low


def rectified(x):
    if x > 0:
        return np.sqrt(x)
    return 0.0


@vectorize(["float32(float32, float32)"], target="cuda")
def declared(a, b):
    total = 0.0
    for k in range(3):
        total += a * b
    return total


@vectorize(["int16(int16, int16)", "float64(float64, float64)"])
def plus(a, b):
    return a + b
'''
NAMES = ("zero_suppress", "cpu_gaussian_pdf", "escape_count", "halvings", "polar_distance", "soft",
         "clipped", "rectified", "declared", "plus", "cartesian")  # fmt: skip
REFUSED = {
    "def f(x):\n    return (x[1:] + x[:-1]) / 2": "reads `x` at another index",
    "def f(x):\n    return x / x.sum(axis=1, keepdims=True)": "reads `x` at another index",
    "def f(x):\n    return x - np.arange(x.shape[0])": "uses the position of an element",
    "def f(k, n):\n    h = np.zeros(n)\n    for i in range(k.shape[0]):\n        h[k[i]] += 1.0\n"
    "    return h": "adds up `h` over elements",
    "def f(x):\n    return np.median(x)": "",
    "def f(x):\n    return x.sum()": "reads `x` at another index",
}


def convert(folder: Path, text: str, names: tuple[str, ...] = (), **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / f"source{next(NUMBER)}.py"
    source.write_text(text)
    place = source.with_name(f"{source.stem}_ufunc.py")
    asked = {"ufunc_target": "cpu", "verify": False} | options
    given = ConvertOptions((str(source),), functions=names, target="ufunc", **asked)
    made = convert_file(SourceFile(str(source), text), given, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return made.delivered(str(place), stale=False)


def loaded(made: ModuleOutcome) -> Any:
    """The module, imported as a user imports it."""
    spec = importlib.util.spec_from_file_location(Path(made.output).stem, made.output)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def originals(text: str) -> dict[str, Callable[..., Any]]:
    """The functions of the source without their decorators: those of numbers."""
    namespace: dict[str, Any] = {}
    exec(re.sub(r"^@.*\n", "", text, flags=re.M), namespace)
    return namespace


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = convert(tmp_path_factory.mktemp("ufuncs"), SOURCE, NAMES)
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(NAMES, "converted")
    return loaded(made)


def elements(function: Callable[..., Any], *args: Any) -> Any:
    """What NumPy makes of a function of numbers."""
    with np.errstate(all="ignore"):
        return np.vectorize(function)(*args)


CASES = {
    "zero_suppress": lambda r, s: (r.normal(size=s), np.float64(0.2)),
    "cpu_gaussian_pdf": lambda r, s: (r.normal(size=s), r.normal(size=s[-1:]), np.float64(1.5)),
    "escape_count": lambda r, s: (r.uniform(-2, 1, s), r.uniform(-1, 1, s[-1:]), np.int64(30)),
    "halvings": lambda r, s: (r.uniform(0, 99, s), r.uniform(0.1, 2, s)),
    "polar_distance": lambda r, s: tuple(r.uniform(0.1, 2, s) for _ in range(4)),
    "soft": lambda r, s: (r.normal(size=s), 0.5),
    "rectified": lambda r, s: (r.normal(size=s),),
    "plus": lambda r, s: (r.normal(size=s), r.normal(size=s[-1:])),
}


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 1, 4), (0,), (1,)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_it_is_numpys_result_for_every_shape(
    module: Any, name: str, shape: tuple[int, ...]
) -> None:
    args = CASES[name](np.random.default_rng(3), shape)
    found = getattr(module, name)(*args)
    assert found.shape == np.broadcast_shapes(*(np.shape(a) for a in args))
    if found.size:
        np.testing.assert_allclose(found, elements(originals(SOURCE)[name], *args), rtol=1e-12)


def test_shapes_broadcast_as_numpys_do(module: Any) -> None:
    x, y = np.arange(6.0).reshape(2, 3, 1), np.arange(4.0)
    found = module.plus(x, y)
    assert found.shape == (2, 3, 4)
    np.testing.assert_array_equal(found, x + y)
    np.testing.assert_array_equal(module.plus(x[:, ::-1], y[::-1]), x[:, ::-1] + y[::-1])
    with pytest.raises(ValueError, match=r"shape mismatch|broadcast"):
        module.plus(np.ones(3), np.ones(4))


def test_numbers_and_lists_are_taken(module: Any) -> None:
    assert module.zero_suppress(0.5, 1.0) == 0
    assert isinstance(module.zero_suppress(0.5, 0.1), np.float64)
    np.testing.assert_array_equal(module.zero_suppress([0.5, 2.0], 1.0), [0.0, 2.0])


def test_the_signatures_say_the_dtypes(module: Any) -> None:
    single = np.ones(3, np.float32)
    assert module.zero_suppress(single, single).dtype == np.float32
    assert module.zero_suppress(single, 2).dtype == np.float32
    assert module.cpu_gaussian_pdf(single, single, single).dtype == np.float32
    assert module.halvings(single, single).dtype == np.int64
    # a Python float is summed up, but the signature says what is stored
    assert module.declared(single, single).dtype == np.float32
    whole = np.array([32767], np.int16)
    assert module.plus(whole, whole).dtype == np.int16
    assert module.plus(whole, whole)[0] == -2
    with pytest.raises(TypeError, match="complex"):
        module.soft(np.ones(3, complex), 1.0)


def test_an_argument_is_changed_in_place(module: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    module.clipped(x, 2.0)
    assert x.min() == 2.0
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        module.clipped(frozen, 1.0)


def test_two_results_are_two_ufuncs(module: Any) -> None:
    rho, theta = np.array([1.0, 2.0]), np.array([[0.0], [np.pi]])
    x, y = module.cartesian(rho, theta)
    assert x.shape == y.shape == (2, 2)
    np.testing.assert_allclose(x, rho * np.cos(theta))
    np.testing.assert_allclose(y, rho * np.sin(theta), atol=1e-15)


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_ufunc_expresses_is_refused_with_the_reason(tmp_path: Path, text: str) -> None:
    made = convert(tmp_path, f"import numpy as np\n\n{text}\n")
    (function,) = made.functions
    assert function.status == "refused"
    if REFUSED[text]:
        assert function.diagnostics[0].code == "PRT806"
        assert REFUSED[text] in function.diagnostics[0].message


@pytest.mark.parametrize("kind", ["cpu", "parallel", "cuda"])
def test_what_a_module_says_and_how_it_is_verified(tmp_path: Path, kind: str) -> None:
    made = convert(tmp_path, SOURCE, ("zero_suppress", "polar_distance"), ufunc_target=kind,
                   verify=True)  # fmt: skip
    assert made.text is not None
    assert f'target="{kind}"' in made.text
    for dtype in ("int64", "float32", "float64"):  # as it is, zero_suppress serves integers
        assert f'"{dtype}({dtype}, {dtype})"' in made.text
    for function in made.functions:
        assert function.status == "converted", function.problems
        ran = [e for e in function.evidence if e.on != "ptx"]
        assert [(e.on, e.detail["ran"]) for e in ran] == [("emulator", "cpu")]
        assert ran[0].detail.get("instead_of", "") == ("cuda" if kind == "cuda" else "")
        ptx = [e for e in function.evidence if e.on == "ptx"]
        assert bool(ptx) == (kind == "cuda")
        assert all(e.status in ("passed", "skipped") for e in ptx)
        # float32 constants stay float32
        assert all(not e.detail.get("f64") for e in ptx)
    header = parse(made.text)
    assert header is not None
    record = header.function("zero_suppress")
    assert record is not None
    assert record.elements[-2:] == ("float32(float32, float32)", "float64(float64, float64)")
    assert header.target == ("ufunc" if kind == "cuda" else f"ufunc {kind}")


def test_helpers_are_device_functions(tmp_path: Path) -> None:
    text = "import numpy as np\n\ndef f(x, y):\n    return np.maximum(x, y)\n"
    for kind, decorator in (("cuda", "@cuda.jit(device=True)"), ("cpu", "@njit(cache=True")):
        made = convert(tmp_path, text, ufunc_target=kind)
        assert made.text is not None
        assert decorator in made.text


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_a_wrong_ufunc_is_found(tmp_path: Path, kind: str) -> None:
    made = convert(tmp_path, SOURCE, ("zero_suppress",), ufunc_target=kind)
    place = Path(made.output)
    text = place.read_text()
    assert "if image_value < threshold" in text
    place.write_text(text.replace("if image_value < threshold", "if image_value <= threshold"))
    (found,) = verify_module(place, on=("emulator",), cases=16)
    assert found.failed
    assert found.mismatch is not None
    assert found.mismatch.what == "value"


def test_a_signature_too_wide_is_found(tmp_path: Path) -> None:
    made = convert(tmp_path, SOURCE, ("halvings",))
    place = Path(made.output)
    text = place.read_text()
    assert '"int64(float64, float64)"' in text
    place.write_text(text.replace("np.empty(x.shape, np.int64)", "np.empty(x.shape, np.float64)"))
    (found,) = verify_module(place, cases=8)
    assert found.mismatch is not None
    assert found.mismatch.what == "dtype"


def test_the_committed_module_is_compared(tmp_path: Path) -> None:
    made = convert(tmp_path, SOURCE, ("zero_suppress", "soft"))
    source = Path(made.source)
    options = ConvertOptions(
        (str(source),), functions=("zero_suppress", "soft"), target="ufunc", ufunc_target="cpu",
        check=True,
    )  # fmt: skip
    again = convert_file(SourceFile(str(source), SOURCE), options, Config(), Path(made.output),
                         lambda _: None)  # fmt: skip
    assert again.text == Path(made.output).read_text()


def test_an_array_of_the_functions_own_is_renewed(tmp_path: Path) -> None:
    text = """
import numpy as np

def powers(x, n):
    y = x * 1.0
    for _ in range(n):
        y = y * x + 1.0
    return y
"""
    made = convert(tmp_path, text, verify=True)
    assert [f.status for f in made.functions] == ["converted"], made.functions
    x = np.linspace(0, 1, 5)
    y = x * 1.0
    for _ in range(3):
        y = y * x + 1.0
    np.testing.assert_allclose(loaded(made).powers(x, 3), y)


PATHS = """
def one(x, n):
    c = 0.5
    if n > 3:
        c = x * 2
        return c
    return x + c

def two(x, n):
    c = x
    if c > 3:
        c += n
        return c
    c = x * 2
    while c < 1:
        c += 1
    return c

def three(n):
    if n < 1:
        return 0
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
"""


def test_what_one_path_assigns_is_not_seen_on_another(tmp_path: Path) -> None:
    """The loop of `three` would not end where its path is not taken."""
    made = convert(tmp_path, PATHS, signature=None)
    assert [f.status for f in made.functions] == ["converted"] * 3
    module, original = loaded(made), originals(PATHS)
    x, n = np.linspace(-2, 5, 15), np.arange(15.0) / 2
    np.testing.assert_allclose(module.one(x, n), elements(original["one"], x, n))
    np.testing.assert_allclose(module.two(x, n), elements(original["two"], x, n))
    whole = np.arange(-2, 30)
    floats = whole.astype(float)
    given = whole if "int64(int64)" in (made.text or "") else floats
    np.testing.assert_array_equal(module.three(given), elements(original["three"], whole))


def test_the_analyzer_says_what_convert_does(tmp_path: Path) -> None:
    source = tmp_path / "signal.py"
    source.write_text(SOURCE)
    names = ("zero_suppress", "escape_count", "plus", "soft", "cartesian")
    asked = [part for name in names for part in ("-f", name)]
    done = porter(tmp_path, "analyze", str(source), "--output-format", "json", *asked)
    found = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
    for name in ("zero_suppress", "escape_count"):
        assert "--target ufunc" in found[name]["because"], name
    assert [found[n]["verdict"] for n in ("soft", "cartesian")] == ["convertible"] * 2


@pytest.mark.parametrize("check", ["if a * b > 0:\n        raise ValueError('signs')",
                                   "assert abs(a) < 1",
                                   "for k in range(3):\n        assert a < k"])  # fmt: skip
def test_a_check_of_each_element_is_refused(tmp_path: Path, check: str) -> None:
    source = tmp_path / "f.py"
    head = "from numba import njit\n\n\n@njit\n"
    source.write_text(f"{head}def f(a, b):\n    {check}\n    return a + b * 2.0\n")
    done = porter(tmp_path, "convert", str(source), "--target", "ufunc", "--no-verify")
    assert done.returncode == 1
    assert "PRT902" in done.stdout and "called for each element" in done.stdout
    done = porter(tmp_path, "analyze", str(source), "--all")
    assert done.returncode == 0 and "PRT917" not in done.stdout + done.stderr


def test_examples_that_are_elementwise_convert() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stem in ("black_scholes", "gaussian", "hidden_layer", "threshold"):
            file = EXAMPLES / f"{stem}.py"
            options = ConvertOptions((str(file),), target="ufunc", verify=False)
            place = file.with_name(f"{stem}_ufunc.py")
            made = convert_file(
                SourceFile(str(file), file.read_text()), options, Config(), place, lambda _: None
            )
            assert [f.status for f in made.functions if f.status != "converted"] == []
