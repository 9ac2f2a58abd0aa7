"""Axes of size 1 inside of a function: one kernel, and strides that the host sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from porter import ir
from porter.codegen.module.module import module_text
from porter.convert.function import Converted, convert_function
from porter.convert.verification import verified_by
from porter.ir.interp import run
from porter.source.module import SourceModule
from porter.verify.evidence import Evidence, FunctionEvidence, Mismatch
from tests.corpus.check import compare

QUATERNION = """
import numpy as np

def f(q, r):
    w = q[..., 3:] * r[..., 3:] - np.sum(q[..., :3] * r[..., :3], axis=-1, keepdims=True)
    v = q[..., 3:] * r[..., :3] + r[..., 3:] * q[..., :3] + np.cross(q[..., :3], r[..., :3])
    return np.concatenate([v, w], axis=-1)
"""
STANDS_ALONE = """
import numpy as np

def f(x, y):
    return (x - x.sum(axis=0)) * y, y.sum(axis=0)
"""


def converted(source: str, signature: str) -> Converted:
    return convert_function(SourceModule(source, "f.py").functions[0], signature)


def differs(made: Converted, source: str, shapes: list[tuple[int, ...]], *numbers: int) -> str:
    scope: dict[str, object] = {}
    exec(source, scope)
    rng = np.random.default_rng(0)
    arguments = (*(rng.random(s) for s in shapes), *numbers)
    return compare(scope["f"], lambda *a: run(made.program, a), arguments)  # type: ignore[arg-type]


def lets(made: Converted) -> list[str]:
    return [s.name for s in made.program.body if isinstance(s, ir.Let)]


def test_a_slice_of_length_1_meets_longer_ones() -> None:
    made = converted(QUATERNION, "float64[:, :], float64[:, :]")
    assert lets(made) == ["step"]
    for m in (4, 6):
        assert differs(made, QUATERNION, [(5, m), (5, m)]) == ""
    # NumPy raises, and so does the host
    for m in (2, 3, 5, 7):
        assert differs(made, QUATERNION, [(5, m), (5, m)]) == ""


def test_the_length_that_the_host_tests_is_a_number_in_the_kernels() -> None:
    made = converted(QUATERNION, "float64[:, :], float64[:, :]")
    assert "range(3)" in "".join(made.text.parts[:-1])


def test_a_slice_beside_a_whole_array_needs_no_stride() -> None:
    source = "def f(x, y):\n    return x[1:] * y[1:] - x[:-1]\n"
    assert lets(converted(source, "float64[:], float64[:]")) == []


def test_an_array_that_stands_alone_is_broadcast_either_way() -> None:
    made = converted(STANDS_ALONE, "float64[:, :], float64[:, :]")
    assert made.beside is not None
    for shapes in ([(5, 3), (5, 3)], [(5, 3), (1, 3)], [(1, 3), (5, 3)], [(5, 1), (5, 3)],
                   [(5, 3), (5, 1)], [(1, 1), (5, 3)], [(0, 3), (1, 3)], [(5, 3), (4, 3)],
                   [(5, 2), (5, 3)]):  # fmt: skip
        assert differs(made.beside, STANDS_ALONE, shapes) == "", shapes


def test_a_value_of_length_1_is_stored_along_an_axis() -> None:
    source = "def f(x, y):\n    x[...] = y - y.sum()\n"
    made = converted(source, "float64[:], float64[:]")
    for shapes in ([(5,), (5,)], [(5,), (1,)], [(1,), (1,)], [(5,), (4,)], [(1,), (5,)]):
        assert differs(made, source, shapes) == "", shapes


def test_what_is_stored_into_has_the_whole_length() -> None:
    source = (
        "def f(x, y):\n    y[1:] -= 0.5 * (x[1:] - x[:-1])\n    x[:-1] += y[1:]\n    return x\n"
    )
    assert lets(converted(source, "float64[:], float64[:]")) == []


STORES = """
import numpy as np

