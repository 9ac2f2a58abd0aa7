"""Casting and `out=` of ufunc modules, beside the ufuncs that Numba makes of the same source."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from tests.support.modules import loaded

UFUNCS = """
from numba import float32, float64, int64, vectorize


@vectorize(["int16(int16, int16)", "float32(float32, float32)", "float64(float64, float64)"])
def plus(a, b):
    return a + b


@vectorize([float64(float64, float64), float32(float32, float32)])
def wide_first(a, b):
    if a > b:
        return a
    return b * 2


@vectorize([int64(int64, int64)])
def whole(a, b):
    return a - 3 * b


@vectorize(["boolean(float64, float64)"])
def before(a, b):
    return a < b
"""
GUFUNCS = """
from numba import guvectorize


@guvectorize(
    ["(float32[:], float32, float32[:])", "(float64[:], float64, float64[:])"], "(n),()->(n)"
)
def scaled(x, k, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * k


@guvectorize(
    ["(float64[:], float64, float64[:])", "(float32[:], float32, float32[:])"], "(n),()->()"
)
def wide_total(x, start, out):
    acc = start
    for i in range(x.shape[0]):
        acc += x[i]
    out[0] = acc


@guvectorize(["(int64[:], int64, int64[:])"], "(n),()->(n)")
def whole_shift(x, k, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + k


@guvectorize(["void(float64[:], float64, float64[:], int64[:])"], "(n),()->(n),()")
def above(x, least, kept, count):
    count[0] = 0
    for i in range(x.shape[0]):
        kept[i] = 0
        if x[i] > least:
            kept[i] = x[i]
            count[0] += 1
"""
DTYPES = ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u8", "?", "c8", ">f8")
OTHERS: list[Any] = [
    3, 70_000, 2**40, 1.5, True, 1j, np.float64(1.5), np.float32(1.5), np.int64(3), np.array(2.5),
    [1, 2], [1.5, 2.5], None, "a",
]  # fmt: skip


def made(folder: Path, text: str, target: str) -> tuple[Any, Any, ModuleOutcome]:
    """The source with Numba's ufuncs, the module beside it, and what became of the functions."""
    source, place = folder / "source.py", folder / f"source_{target}.py"
    source.write_text(text)
    options = ConvertOptions((str(source),), target=target, ufunc_target="cpu", verify=True)
    found = convert_file(SourceFile(str(source), text), options, Config(), place, lambda _: None)
    place.write_text(found.text or "")
    return loaded(source), loaded(place), found


@pytest.fixture(scope="module")
def ufuncs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, ModuleOutcome]:
    return made(tmp_path_factory.mktemp("ufuncs"), UFUNCS, "ufunc")


@pytest.fixture(scope="module")
def gufuncs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, ModuleOutcome]:
    return made(tmp_path_factory.mktemp("gufuncs"), GUFUNCS, "gufunc")


