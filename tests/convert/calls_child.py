"""Calls of a converted function beside its original, where Numba's simulator is switched on.

    python -m tests.convert.calls_child shapes|values BODY      (f(x, y), float64[:] and float64[:])

Prints what differs in each call as JSON: the arguments as text, and what was found.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.support.answers import answer

SHAPES = [(5,), (1,), (), (2, 5), (2, 1), (1, 5), (3, 2, 5), (0,)]
#: arrays, NumPy's numbers and Python's
VALUES = [
    *(np.arange(1, 6).astype(d) for d in ("f8", "f4", "i8", "i1", "?")),
    *(np.asarray(2).astype(d) for d in ("f8", "f4", "i8")),
    *(np.dtype(d).type(3) for d in ("f8", "f4", "i8", "i1")),
    np.arange(4.0).reshape(4, 1), np.ones(1), np.zeros(0), 2, 2.5, True, 0.0,
]  # fmt: skip


def differences(kind: str, body: str) -> list[tuple[str, str]]:
    """The arguments of each call of `f(x, y)` with this body, and how the results differ."""
    found: list[tuple[str, str]] = answer(
        "tests.convert.calls_child", kind, body, NUMBA_ENABLE_CUDASIM="1"
    )
    return found


def calls(kind: str) -> Iterator[tuple[Any, Any]]:
    """The pairs of arguments."""
    if kind == "values":
        yield from itertools.product(VALUES, repeat=2)
        return
    random = np.random.default_rng(0)
    for shapes in itertools.product(SHAPES, repeat=2):
        x, y = (np.asarray(random.normal(size=s)) for s in shapes)
        yield x, y


def main() -> None:
    """Compare, and print."""
    from tests.convert.test_promotion import XY, converted
    from tests.corpus.check import compare
    from tests.corpus.simulator import install
    from tests.end_to_end.ranks import loaded

    kind, body = sys.argv[1:]
    install()
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x, y):\n    {body}\n", scope)
    function = loaded(converted(body, XY))
    found = [(repr(a), compare(scope["f"], function, a)) for a in calls(kind)]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
