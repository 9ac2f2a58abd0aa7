"""Calls of compiled loops with numbers beside arrays, and of their originals; run by a test.

    python -m tests.convert.numbers_child PARAMETERS BODIES   (a JSON list; all arrays of float64)

The loops run as Python runs them.  Prints how often the results of each body are equal, refused,
raised by both, and what differs, as JSON.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.answers import answer
from tests.support.modules import loaded

DTYPES = ("f8", "f4", "i4", "i8", "i1", "u1", "?")
NUMBERS = [0.1, 3, 300, -1, 127, 0, True, np.float64(0.1), np.int8(3), np.array(3)]
#: of what the third argument of three is
THIRD = [0.1, 3, 100, True, np.arange(5).astype("i1")]
Found = dict[str, tuple[dict[str, int], list[str]]]


def outcomes(parameters: str, bodies: list[str]) -> Found:
    """What was found for each body, in a process of its own."""
    found: Found = answer(
        "tests.convert.numbers_child", parameters, json.dumps(bodies), NUMBA_DISABLE_JIT="1"
    )
    return found


def modules(folder: Path, parameters: str, bodies: list[str]) -> tuple[Any, Any]:
    """The functions `f0`, `f1` and so on with these bodies, and the loops made of them."""
    from porter.config import Config
    from porter.convert.files import convert_file
    from porter.options import ConvertOptions
    from porter.source.files import SourceFile

    parts = [f"def f{k}({parameters}):\n    {body}\n" for k, body in enumerate(bodies)]
    source, place = folder / "numbers_beside.py", folder / "numbers_beside_loops.py"
    source.write_text("\n\n".join(["import numpy as np", *parts]))
    signature = ", ".join(["float64[:]"] * len(parameters.split()))
    options = ConvertOptions((str(source),), signature=signature, target="loops", verify=False)
    made = convert_file(SourceFile(str(source), source.read_text()), options, Config(), place,
                        lambda _: None)  # fmt: skip
    assert {f.status for f in made.functions} == {"converted"}, made.functions
    place.write_text(made.text or "")
    return loaded(source), loaded(place)


def outcome(function: Any, args: list[Any]) -> Any:
    """The results and the arguments after them, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*args)
    except Exception as error:
        return error
    results = [*found] if isinstance(found, tuple) else [found]
    return [*results, *(a for a in args if isinstance(a, np.ndarray))]


def difference(expected: Any, found: Any, near: float) -> str:
    """How two results differ, '' if they do not."""
    if type(expected) is not type(found):
        return f"{type(expected)} and {type(found)}"
    if expected is None:
        return ""
    a, b = np.asarray(expected), np.asarray(found)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
    same = np.allclose(a, b, near, 0, True) if a.dtype.kind == "f" else np.array_equal(a, b)
    return "" if same else f"{a} and {b}"


def calls(count: int) -> list[tuple[Any, ...]]:
    """The arguments: an array and a number, in both orders, and what is third."""
    arrays = [np.arange(1, 6).astype(d) for d in DTYPES]
    arrays.append(np.array([100, -100, 0, 3, 127], np.int8))
    pairs = itertools.product(arrays, NUMBERS)
    if count == 2:
        return [c for x, y in pairs for c in ((x, y), (y, x))]
    return [(x, y, z) for x, y in pairs for z in THIRD]


def is_mixed(args: tuple[Any, ...]) -> bool:
    """Whether float32 stands beside float64 of NumPy's, or what NumPy makes that: it is computed in
    float64, more exactly than NumPy does it."""
    dtypes = {a.dtype.name for a in args if hasattr(a, "dtype")}
    return "float32" in dtypes and len(dtypes) > 1


def main() -> None:
    """Compare, and print."""
    parameters, texts = sys.argv[1:]
    bodies = json.loads(texts)
    report: Found = {}
    with tempfile.TemporaryDirectory() as folder:
        source, made = modules(Path(folder), parameters, bodies)
        for k, body in enumerate(bodies):
            counts, wrong = dict.fromkeys(("equal", "refused", "raised"), 0), list[str]()
            for args in calls(len(parameters.split())):
                first, again = ([np.array(a) if isinstance(a, np.ndarray) else a for a in args]
                                for _ in range(2))  # fmt: skip
                expected = outcome(getattr(source, f"f{k}"), first)
                got = outcome(getattr(made, f"f{k}"), again)
                if isinstance(got, (TypeError, ValueError, OverflowError)):
                    counts["raised" if isinstance(expected, Exception) else "refused"] += 1
                    continue
                found = [repr(expected), repr(got)]
                if not isinstance(expected, Exception) and not isinstance(got, Exception):
                    near = 1e-6 if any(getattr(v, "dtype", None) == np.float32
                                       for v in (*expected, *args)) else 1e-12  # fmt: skip
                    near = 1e-6 if is_mixed(args) else near
                    found = [difference(a, b, near) for a, b in zip(expected, got, strict=True)]
                if any(found):
                    wrong.append(f"{args}: {found}")
                else:
                    counts["equal"] += 1
            report[body] = counts, wrong
    print(json.dumps(report))


if __name__ == "__main__":
    main()
