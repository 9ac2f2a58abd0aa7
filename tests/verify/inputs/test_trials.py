"""Inputs that an original takes, found by trying."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.dtypes.signatures import parse_types
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.checks.drawing import fitted
from porter.verify.checks.trials import Taken, made_definite, search
from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.hints import hints
from porter.verify.run import verify_module


def found(names: str, takes: str) -> list[Taken]:
    """What a search finds for an original that raises unless an expression is true."""

    def raises(taken: Taken) -> BaseException | None:
        return None if eval(takes, {}, dict(taken.sizes)) else ValueError()

    return search(names.split(), raises, np.random.default_rng(0))


def test_what_depends_on_nothing_may_be_larger() -> None:
    (taken,) = found("n m k", "k == 3")
    assert dict(taken.sizes)["k"] == 3 and taken.groups == (("n",), ("m",))
    assert taken.fitted({"n": 40, "m": 1, "k": 7})["n"] == 40
    assert taken.fitted({"n": 40, "m": 1, "k": 7})["k"] == 3


def test_what_is_one_number_is_made_larger_together() -> None:
    taken = found("a b c m", "a == b == c")[0]
    assert set(taken.groups) == {("m",), ("a", "b", "c")}
    fitted = taken.fitted({"a": 17, "b": 5, "m": 3})
    assert fitted["a"] == fitted["b"] == fitted["c"] == 17


def test_what_differs_by_a_number_is_made_larger_together() -> None:
    taken = found("a b n", "a == b == n + 2")[0]
    assert taken.groups == (("a", "b", "n"),)
    fitted = taken.fitted({"a": 17, "b": 5})
    assert (fitted["a"], fitted["b"], fitted["n"]) == (17, 17, 15)


def test_an_original_that_takes_nothing() -> None:
    assert found("n m", "False") == []


def test_matrices_are_made_positive_definite() -> None:
    x = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    row = np.ones((2, 3))
    inputs = made_definite(Inputs((Argument("x", x), Argument("row", row))))
    made, same = (a.value for a in inputs.arguments)
    assert made.dtype == x.dtype and same is row
    np.linalg.cholesky(made)


@pytest.mark.parametrize("call", ["np.choose(k, [a, b, c])", "k.choose((a, b, c))"])
def test_choices_tell_which_positions_there_are(call: str) -> None:
    tree = ast.parse(f"def f(k, a, b, c):\n    return {call}").body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert len(hints(tree).conditions) == 2


SQUARE = "def f(a):\n    a[:] = np.linalg.cholesky(a) + np.triu(a, k=1)\n"
CHOICES = "def f(k, a, b):\n    return np.choose(k, [a, b])\n"
FUNCTIONS = {
    "a matrix for Cholesky": (SQUARE, "float64[:, :]"),
    "choices": (CHOICES, "int64[:], float64[:], float64[:]"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_enough_cases_give_results(tmp_path: Path, name: str) -> None:
    text, signature = FUNCTIONS[name]
    source = tmp_path / "f.py"
    source.write_text("import numpy as np\n\n" + text)
    options = ConvertOptions((str(source),), signature=signature, verify=False)
    made = convert_file(
        read(str(source)), options, Config(), tmp_path / "f_cuda.py", lambda _: None
    )
    assert made.text is not None, made
    (evidence,) = verify_module(tmp_path / "f_cuda.py", text=made.text, on=("simulator",))
    assert evidence.verified, evidence.why
    assert evidence.evidence[0].detail["values"] >= 12


CONVOLVED = """
import numpy as np


def layers(x, first, second, weights, count, width):
    for kernel in (first, second):
        rows = np.empty((x.shape[0], x.shape[1] - kernel.shape[0] + 1, kernel.shape[2]))
        for i in range(rows.shape[1]):
            window = x[:, i : i + kernel.shape[0], :, np.newaxis]
            rows[:, i, :] = np.sum(window * kernel[np.newaxis], axis=(1, 2))
        x = rows[:, : rows.shape[1] // 2 * 2 : 2, :]
    return np.reshape(x, (count, width)) @ weights
"""


def test_an_original_of_many_sizes_that_get_it_further_one_by_one(tmp_path: Path) -> None:
    source = tmp_path / "layers.py"
    source.write_text(CONVOLVED)
    space: dict[str, Any] = {}
    exec(compile(CONVOLVED, str(source), "exec"), space)
    tries: list[Taken] = []

    def raises(taken: Taken) -> BaseException | None:
        tries.append(taken)
        s = dict(taken.sizes)
        shapes = ["n m k", "p k q", "r q s", "c v"]
        arrays = (np.ones([s[a] for a in shape.split()]) for shape in shapes)
        try:
            space["layers"](*arrays, s["count"], s["width"])
        except Exception as error:
            return error
        return None

    names = ["n", "m", "k", "p", "q", "r", "s", "c", "v", "count", "width"]
    for seed in range(4):
        found = search(names, raises, np.random.default_rng(seed), str(source))
        assert found and raises(found[0]) is None
        sizes = dict(found[0].sizes)
        assert sizes["c"] == sizes["width"] > 0 and sizes["count"] > 0
        assert any("q" in group for group in found[0].groups)
    # what says nothing of how far it got is not climbed
    assert search(names, lambda _: ValueError(), np.random.default_rng(0), str(source)) == []


def test_an_original_of_many_sizes_is_verified(tmp_path: Path) -> None:
    source = tmp_path / "layers.py"
    source.write_text(CONVOLVED)
    types = "float64[:, :, :], float64[:, :, :], float64[:, :, :], float64[:, :], int64, int64"
    options = ConvertOptions((str(source),), signature=types, verify=False)
    path = tmp_path / "layers_cuda.py"
    made = convert_file(read(str(source)), options, Config(), path, lambda _: None)
    assert made.text is not None
    (proof,) = verify_module(path, text=made.text, on=("simulator",))
    assert proof.verified, proof.mismatch or proof.evidence


@pytest.mark.parametrize("exact", [False, True])
def test_what_grows_together_has_no_more_elements_than_its_case_may(exact: bool) -> None:
    (cube,) = parse_types("float64[:, :, :]")
    parameters = [Parameter("x", cube, ("n", "m", "k"))]
    taken = Taken((("n", 4), ("m", 5), ("k", 5)), (("n", "m", "k"),))
    spec = CaseSpec(("55",), exact=exact)
    sizes = fitted(taken, {"n": 55, "m": 5, "k": 5}, parameters, spec)
    assert sizes == ({"n": 55, "m": 56, "k": 56} if exact else {"n": 14, "m": 15, "k": 15})
    assert exact or math.prod(sizes.values()) <= spec.points
