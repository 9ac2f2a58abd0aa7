"""Calls without an array are computed on the host, by the user's own code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from porter.codegen.module.header import parse
from porter.convert.function import Converted, convert_function
from porter.convert.served.accepts import accepted
from porter.lowering.whole import whole
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.support.shell import Shell, porter

SOURCE = '''import math

import numpy as np
from numpy import log
from parts import tail

TINY = 1e-15
SCALE = math.sqrt(2.0 * math.pi)


def safe(value, least=TINY):
    """Nothing that is zero."""
    return max(least, value)  # the larger one


def positive(x, base=2):
    """`x log x`, and not a number where that has no value."""
    x = np.asarray(x)
    found = np.zeros(x.shape)
    found[x < 0] = np.nan
    valid = x > 0
    found[valid] = x[valid] * log(x[valid]) / log(base)
    return found


def peak(x, width: float = 1.0, *, kind="a"):
    if isinstance(x, (int, float)):
        x = safe(x)
    else:
        x[x <= TINY] = TINY
    y = tail(x, width) / (SCALE * safe(width))
    return y + 1.0 if kind == "b" else y


def product(p, q):
    a, b = p
    c, d = q
    return a * c - b * d, a * d + b * c


def plain(x):
    return np.sin(x) * 2.0


def rows(x):
    return x / x.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    print(positive(np.ones(3)), positive(0.5))
'''
PARTS = '''import numpy as np


def tail(x, width):
    """What is far from the middle."""
    return np.exp(-x / width)
'''
CHILD = """
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

numbers = [2.5, 0, 3, -1.0, True, np.float32(0.5), np.int64(4), np.array(2.0), np.float64(1e-20)]
calls = [("positive", (v,), {}) for v in numbers] + [("peak", (v, 2), {}) for v in numbers]
calls += [("positive", (2.5,), {"base": 10}), ("peak", (1.5,), {"kind": "b"}), ("peak", ("x",), {})]
calls += [("product", ((1, 2), (3, 4)), {}), ("product", ([1, 2.5], [True, 4]), {}),
          ("product", ([np.float32(1), 2], (1j, 4)), {}), ("product", (range(2), [3, 4]), {}),
          ("product", (1, 2), {}), ("product", ([1, 2, 3], [1, 2]), {})]


def outcome(function, args, kw):
    try:
        found = function(*args, **kw)
    except Exception as error:
        return type(error), str(error)
    return [(type(r), getattr(r, "dtype", None), np.asarray(r).tolist())
            for r in (found if type(found) is tuple else [found])]


for name, args, kw in calls:
    wanted, found = (outcome(getattr(m, name), args, kw) for m in (a, a_cuda))
    assert repr(found) == repr(wanted), (name, args, kw, found, wanted)
for args in ((0.5, np.ones(3)), (np.ones((2, 2)), np.ones(2))):
    try:
        a_cuda.peak(*args)
    except (TypeError, ValueError) as error:
        print(str(error).partition(":")[0])
assert np.array_equal(a_cuda.positive(np.array([1.0, -2.0])), a.positive([1.0, -2.0]), True)
print(a_cuda.peak(np.array([1.0, 2.0])).shape)
"""


def converted(source: str, name: str, *signatures: str) -> Converted:
    module = SourceModule(source, "a.py")
    (function,) = (f for f in module.functions if f.name == name)
    return convert_function(function, signatures or None)


def test_what_the_original_does_with_numbers_and_lists(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    shell.write("parts.py", PARTS)
    assert shell.convert("a.py", "-f", "positive", "-f", "peak", "-f", "product", verify=True) == 0
    header = parse((shell.folder / "a_cuda.py").read_text())
    assert header is not None
    assert {r.name: [f.signature for f in r.forms][-1] for r in header.functions} == {
        "positive": "float64, omitted",
        "peak": "float64, float64, omitted",
        "product": "UniTuple(float64, 2), UniTuple(float64, 2)",
    }
    assert all(r.verified for r in header.functions)
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "(2,)"
    # the same module again from the types in its header
    assert shell.convert("a.py", "-f", "positive", "-f", "peak", "-f", "product", "--check") == 0


def test_verification_tries_them(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "-f", "positive") == 0
    module = shell.folder / "a_cuda.py"
    own, _, kernels = module.read_text().partition("def _positive_host")
    host, _, rest = kernels.partition("return")
    assert "found[x < 0] = np.nan" in host
    wrong = host.replace("np.log(base)", "np.log(2.5)")
    assert wrong != host
    module.write_text(f"{own}def _positive_host{wrong}return{rest}")
    done = porter(shell, "verify", "a_cuda.py", "--on", "simulator")
    assert done.returncode == 1
    assert "x = " in done.stdout


@pytest.mark.parametrize(
    ("name", "signatures"), [("plain", ()), ("rows", ()), ("positive", ("float64[:], float64",))]
)
def test_functions_that_need_no_such_form(name: str, signatures: tuple[str, ...]) -> None:
    """Kernels serve a number, the function takes none, or the types are given."""
    found = converted(SOURCE, name, *signatures)
    assert found.host is None
    assert "_host(" not in "".join(found.text.parts)


def test_it_is_asked_for_by_a_signature() -> None:
    found = converted(SOURCE, "positive", "float64[:], float64", "float64, float64")
    assert found.host is not None
    assert found.host.signature == "float64, float64"
    assert found.leaving_out(["float64, float64"]).host is None


def test_the_header_says_where_they_are_computed() -> None:
    assert accepted(converted(SOURCE, "positive"))[0].endswith(
        "; scalars alone: computed on the host"
    )
    product = converted(SOURCE, "product")
    assert accepted(product)[0].endswith("; scalars and lists alone: computed on the host")
    assert "    # scalars and lists: computed on the host" in product.text.parts[-1]


@pytest.mark.parametrize(
    "body",
    [
        "global n\n    n = 1\n    return np.cumsum(np.asarray(x)) + OTHER",
        "x = np.asarray(x)\n    return np.sum(x + (lambda v: v)(1.0)) + ABSENT",
    ],
)
def test_code_that_the_module_cannot_have(body: str) -> None:
    """What depends on the rest of the file has no such form; its arrays convert, or do not."""
    head = "import numpy as np\nfrom .own import ABSENT\n\nOTHER = 1.0\n\n"
    module = SourceModule(f"{head}def f(x):\n    {body}\n", "a.py")
    assert whole(module.functions[0], Globals(module), "_f_host") is None
