"""Functions of the corpus as ufuncs and gufuncs of the CPU, called as NumPy's functions are called.

Each is called with the shapes that broadcast and those that do not, with arrays of each dtype,
mixtures of them, and numbers.  What the original raises the module raises; what it returns the
module returns, or refuses with a cure.  Dtypes of the signature list are not refused.
"""

from __future__ import annotations

import inspect
import itertools
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.codegen.module.header import Header, parse
from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from tests.support.modules import loaded
from tests.support.paths import ROOT

PROGRAMS = ROOT / "tests" / "corpus" / "programs"
QUICK = "axpy polar damped haversine huber clamp"
FUNCTIONS = {
    "elementwise": "sigmoid softplus polynomial leaky_relu gelu lennard_jones rounding clip_method "
    "smoothstep wrap_angle reciprocal_sum finite_or_zero sinc_like negative_and_positive "
    "cube_roots image_gain volume_decay",
    "integers": "add_wrapping floor_divide remainder true_divide shift_left bit_tricks parity "
    "bool_or int_times_float abs_difference power_int int_sqrt divmod_parts",
    "masks": "zero_below replace_nan_copy square_positive band outside not_positive "
    "logical_functions select_nested piecewise_masks indicator mask_as_int xor_masks range_mask",
    "complex_numbers": "magnitude_squared phase_shift absolute overflowing "
    "quadratic_map real_part angle power_spectrum moebius",
}
#: functions of rows, for gufuncs alone
ROWS = {
    "kindred": "normalize_by_max normalize_rows_return linf_norms softmin softmax_rows_loops "
    "column_moments norms_loop mask_rows",
    "integers": "int_sum_rows max_of_ints",
    "user_loops": "row_sum_loops row_max_loops prefix_within_rows",
}
SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((),), ((1,),), ((4,),), ((0,),), ((2, 3),), ((2, 1),), ((2, 1, 3),), ((0, 3),),
    ((3,), ()), ((), (3,)), ((1,), (3,)), ((2, 1), (1, 3)), ((2, 3, 1), (4,)), ((0,), (1,)),
    ((3,), (4,)), ((2, 3), (3,)), ((2, 3), (2,)), ((1, 1, 1), ()), ((2, 0), (2, 1)),
]  # fmt: skip
TABLES: list[tuple[tuple[int, ...], ...]] = [
    ((2, 3),), ((1, 4),), ((3, 1),), ((0, 3),), ((2, 3, 4),), ((4,),), ((1, 2, 2, 3),), ((),),
]  # fmt: skip
ALIKE = ("f4", "f8", "i8", "i4", "i2", "u1", "?", "c16", "c8", "f2")
MIXED = ("f4 f8", "i8 f8", "i4 f4", "f8 i1", "u8 i8", "f8 pf", "f4 pf", "f4 pi", "pf f4", "i8 pf",
         "i8 pi", "pi i4", "f4 n8", "n8 f4")  # fmt: skip
CURE = re.compile(r"porter convert|pass |one dtype|call the original|made for a scalar")


def value(k: int, shape: tuple[int, ...], kind: str) -> Any:
    """An argument: Python's number, NumPy's, or an array."""
    if kind in ("pf", "pi", "n8"):
        return {"pf": 1.5, "pi": 2, "n8": np.float64(1.5)}[kind]
    rng, dtype = np.random.default_rng(k), np.dtype(kind)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(1, 7, shape), dtype)
    numbers = rng.uniform(0.1, 2, shape)
    numbers = numbers + 1j * rng.uniform(-1, 1, shape) if dtype.kind == "c" else numbers
    return np.asarray(numbers, dtype)


