"""`format_lines` against `ruff format` itself, on generated and on hand-picked statements."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.codegen.module.format import format_lines

Precedence = int
Piece = tuple[str, Precedence]  # an expression and how tightly its operator binds
ATOM, POWER, SIGN, NOT, CONDITION = 20, 15, 14, 5, 2
BINARY = [("**", 15), ("*", 12), ("/", 12), ("%", 12), ("//", 12), ("@", 12), ("+", 11), ("-", 11)]
BINARY += [("<<", 10), (">>", 10), ("&", 9), ("^", 8), ("|", 7), ("and", 4), ("or", 3)]
COMPARE = ["<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"]
STEMS = ["x", "n", "out", "mean", "row_sum", "velocity_gradient", "boundary_condition_of_the_grid"]
ATOMS = ["0", "1", "-1", "2.0", "1e-3", "0.5", "True", "None", '"axis"', '"a longer message"']


def ruff(text: str, width: int = 88) -> str:
    """What ruff makes of a module, with its default settings but for the line length."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={width}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def squeezed(text: str) -> list[str]:
    """The lines that are not blank: blank lines are the business of whoever writes the module."""
    return [line for line in text.splitlines() if line.strip()]


names = st.builds(
    "{}{}".format, st.sampled_from(STEMS), st.sampled_from(["", "_2", "_before_step"])
)
leaves = st.one_of(names, names, st.sampled_from(ATOMS)).map(
    lambda text: (text, SIGN if text.startswith("-") else ATOM)
)


def guard(piece: Piece, minimum: Precedence, redundant: bool = False) -> str:
    """The expression, in parentheses if it binds too loosely (or if they are asked for)."""
    text, precedence = piece
    return f"({text})" if precedence < minimum or redundant else text


def extend(inner: st.SearchStrategy[Piece]) -> st.SearchStrategy[Piece]:
    """Larger expressions from smaller ones, one kind per line."""
    rarely = st.integers(0, 9).map(lambda n: n == 9)
    targets = st.one_of(names, inner.map(lambda p: guard(p, ATOM)).filter(lambda t: t[0].isalpha()))
    some = st.lists(inner, min_size=0, max_size=4).map(lambda ps: [guard(p, 1) for p in ps])
    more = st.lists(inner, min_size=1, max_size=3).map(lambda ps: [guard(p, 1) for p in ps])
    bound = st.one_of(st.just(""), inner.map(lambda p: guard(p, 1)))
    slices = st.one_of(bound, st.builds("{}:{}".format, bound, bound)).filter(bool)
    slices = st.one_of(slices, st.builds("{}:{}:{}".format, bound, bound, bound))
    keywords = st.lists(st.builds("{}={}".format, names, inner.map(lambda p: guard(p, 1))))
    keywords = keywords.map(lambda ks: list({k.split("=")[0]: k for k in ks}.values())[:2])

    def binary(left: Piece, op: tuple[str, int], right: Piece, wrap: bool) -> Piece:
        text, level = op
        up = text == "**"
        return (
            f"{guard(left, level + up, wrap)} {text} {guard(right, level + (not up), wrap)}",
            level,
        )

    def calls(function: str, args: list[str], named: list[str]) -> Piece:
        return f"{function}({', '.join(args + named)})", ATOM

    def compared(left: Piece, op: str, right: Piece) -> Piece:
        return f"{guard(left, 7)} {op} {guard(right, 7)}", 6

    def chosen(body: Piece, test: Piece, orelse: Piece) -> Piece:
        return f"{guard(body, 3)} if {guard(test, 3)} else {guard(orelse, 2)}", CONDITION

    return st.one_of(
        st.builds(binary, inner, st.sampled_from(BINARY), inner, rarely),
        st.builds(binary, inner, st.sampled_from(BINARY[:8]), inner, rarely),
        st.builds(compared, inner, st.sampled_from(COMPARE), inner),
        st.builds(chosen, inner, inner, inner),
        st.builds(lambda p: (f"-{guard(p, SIGN)}", SIGN), inner),
        st.builds(lambda p: (f"not {guard(p, NOT)}", NOT), inner),
        st.builds(calls, targets, some, keywords),
        st.builds(
            lambda t, s: (f"{t}[{', '.join(s)}]", ATOM), targets, st.lists(slices, min_size=1)
        ),
        st.builds(lambda t, n: (f"{t}.{n}", ATOM), targets, names),
        st.builds(lambda ps: (f"({', '.join(ps)},)", ATOM), more),
        st.builds(lambda ps: (f"[{', '.join(ps)}]", ATOM), some),
    )


