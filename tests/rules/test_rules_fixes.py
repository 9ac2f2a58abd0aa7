"""Fixes of every rule's own cases: done once, the finding is gone, what is around stays."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize

import pytest

from porter.rules.base import Bad, ConverterRule, Rule
from porter.rules.engine import Selection, analyze
from porter.rules.fixes import apply_fixes
from porter.rules.registry import all_rules
from porter.source.files import SourceFile


def fixable(rule: type[Rule], bad: Bad) -> bool:
    return any(d.fix is not None for d in analyze(case(bad), Selection((rule.code,))).diagnostics)


def case(bad: Bad) -> SourceFile:
    return SourceFile("case.py", bad.code)


CASES = [
    pytest.param(rule, bad, id=f"{rule.code}-{n}")
    for rule in all_rules().values()
    if not issubclass(rule, ConverterRule)
    for n, bad in enumerate(rule.invalid())
    if fixable(rule, bad)
]


@pytest.mark.parametrize(("rule", "bad"), CASES)
def test_a_fix_is_done_once_and_keeps_what_is_around(rule: type[Rule], bad: Bad) -> None:
    only = Selection((rule.code,))
    before = case(bad)
    text, count = apply_fixes(before, analyze(before, only).diagnostics, unsafe=True)
    assert count
    ast.parse(text)
    assert comments(text) == comments(before.text)
    after = SourceFile("case.py", text)
    left = [d for d in analyze(after, only).diagnostics if d.fix is not None]
    assert left == []


@pytest.mark.parametrize(("rule", "bad"), CASES)
def test_a_fix_keeps_windows_line_ends(rule: type[Rule], bad: Bad) -> None:
    only = Selection((rule.code,))
    before = SourceFile("case.py", case(bad).text.replace("\n", "\r\n"))
    text, _ = apply_fixes(before, analyze(before, only).diagnostics, unsafe=True)
    ast.parse(text)
    assert text.count("\n") == text.count("\r\n")


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


NARROW = """\
import math
import numpy as np
from numba import vectorize

@vectorize(["float32(float32, float32)"], target="cuda")
def f(x, width):
    return max(math.exp(-0.5 * (x / width) ** 2) - 2 * math.pi * x, 0.0) * width
"""
COUNT = """\
import sys, warnings
warnings.simplefilter("ignore")
from numba import cuda, float32
names = {}
exec(sys.stdin.read(), names)
print(cuda.compile_ptx(names["f"], (float32, float32), device=True, cc=(8, 0))[0].count(".f64"))
"""


def test_a_float32_function_has_no_float64_instruction_after_its_fixes() -> None:
    source = SourceFile("narrow.py", NARROW)
    text, count = apply_fixes(source, analyze(source).diagnostics, unsafe=True)
    assert count == 3
    assert instructions(NARROW) > 10
    assert instructions(text) == 0


def instructions(text: str) -> int:
    """The float64 instructions that Numba makes of `f` in a text."""
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("@"))
    done = subprocess.run(
        [sys.executable, "-c", COUNT], input=plain, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
