"""Functions that Numba's `stencil` decorates: what they become does what Numba's own do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.convert.files import ModuleOutcome
from porter.rules.engine import analyze
from porter.source.files import SourceFile
from tests.end_to_end.test_gufunc_input import convert, equal, outcome
from tests.support.modules import loaded
from tests.support.shell import Shell

SOURCE = """
import numpy as np
from numba import njit, stencil

EDGE = 1.5


@stencil
def average(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(cval=EDGE)
def upwind(a, w):
    if a[0] > w:
        return a[-1] + a[2]
    return w * a[0]


@stencil(neighborhood=((-3, 0),))
def moving(a):
    total = 0
    for i in range(-3, 1):
        total += a[i]
    return total / 4


@stencil
def edges(image):
    across = image[-1, 1] - image[-1, -1] + 2 * image[0, 1] - 2 * image[0, -1]
    return (across + image[1, 1] - image[1, -1]) // 3


@stencil
def powers(a):
    return a[0] ** 2 + a[1]


@stencil(standard_indexing=("w",))
def weigh(a, w):
    return a[-1] * w[0] + a[0] * w[1] + a[1] * w[2]


@njit
def limited(x):
    return max(x, 0.5)


@stencil("constant")
def wave(p, c, r):
    return limited(2 * c[0, 0]) - p[0, 0] + r * r * (c[-1, 0] + c[1, 0] - 2 * c[0, 0])


@stencil
def chosen(a):
    if a[0] > 6:
        return 0
    for k in range(3):
        if a[0] * k > 4:
            return k
    s = 0
    if a[1] > 2:
        s = a[1] * 3
    return s if a[0] > 1 else 2


@njit
def ahead(a):
    forward(a, out=a)
    return backward(a, out=a)


@stencil
def forward(a):
    return a[0] + a[1]


@stencil
def backward(a):
    return a[0] - 0.5 * a[-1]


@njit
def jacobi(a, steps):
    for _ in range(steps):
        a = average(a)
    return a


@njit
def step(p, c, f, r):
    wave(p, c, r, out=f)
    f[0, :] = 1.0
    return average(f) + f
"""
F8, F4 = np.float64, np.float32
#: arguments: a dtype and a shape, or a number
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "average": [((F8, (5, 7)),), ((F8, (2, 3)),), ((F8, (0, 4)),), ((F4, (4, 4)),)],
    "upwind": [((F8, (9,)), 0.25), ((F8, (3,)), 0.25), ((F8, (1,)), 0.25)],
    "moving": [((F8, (9,)),), ((F8, (3,)),), ((F8, (0,)),)],
    "weigh": [((F8, (6,)), (F8, (3,))), ((F8, (6,)), (F8, (4,)))],
    "wave": [((F8, (5, 4)), (F8, (5, 4)), 0.5), ((F8, (5, 4)), (F8, (6, 4)), 0.5)],
    "chosen": [((F8, (40,)),), ((F4, (40,)),)],
    "ahead": [((F8, (9,)),), ((F8, (1,)),)],
    "jacobi": [((F8, (8, 6)), 5), ((F8, (8, 6)), 0)],
    "step": [((F8, (5, 4)), (F8, (5, 4)), (F8, (5, 4)), 0.5)],
}
#: types that NumPy's operations would not give
TYPED = [
    ("edges", np.uint8, "uint8[:, :]"), ("edges", np.int32, "int32[:, :]"),
    ("edges", np.int64, "int64[:, :]"), ("edges", np.uint64, "uint64[:, :]"),
    ("edges", np.float32, "float32[:, :]"), ("powers", np.float32, "float32[:]"),
    ("powers", np.int16, "int16[:]"), ("powers", np.complex128, "complex128[:]"),
    ("average", np.int32, "int32[:, :]"), ("average", np.uint16, "uint16[:, :]"),
]  # fmt: skip


def made_of(asked: Any, rng: np.random.Generator) -> Any:
    """An array of a dtype and a shape; anything else as it is."""
    if not isinstance(asked, tuple):
        return asked
    dtype, shape = asked
    return (np.round(rng.uniform(0, 9, size=shape) * 4) / 4).astype(dtype)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ModuleOutcome:
    return convert(tmp_path_factory.mktemp("stencils"), SOURCE, "loops")


@pytest.fixture(scope="module")
def original(made: ModuleOutcome) -> Any:
    return loaded(Path(made.output).with_name("source.py"))


def test_loops_do_what_numbas_own_does(made: ModuleOutcome, original: Any) -> None:
    module = loaded(Path(made.output))
    rng = np.random.default_rng(5)
    for name, calls in CALLS.items():
        for call in calls:
            args = [made_of(asked, rng) for asked in call]
            again = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
            expected = outcome(getattr(original, name), *args)
            assert equal(expected, outcome(getattr(module, name), *again)), (name, call)
            assert all(np.array_equal(a, b) for a, b in zip(args, again, strict=True))


def test_results_go_into_out(made: ModuleOutcome, original: Any) -> None:
    module = loaded(Path(made.output))
    rng = np.random.default_rng(6)
    for name, given in (("average", [(F8, (5, 7))]), ("upwind", [(F8, (9,)), 0.25])):
        args = [made_of(asked, rng) for asked in given]
        one, other = (np.full_like(args[0], 7.0) for _ in range(2))
        getattr(original, name)(*args, out=one)
        assert getattr(module, name)(*args, out=other) is other
        np.testing.assert_array_equal(one, other)  # `cval` is stored only where it is given


@pytest.mark.parametrize(("name", "dtype", "signature"), TYPED)
def test_numbers_have_numbas_types(
    original: Any, tmp_path: Path, name: str, dtype: Any, signature: str
) -> None:
    made = convert(tmp_path, SOURCE, "loops", functions=(name,), signature=signature)
    a = made_of((dtype, (6, 5) if ", :" in signature else (6,)), np.random.default_rng(7))
    expected = outcome(getattr(original, name), a)
    assert equal(expected, outcome(getattr(loaded(Path(made.output)), name), a))


@pytest.mark.parametrize(
    "names",
    [("average",), pytest.param(("average", "moving", "step"), marks=pytest.mark.long)],
    ids=len,
)
def test_kernels_of_it_are_verified(shell: Shell, names: tuple[str, ...]) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", *(f"-f{n}" for n in names), verify=True) == 0
    text = (shell.folder / "f_cuda.py").read_text()
    assert "1 <= i < a.shape[0] - 1" in text
    assert "# return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])" in text


def test_it_is_analyzed_as_what_numba_compiles() -> None:
    found = analyze(SourceFile("f.py", SOURCE), everything=True)
    assert not found.diagnostics
    verdicts = {v.name: (v.verdict, v.stage) for v in found.functions}
    assert verdicts["average"] == ("convertible", "nopython")


REFUSED = {
    "    return a[0] + a[k]": "the offset `a[k]` of the stencil is not constant",
    "    return a[0, 1]": "`a[0, 1]` has 2 offsets for 1 dimensions",
    "    return a[-1:2].sum()": "the offset `a[-1:2]` of the stencil is not constant",
    "    a[0] = 1.0\n    return a[1]": "a stencil reads its arguments only",
    "    return a": "is not a number or an array",
    "    b = a[0]": "the stencil `f` returns nothing on some path",
}


DECORATED = {
    '@stencil("wrap")\ndef f(a):\n    return a[1]': "the only mode of a stencil is `constant`",
    "@stencil\ndef f(a, out):\n    return a[1]": "a parameter `out`, which Numba adds itself",
    "@stencil\ndef f(w, a):\n    return a[1]": "the first argument of the stencil `f`",
    "@stencil(neighborhood=((0, 1), (0, 1)))\ndef f(a):\n    return a[1]": "is not 1 pairs",
    "@stencil\ndef s(a):\n    return a[1]\n\n\ndef f(a):\n"
    "    return s(a, neighborhood=((0, 1),))": "called with `neighborhood=`",
}


@pytest.mark.parametrize("text", DECORATED)
def test_what_a_decorator_cannot_say_is_refused(shell: Shell, text: str) -> None:
    shell.write("f.py", f"from numba import stencil\n\n\n{text}\n")
    types = "float64, float64[:]" if "(w, a)" in text else "float64[:]"
    types += ", float64[:]" if "(a, out)" in text else ""
    assert shell.convert("f.py", "-f", "f", "--signature", types) == 1
    assert DECORATED[text] in shell.out + shell.err


@pytest.mark.parametrize("body", REFUSED)
def test_what_numba_refuses_is_refused(shell: Shell, body: str) -> None:
    shell.write("f.py", f"from numba import stencil\n\n\n@stencil\ndef f(a, k):\n{body}\n")
    assert shell.convert("f.py", "--signature", "float64[:], int64") == 1
    assert REFUSED[body] in shell.out + shell.err


def test_cupy_has_none(shell: Shell) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", "-f", "jacobi", "--target", "cupy") == 1
    assert "a stencil, which CuPy does not have" in shell.out + shell.err