expressions = st.recursive(leaves, extend, max_leaves=14)
values = expressions.map(lambda p: p[0])
places = st.one_of(
    names,
    st.builds("{}[{}]".format, names, values),
    st.builds("{}[{}, {}]".format, names, values, values),
    st.builds("{}.{}".format, names, names),
    st.builds("{}, {}".format, names, names),
)
PASS = ["    pass"]
parameters = st.lists(names, max_size=6, unique=True)
simple = st.one_of(
    st.builds("{} = {}".format, places, values),
    st.builds("{} = {} = {}".format, places, places, values),
    st.builds("{} = {}, {}".format, places, values, values),
    st.builds("{} {}= {}".format, names, st.sampled_from(["+", "*", "//", ">>"]), values),
    st.builds("{}[{}] += {}".format, names, values, values),
    st.builds("return {}".format, values),
    st.builds("return {}, {}".format, values, values),
    st.builds("return {}, {}, {}".format, names, values, values),
    st.builds("raise ValueError({})".format, values),
    st.builds("raise TypeError({}) from None".format, values),
    st.builds("kernel[{}, THREADS, stream]({}, {})".format, values, values, names),
    st.builds("cuda.atomic.add({}, {}, {})".format, names, values, values),
    st.builds("assert {}, {}".format, values, values),
    st.builds(
        lambda ns: f"from numba.cuda.random import {', '.join(ns)}",
        st.lists(names, min_size=1, max_size=4, unique=True),
    ),
    values.filter(lambda v: not v.startswith('"')),
)
comments = st.sampled_from(["", "", "", "", "  # out[i] = x[i] / mean", "  # noqa: PRT203"])
simple = st.builds("{}{}".format, simple, comments)
blocks = st.one_of(
    st.builds("for {} in range({}):".format, names, values),
    st.builds("for {}, {} in {}:".format, names, names, values),
    st.builds("while {}:".format, values),
    st.builds("if {}:".format, values),
    st.builds(lambda ns, v: f"def f({', '.join([*ns, '*', f'stream={v}'])}):", parameters, values),
    st.builds(lambda ns: f"def f({', '.join(ns)}):", parameters),
)
blocks = st.builds("{}{}".format, blocks, comments)
statements = st.one_of(
    simple.map(lambda s: [s]),
    simple.map(lambda s: [s]),
    blocks.map(lambda b: [b, *PASS]),
    st.builds(
        lambda a, b: [f"if {a}:", *PASS, f"elif {b}:", *PASS, "else:", *PASS], values, values
    ),
    st.builds(lambda v: [f"@jit({v})", "def g():", *PASS], values),
)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(statements, st.integers(0, 3)), min_size=1, max_size=12),
    st.sampled_from([24, 40, 60, 88, 88]),  # narrow lines show more of the rules
)
def test_agrees_with_ruff(batch: list[tuple[list[str], int]], width: int) -> None:
    lines: list[str] = []
    for statement, depth in batch:
        lines += ["    " * d + "if True:" for d in range(depth)]
        lines += ["    " * depth + line for line in statement]
    text = "\n".join(lines) + "\n"
    assert squeezed("\n".join(format_lines(lines, width))) == squeezed(ruff(text, width))