def f(x, y, n):
    for _ in range(n):
        x[::2] = 0.5 * x[::2] + y[::2]
    return x.sum(), x
"""


def host(made: Converted) -> str:
    return made.text.parts[-1]


def test_kernels_beside_serve_what_is_stored_into() -> None:
    made = converted(STORES, "float64[:], float64[:], int64")
    assert made.beside is not None and lets(made) == []
    assert "    return _f_broadcast(*given, stream=stream)" in host(made)
    for shapes in ([(5,), (5,)], [(5,), (1,)], [(5,), (2,)], [(1,), (1,)], [(1,), (5,)],
                   [(0,), (1,)], [(5,), (3,)]):  # fmt: skip
        assert differs(made.beside, STORES, shapes, 2) == "", shapes


def test_kernels_beside_take_the_same_dtypes() -> None:
    made = converted(STORES, "float64[:], float64[:], int64")
    assert made.beside is not None and made.also == made.beside.also
    assert made.also == ("float32[:], float32[:], int64",)
    assert all('"float32 float64"' in text.parts[-1] for text in made.texts)


def test_the_usual_kernels_have_no_strides() -> None:
    made = converted(STORES, "float64[:], float64[:], int64")
    assert "step" not in "".join(made.text.parts[:-1])


def test_a_branch_that_does_not_run_asks_for_no_lengths() -> None:
    source = "def f(x, y, n):\n    if n > 2:\n        x[::2] += y[::2]\n    return x\n"
    made = converted(source, "float64[:], float64[:], int64")
    assert made.beside is not None
    for n in (2, 3):
        assert differs(made.beside, source, [(5,), (3,)], n) == "", n


def test_nothing_is_beside_lengths_that_are_1_in_short_arrays_only() -> None:
    source = "def f(x, y):\n    x[1:-1] += y[1:-1]\n    return x\n"
    assert converted(source, "float64[:], float64[:]").beside is None


ONE_WAY = "def f(x, y):\n    return y[:, ::-1] * y, y[:, ::-1] * x[::-1]\n"


def test_an_axis_that_is_widened_may_be_the_longer_one() -> None:
    made = converted(ONE_WAY, "float64[:, :], float64[:, :]")
    assert [str(d) for d, _ in made.plan.widened] == ["x.shape[1]", "x.shape[0]"]
    assert made.beside is not None
    for shapes in ([(4, 3), (4, 1)], [(4, 3), (1, 3)], [(4, 3), (1, 1)], [(1, 3), (4, 1)],
                   [(4, 3), (0, 1)], [(4, 3), (4, 2)], [(1, 1), (4, 3)]):  # fmt: skip
        assert differs(made.beside, ONE_WAY, shapes) == "", shapes


def test_long_kernels_are_written_again_for_an_axis_that_stands_alone() -> None:
    source = "def f(x, y):\n    return y / y.sum(axis=1)[:, None], y[:, ::-1] * x[::-1]\n"
    made = converted(source, "float64[:, :], float64[:, :]")
    assert made.plan.widened and made.beside is not None


def test_the_target_of_a_store_is_as_long_as_it_is() -> None:
    source = "import numpy as np\n\ndef f(x, u, v):\n    x += np.outer(u, v)\n"
    made = converted(source, "float64[:, :], float64[:], float64[:]")
    assert made.plan.widened and made.beside is None


@pytest.mark.parametrize("before", ["", "    y += x\n"])
def test_what_out_is_given_is_not_repeated(before: str) -> None:
    """Only ufuncs repeat what they store: np.cumsum raises."""
    source = f"import numpy as np\n\ndef f(x, y):\n{before}    np.cumsum(x, out=y)\n"
    made = converted(source, "float64[:], float64[:]")
    for served in (made, *([] if made.beside is None else [made.beside])):
        for shapes in ([(1,), (4,)], [(4,), (1,)], [(1,), (1,)]):
            assert differs(served, source, shapes) == "", shapes


def test_what_a_store_picks_is_not_repeated() -> None:
    # np.minimum.at(new, i, old[j]) raises where j is longer than i
    source = """import numpy as np

