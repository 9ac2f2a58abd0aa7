"""Calls of a converted function with arguments of all dtypes, beside its original.

    python -m tests.convert.dtypes_child SIGNATURE SOURCE      (a function `f`)

Prints as JSON how many calls are equal, how many are refused where NumPy takes them, and what
differs.  Numba's simulator must be switched on.
"""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import numpy as np

from tests.support.answers import answer

#: two of the values wrap around in `int8` and `int32` if they are multiplied
DTYPES = ("f8", "f4", "i8", "i4", "i1", "u1", "?")
NUMBERS = (2.5, 3, True, np.float64(1.5), np.int8(3), np.int64(3))
#: for an argument that is a number
ALONE = (*NUMBERS, np.float32(1.5), np.asarray(1.5, np.float32))
Found = tuple[int, int, list[str]]


def outcomes(signature: str, source: str) -> Found:
    """What was found, in a process of its own."""
    equal, refused, wrong = answer(
        "tests.convert.dtypes_child", signature, source, NUMBA_ENABLE_CUDASIM="1"
    )
    return equal, refused, wrong


def _array(dtype: str, other: int) -> Any:
    large = {"i1": 100, "u1": 200, "i4": 2**30, "?": 1}.get(dtype, 7)
    return np.array([2 + other, large, -1 if dtype != "u1" else 4]).astype(dtype)


def main() -> None:
    """Compare, and print."""
    from tests.corpus.check import compare
    from tests.corpus.simulator import install
    from tests.end_to_end.ranks import converted, loaded

    install()
    signature, source = sys.argv[1:]
    source = f"import numpy as np\n\n\n{source}"
    made = loaded(converted(source, "f", signature))
    scope: dict[str, Any] = {}
    exec(source, scope)
    values = [
        [*(_array(d, k) for d in DTYPES), *NUMBERS] if "[:]" in t else ALONE
        for k, t in enumerate(signature.split(", "))
    ]
    equal, refused, wrong = 0, 0, []
    for call in itertools.product(*values):
        if not any(np.ndim(a) for a in call):
            continue
        with np.errstate(all="ignore"):
            found = compare(scope["f"], made, call)
        if found.startswith(("raises TypeError", "raises ValueError")):
            refused += 1
        elif found and not found.startswith("no exception"):
            wrong.append(f"{call}: {found}")
        else:
            equal += not found
    print(json.dumps([equal, refused, wrong]))


if __name__ == "__main__":
    main()
