"""What the host function says of its arguments before anything runs; no GPU is needed for that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from porter.codegen.module.module import linked_module
from porter.convert.function import convert_function
from porter.source.module import SourceModule

SOURCE = """import numpy as np

def f(x, y, s=1.5, k=0):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0] - k):
        out[i] = np.sqrt(x[i] * x[i] + 1.0) * s + y[i]
    return out
"""


@pytest.fixture(scope="module")
def helpers() -> SimpleNamespace:
    (function,) = SourceModule(SOURCE, "f.py").functions
    converted = convert_function(function, "float64[:], float64[:], float64, int64")
    names: dict[str, Any] = {"__name__": "f_cuda"}
    exec(linked_module(converted.texts, "f.py").text, names)
    # the helpers are called alone here: no call of the function is told apart
    names["_command"] = lambda: "run `porter convert`"
    return SimpleNamespace(**names)


class Series:
    """A wrapper as pandas has it."""

    __array_priority__ = 1000
    dtype, shape = np.dtype("float64"), (3,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(3)

    def to_numpy(self) -> Any:
        return np.ones(3)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Series(), "x is a test_host_checks Series: pass x.to_numpy()"),
        (np.ma.masked_array([1.0], [True]), "x is a numpy MaskedArray: pass np.asarray(x)"),
        (np.ones((1, 1)).view(np.matrix), "x is a numpy matrix: pass np.asarray(x)"),
        (np.ones(3, np.float16), "x has dtype float16, but the kernels take float32 float64"),
        (np.ones(3, complex), "x has dtype complex128, but the kernels take float32 float64"),
        (None, "x must be an array, not NoneType"),
    ],
)  # fmt: skip
def test_what_is_no_array_is_named(helpers: Any, value: Any, said: str) -> None:
    module = Series.__module__.partition(".")[0]
    with pytest.raises(TypeError) as found:
        helpers._array(value, "x", None, "float32 float64", "together")
    assert str(found.value).startswith(said.replace("test_host_checks", module))


@pytest.mark.parametrize("value", [[1, 2], (1.5, 2.5), [[1.0], [2.0]], np.float64(2), 3, True])
def test_what_numpy_makes_an_array_of(helpers: Any, value: Any) -> None:
    found = helpers._array(value, "x", None, "float32 float64", "integers")
    assert found.dtype == np.float64 and (found == np.asarray(value)).all()


def test_other_arrays(helpers: Any) -> None:
    swapped = np.ones(3, ">f8")
    found = helpers._array(swapped, "x", 1, "float32 float64")
    assert found.dtype.isnative and found.dtype == np.float64
    own = np.ones(3, np.float32)
    assert helpers._array(own, "x", 1, "float32 float64", "integers") is own


@pytest.mark.parametrize(
    ("rule", "dtype", "most", "accepted"),
    [
        ("integers", "bool", 1, True),
        ("integers", "uint64", 2**64 - 1, True),
        ("wide", "int32", -(2**31), True),
        ("wide", "int16", 5, False),
        ("exact(2, 2, 2)", "int32", 32767, True),
        ("exact(2, 2, 2)", "int32", -32768, False),
        ("exact(2, 2, 2)", "int64", 2**26, True),
        ("exact(2, 2, 2)", "int64", -(2**26) - 1, False),
        ("exact(2, 2, 2)", "uint32", 5, False),
        ("exact(1, 1, 1)", "int64", -(2**63), False),
    ],
)
def test_integers_that_are_the_same_in_float64(
    helpers: Any, rule: str, dtype: str, most: int, accepted: bool
) -> None:
    value = np.array([0, most], dtype)
    if accepted:
        found = helpers._array(value, "x", 1, "float32 float64", rule)
        assert found.dtype == np.float64 and (found == value.astype(np.float64)).all()
        return
    with pytest.raises(TypeError, match=r"^x .*: .*run `porter convert`"):
        helpers._array(value, "x", 1, "float32 float64", rule)


@pytest.mark.parametrize(
    ("rule", "dtypes", "accepted"),
    [
        ("", "float64 float64", "float64"),
        ("", "float32 float64", ""),
        ("mixed", "float32 float64", "float64"),
        ("integers", "int8 float64", "float64"),
        ("integers", "int8 bool", "float64"),
        ("integers", "int64 float32", ""),
        ("integers mixed", "int64 float32", "float64"),
        # NumPy computes in float32
        ("integers mixed", "int8 float32", ""),
        ("wide mixed", "int8 float64", ""),
        ("integers", "float32 float32", "float32"),
    ],
)  # fmt: skip
def test_arrays_that_meet(helpers: Any, rule: str, dtypes: str, accepted: str) -> None:
    arrays = [np.ones(3, d) for d in dtypes.split()]
    if accepted:
        assert [a.dtype for a in helpers._one_dtype("x y", *arrays, rule=rule)] == [accepted] * 2
        return
    with pytest.raises(TypeError, match=r"^x is "):
        helpers._one_dtype("x y", *arrays, rule=rule)


def test_numbers(helpers: Any) -> None:
    single, double, whole = (np.ones(3, d) for d in ("float32", "float64", "int64"))
    for value in (2, 2.5, True, np.float32(2), np.float64(2), np.array(2.0), np.int64(3)):
        assert helpers._number(value, "s", double) == value
        assert helpers._number(value, "s", whole) == value
    for value in (2, True, np.int64(2)):
        assert helpers._number(value, "s", double, floats=True) == value
        with pytest.raises(TypeError, match=r"s and an array are integers.*: pass float\(s\)"):
            helpers._number(value, "s", [1, 2], floats=True)
    with pytest.raises(TypeError, match="s is float32 and would promote the arrays"):
        helpers._number(np.float32(2), "s", np.ones(3, "int8"))
    assert type(helpers._number(np.array(2.0), "s")) is np.float64
    with pytest.raises(TypeError, match="s is float64 and would promote the arrays"):
        helpers._number(np.array(2.0), "s", single)
    with pytest.raises(TypeError, match="s is an array, but the kernels were made for a scalar"):
        helpers._number([1.0, 2.0], "s", single)
    with pytest.raises(TypeError, match="s must be a number, not str"):
        helpers._number("2", "s", single)


def test_whole_numbers(helpers: Any) -> None:
    for value, kind in (
        (2, int),
        (np.int64(2), np.int64),
        (np.uint8(2), int),
        (np.array(2), np.int64),
    ):
        found = helpers._integer(value, "k")
        assert found == 2 and type(found) is kind
    for value in (20.5, np.float64(2), "2", None):
        with pytest.raises(TypeError, match=r"^k is .*, but the kernels were made for an integer"):
            helpers._integer(value, "k")
    with pytest.raises(TypeError, match="k is an array, but the kernels were made for a scalar"):
        helpers._integer([1, 2], "k")


def test_a_size_is_tested_once_where_it_cannot_change() -> None:
    source = """import numpy as np