def outcome(function: Any, args: list[Any]) -> Any:
    """The results and the arguments after them, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*args)
    except Exception as error:
        return error
    results = [*found] if isinstance(found, (tuple, list)) else [found]
    return [*results, *(a for a in args if isinstance(a, np.ndarray))]


def difference(expected: Any, found: Any, single: bool, of_numbers: bool) -> str:
    """How two results differ; functions of numbers give numbers for arrays of no dimensions."""
    if expected is None or found is None:
        return "" if expected is found else "None"
    own = isinstance(expected, np.ndarray), isinstance(found, np.ndarray)
    if own[0] != own[1] and not of_numbers:
        return f"{type(expected)} and {type(found)}"
    a, b = np.asarray(expected), np.asarray(found)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
    if a.dtype.kind not in "fc":
        return "" if np.array_equal(a, b) else f"{a} and {b}"
    near = 2e-5 if single or a.dtype.itemsize <= 4 else 1e-11
    return "" if np.allclose(a, b, rtol=near, atol=near, equal_nan=True) else f"{a} and {b}"


def listed(header: Header, name: str) -> set[str]:
    """The dtypes that every argument of a function may have, by its header."""
    record = header.function(name)
    assert record is not None
    lines = [words for words in record.accepts if not words.startswith("out:")]
    every = [set(re.findall(r"\b(?:u?int|float|complex)\d+\b|\bbool\b", w.partition(";")[0]))
             for w in lines]  # fmt: skip
    return set.intersection(*every)


def compared(original: Any, made: Any, header: Header, tables: bool) -> Counter[str]:
    """How often the module returns the same, refuses, and raises with the original."""
    name, count = made.__name__, original.__code__.co_argcount
    known, record = listed(header, name), header.function(name)
    found: Counter[str] = Counter()
    calls = itertools.product(TABLES if tables else SHAPES, (*ALIKE, *MIXED))
    for shapes, kinds in calls:
        given = kinds.split()
        if count == 1 and max(len(given), len(shapes)) > 1:
            continue
        args, again = (
            [value(k, shapes[k % len(shapes)], given[k % len(given)]) for k in range(count)]
            for _ in range(2)
        )
        expected, got = outcome(original, args), outcome(made, again)
        call = (name, shapes, kinds, expected, got)
        if isinstance(expected, Exception):
            assert isinstance(got, (TypeError, ValueError, type(expected))), call
            found["raised"] += 1
        elif isinstance(got, Exception):
            assert isinstance(got, (TypeError, ValueError)) and CURE.search(str(got)), call
            alike = len(given) == 1 and np.dtype(given[0]).name in known
            dimensions = re.search(r"scalar|dimensions", str(got))
            assert not alike or dimensions or tables, call
            found["refused"] += 1
        else:
            single, numbers = "4" in kinds, record is not None and bool(record.elements)
            assert len(expected) == len(got), call
            for a, b in zip(expected, got, strict=True):
                assert not difference(a, b, single, numbers), (difference(a, b, single, numbers),
                                                               *call)  # fmt: skip
            found["equal"] += 1
    return found


def check(folder: Path, program: str, names: tuple[str, ...], target: str, tables: bool) -> None:
    """Convert functions of a program, and compare all calls."""
    file, place = PROGRAMS / f"{program}.py", folder / f"{program}_{target}.py"
    options = ConvertOptions(
        (str(file),), functions=names, target=target, ufunc_target="cpu", verify=False
    )
    made = convert_file(SourceFile(str(file), file.read_text()), options, Config(), place,
                        lambda _: None)  # fmt: skip
    assert {f.name: f.status for f in made.functions} == dict.fromkeys(names, "converted")
    place.write_text(made.text or "")
    header = parse(made.text or "")
    assert header is not None
    module, source = loaded(place), loaded(file)
    for name in names:
        found = compared(inspect.unwrap(getattr(source, name)), getattr(module, name), header,
                         tables)  # fmt: skip
        assert found["equal"] >= (2 if tables else 8), (name, found)
        print(program, target, name, dict(found))


def test_there_are_forty() -> None:
    assert sum(len(names.split()) for names in (QUICK, *FUNCTIONS.values())) >= 40


@pytest.mark.parametrize("target", ["ufunc", "gufunc"])
def test_a_few_are_called_as_numpys(tmp_path: Path, target: str) -> None:
    check(tmp_path, "elementwise", tuple(QUICK.split()), target, tables=False)


@pytest.mark.long
@pytest.mark.parametrize("target", ["ufunc", "gufunc"])
@pytest.mark.parametrize("program", FUNCTIONS)
def test_they_are_called_as_numpys(tmp_path: Path, program: str, target: str) -> None:
    check(tmp_path, program, tuple(FUNCTIONS[program].split()), target, tables=False)


@pytest.mark.long
@pytest.mark.parametrize("program", ROWS)
def test_rows_are_called_as_numpys(tmp_path: Path, program: str) -> None:
    check(tmp_path, program, tuple(ROWS[program].split()), "gufunc", tables=True)
