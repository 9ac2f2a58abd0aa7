"""Arrays of no dimensions and NumPy's numbers: what they give, and what is refused of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """import numpy as np


def copied(x):
    return x.copy(), np.copy(x), x.astype(np.float32), np.where(x > 1.0, x, 0.0), np.sin(x)


def chosen(index, low, high):
    return np.choose(index, [low, high])


def marked(x):
    y = np.zeros_like(x)
    y[x > 1.0] = 3.0
    return y


def changed(x):
    y = x.copy()
    y += 1.0
    return y


def either(v, s):
    return (v * 2 if s > 1 else v).copy()


def counted(x, k: int):
    while k > 0:
        x = x * 0.5
        k -= 1
    return x


def counted_by_another_name(x, k: int):
    left = k
    while left > 0:
        x = x * 0.5
        left -= 1
    return x


def rooted(x, t: float):
    return x * np.sqrt(t)


def raised(b, k: int):
    return b + k


def named(p, q):
    t = p * q + 1
    return t


if __name__ == "__main__":
    x = np.ones(3)
    named(np.asarray(2.0), np.asarray(3.0))
    copied(x)
    chosen(np.array([0, 1, 0]), x, x)
    marked(x)
    changed(x)
    either(x, 2)
    counted(x, 3)
    counted_by_another_name(x, 3)
    rooted(x, 0.5)
    raised(x > 0, 2)
"""
CHILD = """
import json
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

def of(call, *given):
    try:
        found = call(*given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    found = found if isinstance(found, tuple) else (found,)
    return [(type(r).__name__, np.asarray(r).dtype.name, np.asarray(r).tolist()) for r in found]

point, number = np.asarray(2.0), np.float64(2.0)
calls = {
    "copied": [(point,), (number,)],
    "chosen": [(np.asarray(1), point, point), (np.int64(1), number, number)],
    "marked": [(point,), (number,)],
    "changed": [(point,), (number,)],
    "either": [(number, 2), (number, 1), (point, 1)],
    "counted": [(np.ones(2), np.asarray(3)), (np.ones(2), np.int8(3))],
    "counted_by_another_name": [(np.ones(2), np.asarray(3)), (np.ones(2), np.int8(3))],
    "named": [(2.0, 3.0), (2.0, number), (point, 3.0)],
    "rooted": [(np.ones(2), 4), (np.ones(2), np.int32(4)), (np.ones(2), np.int8(4))],
    "raised": [(np.ones(2, bool), k) for k in (3, np.int64(3), True, np.int8(3), np.uint64(3))],
}
print(json.dumps({
    name: [(of(getattr(a, name), *c), of(getattr(a_cuda, name), *c)) for c in each]
    for name, each in calls.items()
}))
"""


def test_results_and_refusals_are_those_of_the_original(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--no-verify") == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        text=True,
        check=True,
        cwd=shell.folder,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    refused = {
        name: [own for original, own in pairs if own != original] for name, pairs in found.items()
    }
    assert refused["counted"] == refused.pop("counted_by_another_name")
    assert refused.pop("counted") == ["TypeError: k would be changed: pass k.item()"]
    assert refused.pop("rooted") == [
        "TypeError: t is int8, of which NumPy computes narrow floats: pass int(t)"
    ]
    assert refused.pop("raised") == [
        f"TypeError: k is {dtype}, which NumPy keeps beside bools and "
        f"Python's integers: pass int(k)"
        for dtype in ("bool", "int8", "uint64")
    ]
    assert not any(refused.values()), refused


def test_pythons_integer_has_no_dtype_beside_an_array() -> None:
    source = "def f(x, bits):\n    return x + ((bits - 1) & x)\n"
    function = SourceModule(source, "f.py").functions[0]
    for signature, alone in {
        "int64[()], uint8[()]": ("x", "bits"),
        "int64[()], int64[:]": (),
        "int64[()], int8[:]": ("x",),
    }.items():
        assert tuple(convert_function(function, signature).plan.numbers.alone) == alone