def outcome(function: Any, *args: Any, **options: Any) -> list[Any]:
    """Dtypes, shapes and values, and whether an array of `out=` is what is returned."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = function(*args, **options)
    except (TypeError, ValueError, OverflowError) as error:
        known = (TypeError, ValueError, OverflowError)
        return [next(k for k in known if isinstance(error, k))]
    out = options.get("out")
    places = out if isinstance(out, tuple) else (out,)
    found: list[Any] = []
    for k, r in enumerate(results if isinstance(results, tuple) else (results,)):
        found += [type(r), r.dtype, r.shape, np.asarray(r).tolist(), out is not None
                  and r is places[k]]  # fmt: skip
    return found


def values(first: bool) -> list[Any]:
    """Arguments of each dtype, and numbers, lists and what is no number."""
    arrays = [np.array([3, 1], d) for d in DTYPES]
    return arrays if first else [*arrays, *OTHERS]


def test_all_are_verified(ufuncs: Any, gufuncs: Any) -> None:
    for _, _, outcomes in (ufuncs, gufuncs):
        assert {f.status for f in outcomes.functions} == {"converted"}
        assert all(e.status == "passed" for f in outcomes.functions for e in f.evidence)


@pytest.mark.parametrize("name", ["plus", "wide_first", "whole", "before"])
def test_a_ufunc_casts_as_numbas_own(ufuncs: Any, name: str) -> None:
    source, module, _ = ufuncs
    own, ours = getattr(source, name), getattr(module, name)
    for a, b in itertools.product(values(False), repeat=2):
        expected, found = outcome(own, a, b), outcome(ours, a, b)
        if isinstance(a, complex) and isinstance(b, complex):
            continue
        assert repr(found) == repr(expected), (name, a, b)


@pytest.mark.parametrize("name", ["scaled", "wide_total", "whole_shift", "above"])
def test_a_gufunc_casts_as_numbas_own(gufuncs: Any, name: str) -> None:
    source, module, _ = gufuncs
    own, ours = getattr(source, name), getattr(module, name)
    for a, b in itertools.product(values(True), values(False)):
        expected, found = outcome(own, a, b), outcome(ours, a, b)
        assert repr(found) == repr(expected), (name, a, b)


def places(shape: tuple[int, ...]) -> list[Any]:
    """What may be given for `out=`, good or bad, of a result of a shape."""
    frozen = np.empty(shape)
    frozen.flags.writeable = False
    return [
        *(np.empty(shape, d) for d in ("f8", "f4", "i8", "c16", ">f8")), np.empty((2, *shape)),
        np.empty((2, 1, *shape)), np.empty((*shape, 1)), np.empty(shape[1:]), np.empty(()),
        np.empty((*shape[:-1], 7)), frozen, [1.0], (np.empty(shape),), (None,),
        (np.empty(shape),) * 2, (), None,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 3), (1,), (2, 0)], ids=str)
@pytest.mark.parametrize("name", ["plus", "wide_first", "whole"])
def test_a_ufunc_stores_as_numbas_own(ufuncs: Any, name: str, shape: tuple[int, ...]) -> None:
    source, module, _ = ufuncs
    x = np.arange(float(np.prod(shape))).reshape(shape)
    x = x.astype(np.int64) if name == "whole" else x
    for one, other in zip(places(shape), places(shape), strict=True):
        expected = outcome(getattr(source, name), x, x[-1:], out=one)
        found = outcome(getattr(module, name), x, x[-1:], out=other)
        assert repr(found) == repr(expected), (name, shape, one)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 3), (2, 0)], ids=str)
@pytest.mark.parametrize("name", ["scaled", "wide_total"])
def test_a_gufunc_stores_as_numbas_own(gufuncs: Any, name: str, shape: tuple[int, ...]) -> None:
    source, module, _ = gufuncs
    x = np.arange(float(np.prod(shape))).reshape(shape)
    result = shape if name == "scaled" else shape[:-1]
    for one, other in zip(places(result), places(result), strict=True):
        expected = outcome(getattr(source, name), x, 2.0, out=one)
        found = outcome(getattr(module, name), x, 2.0, out=other)
        assert repr(found) == repr(expected), (name, shape, one)


def test_results_may_be_stored_into_what_they_are_made_of(ufuncs: Any, gufuncs: Any) -> None:
    x = np.arange(6.0)
    assert ufuncs[1].plus(x[:-1], x[1:], out=x[1:]) is not None
    np.testing.assert_array_equal(x, [0, 1, 3, 5, 7, 9])
    gufuncs[1].scaled(x[::-1], 2.0, out=x)
    np.testing.assert_array_equal(x, [18, 14, 10, 6, 2, 0])


def test_an_array_with_gaps_is_stored_into(ufuncs: Any) -> None:
    """Numba's own ufunc leaves elements out where another argument broadcasts."""
    x, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 3, 2))
    assert ufuncs[1].plus(x, x[-1:], out=out[..., 0]).base is out
    np.testing.assert_array_equal(out[..., 0], x + x[-1:])
    assert not out[..., 1].any()
    np.testing.assert_array_equal(ufuncs[1].plus(x, x[-1:], out=np.zeros((3, 2)).T), x + x[-1:])


def test_several_results_have_a_tuple(gufuncs: Any) -> None:
    source, module, _ = gufuncs
    x = np.array([[1.0, 4.0], [5.0, 2.0]])
    for out in ((np.empty((2, 2)), None), (None, np.empty(2, np.int64)), (None, None),
                (np.empty((2, 2)), np.empty(2, np.int32)), (None, np.empty(2, np.uint8)),
                np.empty((2, 2)), (np.empty((2, 2)),)):  # fmt: skip
        again = tuple(None if o is None else o.copy() for o in out) if type(out) is tuple else out
        expected = outcome(source.above, x, 1.5, out=out)
        assert repr(outcome(module.above, x, 1.5, out=again)) == repr(expected), out


OWN = """
import numpy as np

def total(x, out):
    return x + out

def scaled(x):
    y = x * 2.0
    return y

def in_place(x):
    x[:] = x * 2.0

def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
"""


def test_other_functions_take_it_where_it_can_mean_only_one_thing(tmp_path: Path) -> None:
    _, module, found = made(tmp_path, OWN, "gufunc")
    assert {f.status for f in found.functions} == {"converted"}
    x, single = np.ones((2, 3)), np.empty((2, 3), np.float32)
    np.testing.assert_array_equal(module.total(x, x), 2 * x)
    assert module.scaled(x, out=single) is single
    assert single.max() == 2.0
    assert module.softmax(x, out=single) is single
    np.testing.assert_allclose(single, 1 / 3, rtol=1e-6)
    with pytest.raises(ValueError, match="shape"):
        module.softmax(x, out=np.empty((5, 2, 3)))
    with pytest.raises(TypeError, match="unexpected keyword"):
        module.in_place(x, out=single)