def f(i, j, n):
    old = np.arange(n)
    while True:
        new = old.copy()
        np.minimum.at(new, j, old[i])
        np.minimum.at(new, i, old[j])
        if np.all(new == old):
            break
        old = new
    return old
"""
    assert not converted(source, "int64[:], int64[:], int64").plan.widened
    one_way = source.replace("        np.minimum.at(new, i, old[j])\n", "")
    found = converted(one_way, "int64[:], int64[:], int64").plan.widened
    assert [str(d) for d, _ in found] == ["i.shape[0]"]


@pytest.mark.parametrize(
    "line",
    [
        "x[1:] = y[1:2]",
        "x[1:] = x[:1]",
        "x[1:] = y[-1:]",
        "x[:] = y[-2:-1]",
        "x[1:] += y[-1:]",
        "x[:-1] -= 2 * x[-1:]",
    ],
)
def test_a_slice_of_one_element_is_repeated(line: str) -> None:
    """It has none where the array is too short: then there must be none to store into."""
    source = f"def f(x, y):\n    {line}\n    return x\n"
    made = converted(source, "float64[:], float64[:]")
    for n, k in itertools.product(range(5), range(4)):
        assert differs(made, source, [(n,), (k,)]) == "", (n, k)


def test_a_column_is_repeated() -> None:
    source = "def f(x, y):\n    x[1:, 1:] = y[1:, -1:]\n    return x - y[:, -1:]\n"
    made = converted(source, "float64[:, :], float64[:, :]")
    for n, m, k in itertools.product(range(4), range(4), range(1, 4)):
        assert differs(made, source, [(n, m), (n, k)]) == "", (n, m, k)


DEAD = """
import numpy as np

def f(x, y):
    if x[0] > 0.5:
        y[:] = 2.0 * y
        x = np.sqrt(y)
    return y
"""


def test_a_name_that_nobody_reads_again_may_change_its_shape() -> None:
    made = converted(DEAD, "float64[:], float64[:]")
    for shapes in ([(3,), (3,)], [(1,), (4,)], [(4,), (1,)], [(3,), (2,)], [(2,), (0,)]):
        assert differs(made, DEAD, shapes) == "", shapes


@pytest.mark.parametrize(
    "line",
    ["return x.sum()", "return (lambda: x.sum())()", "for _ in range(2):\n        y += x[0]"],
)
def test_a_name_that_is_read_again_has_one_shape(line: str) -> None:
    source = DEAD.replace("return y", line)
    made = converted(source, "float64[:], float64[:]")
    for shapes in ([(3,), (3,)], [(1,), (1,)], [(0,), (0,)]):
        assert differs(made, source, shapes) == "", shapes


def test_each_form_has_its_own_beside() -> None:
    forms = ["float64[:], float64[:], int64", "float64[:, :], float64[:, :], int64"]
    made = convert_function(SourceModule(STORES, "f.py").functions[0], forms)
    besides = [v.beside.plan.name for v in made.variants if v.beside is not None]
    assert besides == ["_f_1d_1d_broadcast", "_f_2d_2d_broadcast"]
    module_text(made.texts, "f.py")
    assert len(made.texts) == 5


def test_what_fails_beside_is_left_out() -> None:
    made = converted(STORES, "float64[:], float64[:], int64")
    failed = Mismatch("value", "0.0 instead of 1.0", signature=made.signature)

    def verify(text: str) -> list[FunctionEvidence]:
        wrong = "_broadcast" in text
        evidence = Evidence("simulator", "failed" if wrong else "passed", 24)
        return [FunctionEvidence("f", [evidence], failed if wrong else None)]

    done = verified_by([made], lambda c: module_text(c[0].texts, "f.py"), verify)
    (good,) = done.good
    assert good.beside is None and good.without == (made.signature,)
    assert "could not be broadcast together" in host(good)
    assert [o.what for o in done.left_out["f"]] == ["broadcasting of an axis of size 1"]
    assert made.leaving_out(good.without).text == good.text
