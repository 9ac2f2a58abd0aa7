"""Which functions take any number of leading axes, found by lowering them again."""

from __future__ import annotations

import ast

import pytest

from porter.analyses.leading_axes import LeadingAxes
from porter.convert.function import convert_function
from porter.source.module import SourceModule


def leading(body: str, signature: str) -> LeadingAxes | None:
    lines = "\n".join(f"    {line}" for line in body.split("; "))
    names = "xyz"[: signature.count("[")]
    source = f"import numpy as np\n\ndef f({', '.join(names)}):\n{lines}\n"
    function = SourceModule(source, "f.py").functions[0]
    return convert_function(function, signature).plan.leading


ONE, TWO = "float64[:, :]", "float64[:, :], float64[:, :]"


@pytest.mark.parametrize(
    "body",
    [
        "return x - x.max(axis=-1, keepdims=True)",
        "return x / np.sqrt((x * x).sum(axis=-1))[..., None]",
        "return x[..., 1:] - x[..., :-1]",
        "n = x.shape[-1]; return x.sum(axis=-1) / n",
        "return np.argmax(x, axis=-1)",
        "return np.stack([x.min(axis=-1), x.max(axis=-1)], axis=-1)",
        # all elements are all elements, however they are laid out
        "return x / x.max()",
    ],
)
def test_what_never_counts_axes_from_the_left_is_generic(body: str) -> None:
    found = leading(body, ONE)
    assert found is not None
    assert found.arrays == ("x",)
    assert found.least == 0


@pytest.mark.parametrize(
    "body",
    [
        "return x - x.max(axis=1, keepdims=True)",
        "return x[1:] - x[:-1]",
        "return x[::-1] * 2",
        "return x.sum(axis=-1) / x.shape[0]",
        "return x.sum(axis=-1) / len(x)",
        "return x.sum(axis=0) * 2",
        "return x.T * 2",
        "return x.reshape(-1, 4) * 2",
        "return np.zeros(x.shape[0]) + x.sum(axis=-1)",
        # decided by the number of dimensions, which no comparison of two of them can tell
        "if x.ndim > 3:; return x * 2; return x.sum(axis=-1)".replace(":; ", ":;     "),
        "if len(x.shape) > 3:; return x * 2; return x.sum(axis=-1)".replace(":; ", ":;     "),
        # the caller's array would be changed through a copy
        "x -= x.mean(axis=-1, keepdims=True); return x.sum(axis=-1)",
    ],
)
def test_what_counts_axes_from_the_left_is_not(body: str) -> None:
    assert leading(body, ONE) is None


def test_an_axis_less_is_another_question() -> None:
    # NumPy has no axis -2 in one dimension
    found = leading("return x[..., 1:] - x[..., :-1] + x.sum(axis=-2, keepdims=True).mean()",
                    "float64[:, :, :]")  # fmt: skip
    assert found is not None
    assert found.least == 0
    assert leading("return np.expand_dims(x, -2) * 2", "float64[:]") is None
    kept = leading("return np.atleast_1d(x) * x.sum()", "float64[:]")
    assert kept is not None
    assert kept.least == 1


@pytest.mark.parametrize(
    ("body", "fixed"),
    [
        ("return (x * y).sum(axis=-1)", ()),
        ("return np.concatenate([x * y, y * x], axis=-1)", ()),
        # NumPy does not broadcast what it joins, and each result has its own shape
        ("return np.concatenate([x, y], axis=-1)", ("x", "y")),
        ("z = x * y; return np.concatenate([z, x], axis=-1)", ("x",)),
        ("return x * 2 - x.max(axis=-1, keepdims=True), (x * y).sum(axis=-1)", ("x",)),
        # the sum of an array that was repeated is another one
        ("return (x * y).sum(axis=-1) / y.sum()", ("y",)),
    ],
)
def test_leading_axes_broadcast_where_the_results_say_so(
    body: str, fixed: tuple[str, ...]
) -> None:  # fmt: skip
    found = leading(body, TWO)
    assert found is not None
    assert found.arrays == ("x", "y")
    assert found.fixed == fixed


def test_an_argument_without_the_axis_stays_as_it_is() -> None:
    found = leading("return (x * y).sum(axis=-1)", "float64[:, :], float64[:]")
    assert found is not None
    assert found.arrays == ("x",)


def test_the_place_of_the_axis_in_a_result() -> None:
    found = leading("return np.stack([x.min(axis=-1), x.max(axis=-1)])", ONE)
    assert found is not None
    assert found.results == (("out", 1),)


def test_an_array_that_a_variable_may_mean_is_kept_whole() -> None:
    # `p` means x in later iterations, so that x counts as stored into
    source = """import numpy as np

def f(x, n: int):
    p, q = np.ones_like(x), x
    for k in range(2, n + 1):
        p, q = q, (k * x * q - p) / k
    return q
"""
    function = SourceModule(source, "f.py").functions[0]
    made = convert_function(function, "float64[:], int64")
    assert made.plan.leading is not None
    host = ast.parse(made.text.parts[-1])
    (f,) = [s for s in host.body if isinstance(s, ast.FunctionDef) and s.name == "f"]
    names = [x for x in ast.walk(f) if isinstance(x, ast.Name)]
    stored = {x.id for x in names if isinstance(x.ctx, ast.Store)} | {a.arg for a in f.args.args}
    local = {x.id for x in names if x.id.startswith(("whole_", "d_"))}
    assert local <= stored
