"""`cuda.reduce` and `functools.reduce`: what folds an array with a function of two."""

from __future__ import annotations

import importlib.util
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.oracle.numba_objects import Fold

SOURCE = """
import functools
import operator
from functools import reduce

import numpy as np
from numba import cuda

total = cuda.reduce(lambda a, b: a + b)


@cuda.reduce
def largest(a, b):
    return max(a, b)


def normal(x):
    return x / total(x * x)


def highest(x):
    return largest(x, init=-1.0)


def product(x):
    return functools.reduce(operator.mul, x)


def first_less_rest(x):
    return reduce(lambda a, b: a - b, x, 1.0)


def either(a: np.ndarray, b: np.ndarray, c: np.ndarray):
    return reduce(np.maximum, [a, b, c])
"""
WRONG = """
from numba import cuda

difference = cuda.reduce(lambda a, b: a - b)


@cuda.reduce
def middle(a, b):
    return (a + b) / 2


def between(a, b):
    return (a + b) / 2


def f(x):
    return difference(x)


def g(x):
    return cuda.reduce(between)(x)
"""


def convert(folder: Path, text: str, target: str = "loops", **options: Any) -> ModuleOutcome:
    """What becomes of a file; its module is written beside it."""
    source = folder / "source.py"
    source.write_text(text)
    place = folder / f"source_{target}.py"
    given = ConvertOptions((str(source),), target=target, **options)
    made = convert_file(SourceFile(str(source), text), given, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return made.delivered(str(place), stale=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ModuleOutcome:
    return convert(tmp_path_factory.mktemp("reduce"), SOURCE, verify=False)


@pytest.fixture(scope="module")
def module(made: ModuleOutcome) -> Any:
    spec = importlib.util.spec_from_file_location("source_loops", made.output)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("verified", [False, pytest.param(True, marks=pytest.mark.long)])
def test_everything_converts(made: ModuleOutcome, tmp_path: Path, verified: bool) -> None:
    made = convert(tmp_path, SOURCE) if verified else made
    names = ["largest", "normal", "highest", "product", "first_less_rest", "either"]
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(names, "converted")
    if verified:
        assert all(f.evidence for f in made.functions)
        assert all(e.status == "passed" for f in made.functions for e in f.evidence)


def test_what_is_computed(module: Any) -> None:
    rng = np.random.default_rng(4)
    for dtype in (np.float64, np.float32):
        x = rng.normal(size=57).astype(dtype)
        close = 1e-5 if dtype is np.float32 else 1e-12
        np.testing.assert_allclose(module.normal(x), x / np.sum(x * x), rtol=close)
        assert module.normal(x).dtype == dtype
    x64 = rng.normal(size=9)
    assert module.largest(x64) == max(0.0, x64.max())
    assert module.largest(x64 - 9.0, -20.0) == (x64 - 9.0).max()
    assert module.largest(x64[:0]) == 0.0
    assert module.highest(x64[::-2]) == max(-1.0, x64[::-2].max())
    np.testing.assert_allclose(module.product(x64), reduce(lambda a, b: a * b, x64))
    np.testing.assert_allclose(module.first_less_rest(x64), 1.0 - x64.sum())
    np.testing.assert_array_equal(module.either(x64, -x64, x64 * 2), np.maximum(-x64, x64 * 2))


def test_of_no_elements_python_raises(module: Any) -> None:
    with pytest.raises(TypeError, match="empty iterable with no initial value"):
        module.product(np.zeros(0))
    assert module.first_less_rest(np.zeros(0)) == 1.0


def test_kernels_of_it_are_verified(tmp_path: Path) -> None:
    text = SOURCE[: SOURCE.index("def highest")]
    made = convert(tmp_path, text, "cuda")
    assert [f.status for f in made.functions] == ["converted", "converted"]
    for function in made.functions:
        assert all(e.status in ("passed", "skipped") for e in function.evidence), function


@pytest.mark.parametrize("name", ["middle", "f", "g"])
def test_a_function_that_is_not_associative_is_found(tmp_path: Path, name: str) -> None:
    made = convert(tmp_path, WRONG, functions=(name,))
    (found,) = made.diagnostics
    assert found.code == "PRT408"
    assert " is " in found.message and " or " in found.message
    assert {"middle": "`middle`", "f": "the function", "g": "`between`"}[name] in found.message


def test_the_original_folds_as_numba_does() -> None:
    fold = Fold(lambda a, b: a * b)
    x = np.array([1, 2, 3], np.int8)
    assert fold(x) == 0
    assert fold(x, init=2).dtype == np.int8
    assert fold(x, 2, init=1) == 2
    place = np.zeros(1)
    assert fold(np.ones(3), res=place, init=5) is None
    assert place[0] == 5
    with pytest.raises(TypeError, match="1D"):
        fold(np.ones((2, 2)))
