"""Diagnostics: short, at the statement, in the user's names, with a cure; and the page of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from porter.convert.check import check_function
from porter.diagnostics import Diagnostic
from porter.rules.base import ConverterRule
from porter.rules.engine import Selection, analyze
from porter.rules.registry import all_rules
from porter.source.files import SourceFile
from porter.source.module import FunctionSource, SourceModule
from tests.support.paths import CORPUS, EXAMPLES, TESTS
from tests.tools.make_diagnostics import PAGE, messages, page

#: the longest message; a placeholder or a quoted piece of the user's code counts `LONGEST` at most
MOST, LONGEST = 80, 16
#: types that most functions refuse: the second dimension, the third, or all of them are missing
TYPES = ("float64", "float64[:]", "complex128[:, :]", "float64[:, :, :]")
#: names in backticks that are NumPy's, Python's or porter's own
OWN = {"np", "axis", "out", "where", "wrap", "dtype", "range", "self", "refuse", "host", "__init__"}
OWN |= {"enumerate", "zip"}

BAD = {
    "renamed": """
def f(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i]
    for i in range(1, x.shape[0]):
        out[i] = np.tanh(out[i - 1]) + x[i]
""",
    "nested": """
def f(x):
    for row in range(1, x.shape[0]):
        for column in range(row):
            x[row] = np.cos(x[column] * x[row] + x[row - 1])
""",
    "carried": """
def f(x):
    state = 0.0
    for i in range(x.shape[0]):
        state = np.tanh(state) + x[i] ** 2
        x[i] = state
""",
    "max": """
def f(x, max):
    for list in range(1, x.shape[0]):
        x[list] = np.sin(x[list - 1]) * max
""",
    "early": """
def f(x):
    for i in range(x.shape[0]):
        if x[i] > 3.0:
            return x[:i]
    return x[1:]
""",
    "several lines": """
import scipy.special


def f(x):
    y = np.sin(x)
    return scipy.special.some_function_with_a_long_name(
        y,
        x,
    )
""",
    "call": """
def f(x, k):
    return g(np.sin(x))


def g(a, b):
    return a + b
""",
    "global": """
STEP = open("step").read()


def f(x):
    y = x * 2.0
    return y * STEP
""",
    "loop in a helper": """
def f(x):
    return np.sin(shifted(x))


def shifted(a):
    for place in range(1, a.shape[0]):
        a[place] = np.sin(a[place - 1])
    return a.copy()
""",
    "text": """
def f(x):
    return np.sin(x["price"])
""",
    "while": """
def f(x, eps):
    while np.abs(x).max() > eps:
        x[1:] = x[:-1] * x[0]
        if x[0] > 3:
            try:
                x[0] = 0
            finally:
                pass
    return x
""",
}


def said(function: FunctionSource, signature: str | None = None) -> tuple[Diagnostic, ...]:
    return tuple(check_function(function, signature).diagnostics)


def length(message: str) -> int:
    """The length of a message whose quoted pieces of the user's code are of usual length."""
    return len(re.sub(r"(?<=`)[^`]+(?=`)", lambda m: m[0][:LONGEST], message))


def problems(function: FunctionSource, found: Diagnostic, words: set[str]) -> Iterator[str]:
    """What is wrong with a diagnostic of a function."""
    module = function.module
    places = [module.span(f.node) for f in module.functions]
    inside = any(p.line <= found.span.line <= p.end_line for p in places)
    decorators = [module.span(d).line for d in function.node.decorators]
    if not inside and found.span.line not in decorators:
        yield f"line {found.span.line} is outside"
    if length(found.message) > MOST:
        yield f"{length(found.message)} characters"
    if not found.help:
        yield "no help"
    for quoted in re.findall(r"`([^`]*)`", found.message):
        if not quoted.endswith("..."):
            names = set(re.findall(r"[^\W\d]\w*", quoted))
            yield from (f"`{name}` is not the user's" for name in names - words - OWN)


def checked(path: str, text: str, typed: int) -> list[str]:
    """The problems of everything that is said of a file; `typed` is the share with odd types."""
    module = SourceModule(text, path)
    words = set(re.findall(r"\w+", text))
    wrong = []
    for k, function in enumerate(module.functions):
        own = function.node.params
        count = len(own.posonly_params) + len(own.params) + len(own.kwonly_params)
        odd = ", ".join([TYPES[k // typed % len(TYPES)]] * count) if typed else None
        if typed and k % typed:
            continue
        for d in said(function, odd):
            wrong += [f"{path} {function.name}: {d.code} {d.message}: {p}"
                      for p in problems(function, d, words)]  # fmt: skip
    return wrong


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_is_refused_at_its_place(name: str) -> None:
    text = "import numpy as np\n" + BAD[name]
    assert said(SourceModule(text, "bad.py").functions[0])
    assert checked("bad.py", text, 0) == []


@pytest.mark.long
def test_every_diagnostic_of_the_corpus_is_short_placed_and_has_a_cure() -> None:
    files = sorted(CORPUS.rglob("*.py"))
    assert [p for f in files for p in checked(f.name, f.read_text("utf-8"), 3)] == []


def test_every_diagnostic_of_the_examples_is_short_placed_and_has_a_cure() -> None:
    files = [f for folder in (TESTS / "seeds", EXAMPLES) for f in folder.rglob("*.py")]
    assert [p for f in sorted(files) for p in checked(f.name, f.read_text("utf-8"), 0)] == []


def cases() -> list[str]:
    rules = [r for r in all_rules().values() if issubclass(r, ConverterRule)]
    return [bad.code for r in rules for bad in r.invalid()]


def test_the_rules_own_cases_are_reported_so() -> None:
    wrong = []
    for case in cases():
        try:
            wrong += checked("case.py", case, 0)
        except SyntaxError:
            continue  # PRT900's
    assert wrong == []


def converter_pages() -> list[str]:
    codes = [code for code in all_rules() if code.startswith("PRT90")]
    return [*codes, "PRT910", "PRT912", "PRT913", "PRT914"]


@pytest.mark.parametrize("code", converter_pages())
def test_the_example_of_a_page_is_reported_at_its_line(code: str) -> None:
    example = all_rules()[code].page().partition("## Example")[2].split("```")[1]
    text = "import hashlib, math\nimport numpy as np" + example.removeprefix("python")
    marked = [k for k, line in enumerate(text.split("\n"), 1) if f"# {code}" in line]
    if code in ("PRT910", "PRT913"):  # the comment itself is what is reported
        marked = [k for k, line in enumerate(text.split("\n"), 1) if "# porter:" in line]
    functions = tuple(re.findall(r"^def (\w+)", text, re.M))
    found = analyze(SourceFile("page.py", text), Selection((), ()), functions)
    assert marked[:1] == [d.span.line for d in found.diagnostics if d.code == code][:1]


def test_the_page_of_diagnostics_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.tools.make_diagnostics`"


def test_every_message_is_short_whatever_fills_it() -> None:
    texts = {m.text: re.sub(r"\{[^{}]*\}", "x" * 8, m.text) for m in messages()}
    assert [t for t, filled in texts.items() if len(filled) > MOST] == []


def test_every_refusal_has_a_help() -> None:
    # what stays on the host says why in its help, which the statement decides
    assert [m for m in messages() if m.code[3] == "9" and not m.help and m.code != "PRT912"] == []
