"""What callers say of a function's arguments, read and never executed."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from porter.inference.call_sites import own_calls
from porter.inference.static_values import Evaluator
from porter.inference.values import as_array

EXPRESSIONS = [
    "np.zeros((3, 4), np.float32)", "np.zeros(5)", "np.random.rand(5, 3)", "np.array([1, 2])",
    "np.array([[1.0, 2], [3, 4]])", "np.linspace(0, 1, 9)", "np.arange(4)", "np.arange(4.0)",
    "np.ones((2, 3)).astype('float32')", "np.arange(3)[:, None]", "np.ones((2, 3, 4))[0]",
    "np.ones((2, 3))[:, 1:]", "np.ones((2, 3))[..., None]", "np.ones(3) * 2 + np.ones((2, 1))",
    "np.arange(3) / 2", "np.arange(3) > 1", "np.ones((2, 3)).sum(axis=0)", "np.ones((2, 3)).T",
    "np.ones((2, 3)).mean(axis=1, keepdims=True)", "np.full((2, 2), 3)", "np.eye(3)",
    "np.random.default_rng(0).normal(size=(2, 3))", "np.random.default_rng(0).integers(0, 9, 4)",
    "np.ones(4).reshape(2, 2)", "np.sin(np.arange(3))", "np.where(np.ones(3) > 0, 1, 2.0)",
    "np.stack([np.ones(3), np.zeros(3)])", "np.ones(3, dtype=complex).real", "[[1, 2], [3, 4]]",
    "np.ones((2, 3)) @ np.ones((3, 4))", "np.ones((2, 3)) @ np.ones(3)", "-np.ones(3)",
    "np.ones((3, 3))[np.arange(2)]", "np.ones((3, 3))[np.ones(3) > 0]", "np.zeros_like(np.ones(3))",
    "np.ones((2, 2), bool)", "np.concatenate([np.ones(2), np.arange(2)])", "np.pi * np.ones(2)",
    "[x / 2 for x in range(3)]",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_what_numpy_makes_of_it(text):
    expected = np.asarray(eval(text, {"np": np}))
    found = as_array(Evaluator({"np": "numpy"}, {})(ast.parse(text, mode="eval").body))
    assert found is not None
    assert (found.dtype, found.ndim) == (expected.dtype.name, expected.ndim)


@pytest.mark.parametrize(
    "text",
    ["load('x.npy')", "np.load('x.npy')", "np.ones(shape)", "frame.values", "np.ones(3)[k]",
     "np.arange(n)", "np.ones(*shape)", "[np.ones(2), np.ones((2, 2))]"],
)  # fmt: skip
def test_what_cannot_be_told_says_nothing(text):
    assert as_array(Evaluator({"np": "numpy"}, {})(ast.parse(text, mode="eval").body)) is None


def arguments(source: str) -> list[tuple[str, ...]]:
    calls = own_calls(source, "mine.py", ("mine",), {"f"}).calls.get("f", [])
    return [
        tuple("?" if v is None else f"{v.kind} {v.dtype} {v.ndim}".strip() for v in c.positional)
        for c in calls
    ]


HEAD = "import numpy as np\ndef f(x, n): return x\n"


def test_names_are_followed_through_assignments_branches_and_loops():
    source = HEAD + (
        "def main(n):\n"
        "    x = np.ones((n, n))\n"
        "    f(x, 1)\n"
        "    x = x[0]\n"
        "    f(x, 2.0)\n"
        "    if n:\n"
        "        x = np.ones((2, 2, 2))\n"
        "    f(x, 3)\n"
        "    for row in np.ones((4, 3)):\n"
        "        f(row, n)\n"
    )
    assert arguments(source) == [
        ("array float64 2", "scalar int64 0"),
        ("array float64 1", "scalar float64 0"),
        ("?", "scalar int64 0"),
        ("array float64 1", "?"),
    ]


def test_pytest_gives_parameters_their_values():
    source = HEAD + (
        "import pytest\n"
        "@pytest.fixture\n"
        "def data():\n"
        "    return np.ones((3, 3), np.float32)\n"
        "@pytest.mark.parametrize('k, m', [(1, 2.0), (np.ones(2), 3)])\n"
        "def test(data, k, m):\n"
        "    f(data, k)\n"
        "    f(m, 0)\n"
    )
    assert arguments(source) == [
        ("array float32 2", "scalar int64 0"),
        ("scalar float64 0", "scalar int64 0"),
        ("array float32 2", "array float64 1"),
        ("scalar int64 0", "scalar int64 0"),
    ]


def test_examples_of_docstrings_are_calls():
    source = 'import numpy as np\ndef f(x):\n    """Twice.\n\n    >>> f(np.ones((2, 2)))\n    """\n'
    calls = own_calls(source, "mine.py", ("mine",), {"f"}).calls["f"]
    assert [c.shown for c in calls] == ["line 5: f(np.ones((2, 2)))"]
    assert arguments(source) == [("array float64 2",)]


def test_another_function_of_that_name_is_no_call():
    assert arguments(HEAD + "from other import f\nf(np.ones(3), 1)\n") == []
    assert arguments(HEAD + "def g(f):\n    f(np.ones(3), 1)\n") == []
    assert arguments(HEAD + "thing.f(np.ones(3), 1)\n") == []
