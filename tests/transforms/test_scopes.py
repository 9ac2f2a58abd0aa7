"""A bound that a kernel computes inside a loop is not used after it: the loop may not run."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from porter.convert.function import convert_function
from porter.resolve.globals import Globals
from porter.source.module import SourceModule

SOURCE = '''
import numpy as np


def cell_contrast(image, n):
    """The largest element of each cell and the sum of the others."""
    size = image.shape[0] // n
    cells = image[: n * size, : n * size].reshape(n, size, n, size)
    return cells.max(axis=(1, 3)) * cells.sum(axis=(1, 3))
'''
BOUND = re.compile(r"bound\d*")


def unknown(body: Sequence[ast.stmt], known: frozenset[str]) -> list[str]:
    """The bounds that are read where no statement in front of them has set them for certain."""
    missing: list[str] = []
    for s in body:
        inner = [getattr(s, part) for part in ("body", "orelse") if getattr(s, part, None)]
        own = [s] if not inner else [getattr(s, p) for p in ("iter", "test") if hasattr(s, p)]
        read = {x.id for o in own for x in ast.walk(o)
                if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}  # fmt: skip
        missing += [n for n in read if BOUND.fullmatch(n) and n not in known]
        for block in inner:
            missing += unknown(block, known)
        if isinstance(s, ast.Assign):
            known |= {t.id for t in s.targets if isinstance(t, ast.Name)}
    return missing


def test_bounds_of_one_fold_are_not_those_of_the_next() -> None:
    module = SourceModule(SOURCE, "cells.py")
    (function,) = module.functions
    found = convert_function(function, "float64[:, :], int64", Globals(module))
    kernels = [ast.parse(p) for p in found.text.parts]
    used = {n for k in kernels for n in re.findall(BOUND, ast.unparse(k))}
    assert len(used) > 1
    bodies = [d.body for k in kernels for d in k.body if isinstance(d, ast.FunctionDef)]
    assert [unknown(b, frozenset()) for b in bodies] == [[]] * len(bodies)
