"""Which refusals are findings: what a loop over elements shows, not what rests on guesses."""

from __future__ import annotations

import pytest

from porter.rules.engine import analyze
from porter.source.files import SourceFile

HEAD = "import hashlib\nimport numpy as np\nimport mine\n\n\n"


def said(body: str, *names: str) -> tuple[list[str], list[str]]:
    """Codes found in a function, and the reasons of its verdict that are not findings."""
    result = analyze(SourceFile("a.py", HEAD + body), names=names)
    return [d.code for d in result.diagnostics], [f.because for f in result.functions]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (
            "def f(x):\n    for i in range(1, len(x)):\n        x[i] = x[i] / x[i - 1] ** 2\n",
            "PRT904",
        ),
        (
            "def f(x):\n    for i in range(len(x)):\n        x[i] = x[i] ** 2\n"
            "    return hashlib.md5(x).digest()\n",
            "PRT901",
        ),
    ],
)
def test_what_the_source_shows_of_a_loop_is_a_finding(body: str, code: str) -> None:
    codes, because = said(body)
    assert code in codes
    assert because == [""]


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return np.roots(x)\n",
        "def f(x):\n    if isinstance(x, np.ndarray):\n        return mine.g(x)\n    return None\n",
        "def f(names):\n    table = {}\n    for n in names:\n        table[n] = np.zeros(3)\n",
        "def f(x, mode):\n    if mode != 'fast':\n        raise ValueError(mode)\n"
        "    return np.sin(x) + mine.filtered(x)\n",
        "class A:\n    def f(self, x):\n        self.items.append(np.sin(x))\n",
        "def f(x):\n    return np.dtype(x).char in 'Mm'\n",
    ],
)
def test_what_rests_on_guesses_is_part_of_the_verdict(body: str) -> None:
    codes, because = said(body)
    assert codes == []
    assert all(because) and because[0].startswith("line ")


def test_who_asks_for_a_function_is_told() -> None:
    body = "def f(x, mode):\n    if isinstance(x, np.ndarray):\n        return mine.g(x)\n"
    codes, because = said(body, "f")
    assert codes == ["PRT902"] or codes == ["PRT901"]
    assert because == [""]


@pytest.mark.parametrize(
    ("hints", "found"),
    [("x: 'float64[:]', n: int", ["PRT902"]), ("x: int, n: int", []), ("x: 'np.ndarray', n", [])],
)
def test_hints_that_say_every_type_count_if_an_array_is_among_them(
    hints: str, found: list[str]
) -> None:
    codes, because = said(f"def f({hints}):\n    table = {{n: x}}\n    return np.sum(table[n])\n")
    assert codes == found
    assert bool(because[0]) is not bool(found)


def test_the_text_of_a_foreign_decorator_is_no_signature() -> None:
    body = "@mine.deprecated('use `g` (it is faster)')\ndef f(x):\n    return np.sin(x) * 2\n"
    result = analyze(SourceFile("a.py", HEAD + body))
    # what it does to the function is not known
    assert [f.verdict for f in result.functions] == ["refused"]
    assert result.functions[0].reasons
