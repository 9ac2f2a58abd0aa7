"""Stores through arrays of positions, some of them negative, into views that run backwards."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.ir.interp import run
from porter.source.module import SourceModule
from tests.corpus.check import compare
from tests.support.interpreted import versions

STORES = {
    "rows": "t = a[::-1]\n    t[idx] = v",
    "columns": "a[:, ::-1][:, idx] = v[:2, None]",
    "both": "t = a[::-1, ::-1]\n    t[idx, idx] = v[:3]",
    "behind others": "t = a[1:][::-1]\n    t[idx] = v",
    "as they are": "a[idx] = v",
}


@pytest.mark.parametrize("store", STORES)
def test_every_pass_keeps_the_last_one(store: str) -> None:
    source = f"def f(a, idx, v):\n    {STORES[store]}\n    return a\n"
    function = SourceModule(source, "f.py").functions[0]
    program = convert_function(function, "float64[:, :], int64[:], float64[:]").program
    scope: dict[str, object] = {}
    exec(source, scope)
    rng = np.random.default_rng(0)
    rows = 2 if store == "columns" else 4
    for idx in ([1, -4, 1], [3, 2, -1], [-1, 3, -1], [0, 0, 0]):
        arguments = (
            rng.random((rows, 4)),
            np.array(idx) % 3 if "1:" in STORES[store] else np.array(idx),
            rng.random(4),
        )
        for name, body, buffers in versions(program):
            changed = replace(program, body=body, buffers=buffers)
            made = partial(run, changed)
            found = compare(scope["f"], lambda *a, made=made: made(a), arguments)  # type: ignore[arg-type,misc]
            assert found == "", name
