"""Statements that stay on the host say what the user wrote: a list stays a list, in its order."""

from __future__ import annotations

import ast

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule

#: what a statement of the host is made of: scalars `a`, `b` of the caller, an array `y`
WRITTEN = [
    "[-a/2, b/2, (a/2), -b/2, -a/2]",
    "[(-a)/2, -(b/2), ((a))/2]",
    "(-a/2, b/2, (a/2), -b/2)",
    "{'box': [-a/2, b/2, (a/2)], 'n': -b}",
    "[-a**2, (-a)**2, 2**-a, -(-a)]",
    "[a - (b - 1), (a - b) - 1, a/(b/2)]",
    "[a < b <= 3, not (a < b), not a < b]",
    "[b if a > 0 else -b, (a if b else (b if a else 1))]",
    "[f'{a:.2f} {b!r} a', 'a b', \"b\"]",
    "(lambda q: q * -a)(b)",
    "[q * a for q in [1, 2, (3)] if q > -b]",
    "{q: -a for q in (1, 2)}",
    "[1, 2, 3][::-1][-1:]",
    "['a' 'b', b'a', r'\\a', 1_000, 3j, ...]",
    "[(a,), [], (), {}, [[-a], (b)]]",
    "dict(k=-a, j=[b, (a)], **{'m': -b})",
]


def host_of(body: str) -> str:
    """The host function of a function with a body between its array and its return."""
    text = f"import numpy as np\n\ndef f(x, a, b):\n    y = x * 2\n{body}    return y\n"
    (function,) = SourceModule(text, "t.py").functions
    made = convert_function(function, "float64[:], float64, float64")
    return made.text.parts[-1]


def expressions(text: str) -> set[str]:
    return {ast.dump(n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.expr)}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("statement", ["    print({})\n", "    print(1, {}, sep='')\n"])
def test_an_expression_of_the_host_is_the_users(statement: str, written: str) -> None:
    host = host_of(statement.format(written))
    assert ast.dump(ast.parse(written, mode="eval").body) in expressions(host)


@pytest.mark.parametrize("written", WRITTEN)
def test_an_object_of_the_host_is_the_users(written: str) -> None:
    host = host_of(f"    d = {{'k': {written}}}\n    print(d)\n")
    assert ast.dump(ast.parse(written, mode="eval").body) in expressions(host)


@pytest.mark.parametrize(
    ("bound", "kind"),
    [("[a, -b]", ast.List), ("(a, -b)", ast.Tuple), ("[]", ast.List), ("()", ast.Tuple)],
)
def test_a_list_with_a_name_is_printed_as_a_list(bound: str, kind: type[ast.expr]) -> None:
    host = host_of(f"    box = {bound}\n    print(box)\n")
    calls = [
        n for n in ast.walk(ast.parse(host)) if isinstance(n, ast.Call) and n.args
        and isinstance(n.func, ast.Name) and n.func.id == "print"
    ]  # fmt: skip
    assert isinstance(calls[0].args[0], kind)


@pytest.mark.parametrize("comment", ["", "  # of `a`"])
def test_a_statement_on_several_lines_is_on_one(comment: str) -> None:
    """The module lays it out; with a comment it stays as it is."""
    written = f"[\n  (\n    q - a,{comment}\n    q + b,\n  )\n  for q in [1, 2]\n]"
    indented = written.replace("\n", "\n    ")
    host = host_of(f"    d = {{'k': {indented}}}\n    print(d)\n")
    assert ast.dump(ast.parse(written, mode="eval").body) in expressions(host)
    lines = [line for line in host.splitlines() if "q + b" in line]
    assert ("q - a" in lines[0]) == (not comment)
