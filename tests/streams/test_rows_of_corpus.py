"""What is said to be row by row is so in NumPy, for every function of the corpus."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.schedule.chunked.rows import Rows, rows_of
from porter.source.module import SourceModule
from porter.support.reserved import given
from tests.corpus.inputs import CASES
from tests.corpus.sources import original, source_of

KEYS = [k for k, case in CASES.items() if not (case.refused or case.serial)]


@cache
def module_of(path: Path) -> SourceModule:
    """A file of the corpus."""
    return SourceModule(path.read_text(), str(path))


def chunked(key: str) -> Rows | str:
    """What is said of a function of the corpus."""
    module = module_of(source_of(key))
    function = next(f for f in module.functions if f.name == key.partition(":")[2])
    try:
        return rows_of(convert_function(function, CASES[key].signature, siblings=False).plan)
    except Refusal as refusal:
        return str(refusal)


def parts(function: Callable[..., Any], places: list[int], values: tuple[Any, ...]) -> Any:
    """The results for chunks of two rows each, joined."""
    count = len(values[places[0]])
    found: list[Any] = []
    for start in range(0, count, 2):
        chunk = [v[start : start + 2] if k in places else v for k, v in enumerate(values)]
        found.append(function(*copy.deepcopy(chunk)))
    if isinstance(found[0], (tuple, list)):
        return [np.concatenate(each) for each in zip(*found, strict=True)]
    return np.concatenate(found)


def differences(key: str, rows: Rows) -> Iterator[str]:
    """Where the results for chunks are others than those for all rows."""
    function = original(key)
    names = list(inspect.signature(function).parameters)
    places = [names.index(given(n)) for n in rows.arrays]
    for size in (3, 7):
        values = CASES[key].make(np.random.default_rng(size), size)
        if len({np.shape(values[k])[:1] for k in places}) != 1 or not np.size(values[places[0]]):
            continue  # broadcast, or too few rows
        whole = function(*copy.deepcopy(values))
        found = parts(function, places, values)
        pairs = zip(whole, found, strict=True) if isinstance(found, list) else [(whole, found)]
        for one, two in pairs:
            if not np.allclose(one, two, rtol=1e-9, atol=1e-12, equal_nan=True):
                yield f"{key} of {size} rows"


def check(keys: Sequence[str], least: int) -> None:
    """No chunk of a function has other results, and so many functions have chunks."""
    rows = {k: r for k in keys if isinstance(r := chunked(k), Rows)}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [d for k, r in rows.items() for d in differences(k, r)]
    assert wrong == []
    assert len(rows) >= least


@pytest.mark.slow
def test_chunks_of_rows_are_the_rows() -> None:
    check(KEYS[::15], 20)


@pytest.mark.long
def test_chunks_of_rows_are_the_rows_in_the_whole_corpus() -> None:
    check(KEYS, 440)