def f(x, y):
    while x[0] > 0.0:
        x[0] = x[0] - y[1]
        x[2:] = x[2:] * y[1]
        if x[0] < 1.0:
            x[:2] = x[:2] - y[1] + y[3]
    return x
"""
    (function,) = SourceModule(source, "f.py").functions
    host = convert_function(function, "float64[:], float64[:]").text.parts[-1]
    tests = [line.strip() for line in host.splitlines() if "y.shape[0] <" in line]
    assert sorted(tests) == ["if y.shape[0] < 2:", "if y.shape[0] < 4:"], host


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return (x[k:] - x[:-k]) / k", "lengths 3 and 0"),
        ("return x[1:] + x[k:]", "lengths 2 and 3"),
    ],
)
def test_lengths_of_slices_are_numbers(body: str, said: str) -> None:
    """A helper of the module computes where a slice ends: its name means nothing to a caller."""
    (function,) = SourceModule(f"def f(x, k):\n    {body}\n", "f.py").functions
    converted = convert_function(function, "float64[:], int64")
    names: dict[str, Any] = {"__name__": "f_cuda"}
    exec(linked_module(converted.texts, "f.py").text, names)
    with pytest.raises(ValueError, match=f"^operands could not be broadcast together: {said}$"):
        names["f"](np.ones(3), 0)


def test_float32_beside_doubles() -> None:
    """Python's numbers leave an array of float32 what it is."""
    names: dict[str, Any] = {"__name__": "f_cuda"}
    (function,) = SourceModule("import numpy as np\n\ndef f(x, y, a):\n    return x + 1j * y * a\n",
                               "f.py").functions  # fmt: skip
    converted = convert_function(function, "complex128[:], float64[:], float64")
    exec(linked_module(converted.texts, "f.py").text, names)
    single = np.ones(3, np.float32)
    doubled = names["_doubled"]
    assert doubled(single, [], [1.5, 2]) is single
    assert doubled(single, [], [np.float64(1.5), 2]).dtype == np.float64
    assert doubled(single, [np.ones(3)], [2]).dtype == np.float64
    assert doubled(single, [np.ones(3), single], []) is single


@pytest.mark.parametrize("dtype", [np.complex64, np.dtype("complex64"), np.float32])
def test_numpys_integers_beside_arrays(helpers: Any, dtype: Any) -> None:
    """The dtype of the arrays may be a type, as the only one that the kernels take."""
    assert helpers._integer(np.int16(3), "k", dtype) == 3
    with pytest.raises(TypeError, match="k is int64 and would promote the arrays"):
        helpers._integer(np.int64(3), "k", dtype)
