"""Numba's errors and types in the user's words: real errors of the installed Numba."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from porter.numba_report.ask import Question, compile_functions
from porter.numba_report.model import Compiled, Failure
from porter.numba_report.typetext import readable

#: body of a function of `x` (float64[::1]), the text of its wrong line, what is said
REJECTED = [
    ("h = hashlib.md5(x)\nreturn h", "h = hashlib", "`hashlib.md5` is not known to Numba"),
    ("return x.foo", "return", "`.foo` of float64[::1] is not known to Numba"),
    ("a = 1.0\nif x[0] > 0:\n    a = 'text'\nreturn a", "return", "`a` is float64 and also str"),
    ("y = np.sum(x, 0, 1, 2, 3)\nreturn y", "y = ", "`np.sum` takes fewer arguments in Numba"),
    ("y = x.mean(axis=0, keepdims=True)\nreturn y", "y = ", "`x.mean` takes no argument `axis`"),
    ("return np.setdiff1d(x, x, foo=1)", "return", "`np.setdiff1d` takes no argument `foo`"),
    ("y = x + 'a'\nreturn y", "y = ", "`+` of float64[::1] and str is not known to Numba"),
    ("y = x[0, 1]\nreturn y", "y = ", "2 indices for float64[::1]"),
    ("found = []\nreturn x", "found", "the type of the empty list `found` is not known"),
    ("y = nowhere(x)\nreturn y", "y = ", "`nowhere` is not defined"),
    ("y = plain(x)\nreturn y", "y = ", "`plain` is a plain Python function"),
    ("y = TABLE['a']\nreturn y", "y = ", "the global `TABLE` is a dict"),
    ("y = OBJECT\nreturn x", "y = ", "the global `OBJECT` is a tuple, which"),
    ("class A:\n    pass\nreturn x", "class A", "a class inside a function is not supported"),
    ("y = f'{x[0]:.3f}'\nreturn y", "y = ", "a format in an f-string is not supported"),
    ("import math\nreturn x", "import", "an import inside a function is not supported"),
    ("y = sum(k for k in x)\nreturn y", "y = ", "a generator expression is not supported"),
    ("with open('a') as f:\n    pass\nreturn x", "with", "`with ... as` is not supported"),
    ("y = inner(x)\nreturn y", "y = ", "`inner`, which is called here, fails: `.bar` of"),
    ("del x[0]\nreturn x", "del", "`del []` of float64[::1] and int64 is not known"),
]
HEAD = """
import hashlib

import numpy as np
from numba import njit

TABLE = {"a": 1}
OBJECT = b"bytes", ("a", {})


def plain(v):
    return v


@njit
def inner(v):
    return v.bar

"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[int, Compiled]]:
    text = HEAD
    questions = []
    for number, (body, _, _) in enumerate(REJECTED):
        line = text.count("\n") + 2
        text += f"@njit\ndef f{number}(x):\n{textwrap.indent(body, '    ')}\n"
        questions.append(
            Question(f"f{number}", line, text.count("\n"), "nopython", ("float64[:]",))
        )
    path = tmp_path_factory.mktemp("words") / "a.py"
    path.write_text(text, "utf-8")
    compiled = compile_functions(str(path), text, questions, 300.0)
    return text, {int(c.name[1:]): c for c in compiled}


@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_errors_become_sentences_at_their_lines(
    file: tuple[str, dict[int, Compiled]], number: int
) -> None:
    _, place, said = REJECTED[number]
    compiled = file[1][number]
    assert compiled.mode == "failed"
    assert isinstance(compiled.error, Failure)
    assert compiled.error.sentence.startswith(said)
    assert compiled.error.help
    assert file[0].splitlines()[compiled.error.line - 1].strip().startswith(place)
    # nothing of Numba's insides
    for leak in ("During", "0x", "$", "Literal[", "array(", "pipeline", "\n"):
        assert leak not in compiled.error.sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("array(float64, 2d, C)", "float64[:, ::1]"),
        ("array(float32, 2d, F)", "float32[::1, :]"),
        ("readonly array(int64, 1d, A)", "int64[:]"),
        ("array(bool, 0d, C)", "bool[()]"),
        ("Array(float64, 1, 'C', False, aligned=True)", "float64[::1]"),
        ("Literal[int](3)", "int64"),
        ("Literal[str](north)", "str"),
        ("unicode_type", "str"),
        ("UniTuple(int64, 2)", "(int64, int64)"),
        ("UniTuple(float64 x 1)", "(float64,)"),
        ("Tuple(int64, array(float64, 1d, C))", "(int64, float64[::1])"),
        ("UniTuple(array(float64, 1d, C) x 2)", "(float64[::1], float64[::1])"),
        ("reflected list(int64)<iv=None>", "list of int64"),
        ("list(array(float64, 1d, C))<iv=None>", "list of float64[::1]"),
        ("DictType[unicode_type,int64]<iv=None>", "dict of str to int64"),
        ("ListType[array(float64, 1d, C)]", "typed list of float64[::1]"),
        ("OptionalType(float64)", "float64 or None"),
        ("omitted(default=None)", "None (default)"),
        ("type(CPUDispatcher(<function go at 0x7f8c12dc0720>))", "function `go`"),
        ("range_state_int64", "range"),
    ],
)
def test_types_are_written_as_users_write_them(text: str, said: str) -> None:
    assert readable(text) == said


def test_a_crash_of_the_compiler_is_survived(tmp_path: Path) -> None:
    """The function at which the process died is named, and the others are asked again."""
    text = """
import os

from numba import njit
from numba.extending import overload


def boom(x):
    return x


@overload(boom)
def ol_boom(x):
    os.kill(os.getpid(), 11)


@njit
def first(x):
    return x


@njit
def second(x):
    return boom(x)


@njit
def third(x):
    return x
"""
    path = tmp_path / "a.py"
    path.write_text(text, "utf-8")
    questions = [
        Question(name, line, line + 1, "nopython", ("float64",))
        for name, line in (("first", 18), ("second", 23), ("third", 28))
    ]
    found = compile_functions(str(path), text, questions, 120.0)
    assert [(c.name, c.mode) for c in found] == [
        ("first", "nopython"),
        ("second", "unknown"),
        ("third", "nopython"),
    ]
    assert found[1].error is not None
    assert found[1].error.sentence.startswith("Numba's process failed")


def test_what_was_not_run_is_not_called_undefined(tmp_path: Path) -> None:
    text = """
from numba import njit

SIZE = input()


@njit
def f(x):
    return x * SIZE


@njit
def g(x):
    return f(x)
"""
    path = tmp_path / "a.py"
    path.write_text(text, "utf-8")
    questions = [
        Question("f", 8, 9, "nopython", ("float64",)),
        Question("g", 13, 14, "nopython", ("float64",)),
    ]
    found = compile_functions(str(path), text, questions, 120.0)
    assert [(c.name, c.mode) for c in found] == [("f", "unknown"), ("g", "unknown")]
    for compiled in found:
        assert compiled.error is not None
        assert compiled.error.sentence == (
            "`SIZE` is not there: line 4 failed with EOFError: EOF when reading a line; use --run"
        )
