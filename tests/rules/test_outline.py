"""Fixes that rewrite code: with the real Numba, the fixed function does what it did before."""

from __future__ import annotations

import ast
import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from porter.rules.engine import Selection, analyze
from porter.rules.fixes import apply_fixes
from porter.source.files import SourceFile

HASH = '''\
"""Hashes."""
import hashlib
import numpy as np


# what the tutorial shows
def digest(x):
    # Loop and body supported by Nopython mode
    for i in range(len(x)):  # every element
        x[i] = x[i] ** 2  # squared
    # Unsupported library / function call
    return hashlib.md5(x).hexdigest()
'''
SUM = """\
import hashlib
import math


def digest(x):
    total = 0.0
    biggest = x[0]
    for i in range(x.shape[0]):
        v = math.sqrt(x[i])
        if v > biggest:
            biggest = v

        total += v  # a fold
        x[i] = v
    if total > 1:
        for i in range(1, x.shape[0]):
            x[i] = x[i] + x[i - 1] * biggest
    return f"{total:.6f} {biggest:.6f} {hashlib.md5(x).hexdigest()}"
"""
TWO = """\
import hashlib
from numba import jit, njit as compiled


@jit
def digest(x, scale=2.0):
    n = x.shape[0]
    for i in range(n):
        x[i] *= scale
    h = hashlib.md5(x).hexdigest()
    for i in range(n):
        x[i] += 1
    return h, x.sum()
"""


def module(path: Path, text: str) -> ModuleType:
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def fixed(text: str, code: str = "PRT201") -> str:
    file = SourceFile("case.py", text)
    out, count = apply_fixes(file, analyze(file, Selection((code,))).diagnostics, unsafe=True)
    assert count, "nothing was fixed"
    again = SourceFile("case.py", out)
    assert not analyze(again, Selection((code,))).diagnostics
    assert apply_fixes(again, analyze(again).diagnostics)[0] == out
    return out


def comments(text: str) -> list[str]:
    return sorted(line.split("#", 1)[1] for line in text.splitlines() if "#" in line)


def undecorated(text: str) -> str:
    return text.replace("@jit\n", "")


@pytest.mark.parametrize("text", [HASH, SUM, TWO], ids=["hash", "sum", "two"])
def test_outlined_loops_compute_what_the_original_did(text: str, tmp_path: Path) -> None:
    out = fixed(text)
    ast.parse(out)
    assert comments(out) == comments(text)
    old, new = module(tmp_path / "old.py", undecorated(text)), module(tmp_path / "new.py", out)
    a, b = np.arange(1.0, 9.0), np.arange(1.0, 9.0)
    assert new.digest(b) == old.digest(a)
    np.testing.assert_array_equal(a, b)
    loops = [v for n, v in vars(new).items() if n.startswith("digest_loop")]
    assert loops
    assert all(loop.signatures for loop in loops), "every outlined loop was compiled and called"


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(len(x)):\n        last = x[i] * 2\n        x[i] = last\n    y = last",
        "for i in range(len(x)):\n        x[i] = helper(x[i]) + 1\n    y = 1",
        "for i in range(len(x)):\n        x[i] = x[i] + 'a'\n    y = 1",
        "for i in range(len(x)): x[i] = x[i] + 1; y = 1\n    y = 1",
    ],
    ids=["maybe-unbound", "unknown-call", "text", "one-line"],
)
def test_loops_that_may_mean_something_else_are_left_to_people(body: str) -> None:
    text = f"import hashlib\n\ndef digest(x):\n    {body}\n    return hashlib.md5(x).digest(), y\n"
    found = analyze(SourceFile("case.py", text), Selection(("PRT201",))).diagnostics
    assert all(d.fix is None for d in found)


KERNEL = '''\
"""Activation."""
from __future__ import annotations

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def activate(v, w):
    # grows
    return np.sqrt(np.abs(np.exp(v))) + np.log1p(w) - np.floor(w)  # and falls
'''


def test_math_computes_what_numpy_did(tmp_path: Path) -> None:
    out = fixed(KERNEL, "PRT303")
    assert "\n\nimport math\nimport numpy as np\n" in out
    assert comments(out) == comments(KERNEL)
    plain = KERNEL.replace("@cuda.jit(device=True)\n", "")
    old = module(tmp_path / "old.py", plain).activate
    new = module(tmp_path / "new.py", out.replace("@cuda.jit(device=True)\n", "")).activate
    for v, w in ((0.5, 0.25), (-3.0, 7.5), (2.0, 1e-9)):
        assert math.isclose(new(v, w), old(v, w), rel_tol=1e-15)
    assert KERNEL.count("\n") + 1 == out.count("\n")


def test_a_name_that_math_would_hide_leaves_the_fix_out() -> None:
    text = KERNEL.replace("# grows", "math = v")
    found = analyze(SourceFile("case.py", text), Selection(("PRT303",))).diagnostics
    assert [d.fix is None for d in found] == [True, False, True, True, True]


def test_safe_fixes_do_without_rounding() -> None:
    file = SourceFile("case.py", KERNEL)
    out, count = apply_fixes(file, analyze(file, Selection(("PRT303",))).diagnostics)
    assert count == 4
    assert "np.floor(w)" in out