LONG = "a_value_with_a_long_name, another_value_with_a_long_name, a_third_value_with_a_name"
PICKED = [
    "x = a.reshape(n, -1).sum(axis=1).astype(np.float64).clip(0.0, 1.0).transpose(1, 0).copy()",
    "x = (a_value_with_a_long_name).mean().reshape(another_value_with_a_long_name).sum(axis=1)",
    "x = f(a, b,)",
    "x = a[i, j,]",
    "x = (a, b,)",
    "x, y = a, b,",
    "from numba import (cuda, float64,)",
    f"from numba import {LONG}",
    f"x = [{LONG}]",
    f"x = {{{LONG}}}",
    f"x = {{'one': {LONG.split(', ')[0]}, 'two': {LONG.split(', ')[1]}, **three_more_of_them}}",
    f"x = [value * 2 for value in ({LONG}) if value is not None and value]",
    f"x = {{value: 1 for value in names}} if f({LONG}) else {{}}",
    "x = 0XfF + 1E+5 + .5 + 1. + 1J + 0B01 + 1_000 + 1.5e-07",
    "x = 'it' + \"it's\" + 'say \"so\"' + '\\'' + b'x' + R'raw' + f'{n}' + ''",
    'raise ValueError(f"x has {x.ndim} dimensions, but the function was converted for {n}")',
    'raise ValueError(f"operands could not be broadcast together with shapes {x.shape} {y.shape}")',
    "raise",
    "import numpy as np",
    "import math, sys",
    "x = ((a))",
    "x = (a + b)",
    "return (a)",
    "return (a, b)",
    "return",
    "if (a == b):\n    pass",
    "while not(a):\n    pass",
    "for (i, j) in (pairs):\n    pass",
    "(a + b)",
    "f((a))",
    "f((yes for yes in it))",
    "x = a[1:n], a[1 : n + 1], a[::2], a[n - 1 :: -1], a[:, None], a[..., 0], a[-1:], a[f(x) :]",
    "x = - a ** - b ** 2, not a, ~ b, (-1) ** n, a.b ** 2, f(x) ** 2, x[i] ** 2",
    "x = y = z",
    "x = y # comment",
    "x = y #comment",
    "x = y #: comment",
    "#comment",
    "#!comment",
    "#",
    "a_long_name_of_a_result = a_value_with_a_long_name + another_value_with_a  # and a comment",
    "a_long_name_of_a_result = a_value_with_a_long_name_and_another_value_with_a  # a comment",
    "a_long_name_of_a_result = a_value_with_a_long_name_and_another_value_with_a  # noqa: PRT203",
    "if a_value_with_a_long_name + another_value_with_a_long_name > 1:  # and comments\n    pass",
    f"def f({LONG}):\n    pass",
    f"def f({LONG}, *, stream=None, **options):\n    pass",
    "def f(a, b, /, c, *d, e=1, **f):\n    pass",
    "def f(a: NDArray[np.float64], b: float = 1.0) -> tuple[NDArray[np.float64], float]:\n    pass",
    f"def f(a: Annotated[{LONG}]) -> None:\n    pass",
    f"def f() -> Annotated[{LONG}]:\n    pass",
    f"def f(a, *, stream=None) -> Annotated[{LONG}]:\n    pass",
    f"@cuda.jit({LONG}, fastmath=True)\ndef f():\n    pass",
    "@cuda.jit(device = True) # comment\ndef f():\n    pass",
    "assert a_value_with_a_long_name > 0, 'a_value_with_a_long_name has to be positive, not so'",
    f"out[index_of_the_row, index_of_the_column] = kernel[blocks]({LONG})",
    f"out[index_of_the_row, {LONG}] = kernel",
    "x.attribute_of_x[index_of_the_row, index_of_the_column].name = a_value_with_a_long_name.other",
    "break",
    "continue",
]


@pytest.mark.parametrize("text", PICKED)
def test_agrees_with_ruff_on(text: str) -> None:
    assert squeezed("\n".join(format_lines(text.splitlines()))) == squeezed(ruff(text))


def test_leaves_docstrings_and_blank_lines_alone() -> None:
    lines = ["def f(x):", '    """A docstring.', "", "    x  =  1", '    """', "    # comment", ""]
    assert format_lines(lines) == lines


def test_leaves_unknown_statements_alone() -> None:
    lines = ["with  a:", "    f = lambda x:  x", "    a = 'b'  'c'", "    def half(", "    del  a"]
    assert format_lines(lines) == lines


def test_leaves_statements_on_several_lines_alone() -> None:
    """A line of one may look like a statement: `"a",` is a tuple."""
    lines = ["box = [  # (", "  ('a',", "    b),", "    c,  ", "]"]
    assert format_lines([*lines, "d  =  ')('"]) == [*lines, 'd = ")("']


def test_formats_its_own_output_again() -> None:
    lines = ["x = " + " + ".join(f"name_{i} * scale[{i}]" for i in range(12)), "y = f(x,)"]
    once = ruff("\n".join(format_lines(lines)))
    assert once.splitlines() == format_lines(lines)
