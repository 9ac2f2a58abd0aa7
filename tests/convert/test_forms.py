"""A function whose callers differ has several forms, and chooses among them at each call."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.cli import main
from porter.codegen.module.header import Form, parse
from porter.commands.convert import run
from porter.convert.function import convert_function
from porter.convert.served.accepts import accepted
from porter.diagnostics import UsageError
from porter.inference.types import parse_signature
from porter.options import ConvertOptions
from porter.source.module import SourceModule
from tests.support.shell import Shell

PRICES = """import numpy as np


def bond_prices(rates, coupon=5.0, years=2):
    price = 100.0 / (1.0 + rates) ** years
    for t in range(1, years + 1):
        price = price + coupon / (1.0 + rates) ** t
    return price


def by_terms(rates, coupon=5.0, years=2):
    t = np.arange(1, years + 1)
    return (coupon / (1.0 + rates[:, None]) ** t).sum(axis=1)
"""
SOURCE = '''import numpy as np


def normalize(x):
    """Rows that sum to one."""
    return x / x.sum(axis=x.ndim - 1, keepdims=True)


def spec(y, n_fft=None, mode="a"):
    if n_fft is None:
        n_fft = 3
    z = y.cumsum() * n_fft
    if mode == "b":
        z = z + 1.0
    return z


def total(x, axis=0, flag=False):
    s = x.sum(axis=axis)
    if flag:
        s = s * 2.0
    return s


def shifted(x, *, by=None):
    if by is None:
        return x - x.mean()
    return x - by.mean()


if __name__ == "__main__":
    normalize(np.ones((3, 4)))
    normalize(np.ones(4))
    spec(np.ones(7), 5)
    spec(np.ones(7))
    spec(np.ones(7), mode="b")
    total(np.ones((3, 4)))
    total(np.ones((3, 4)), axis=1)
    total(np.ones((3, 4)), 1, True)
    shifted(np.ones(3))
    shifted(np.ones(3), by=np.ones(5))
'''

CHILD = """
import json, sys
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)
rng = np.random.default_rng(1)
x, y, z = rng.random((3, 4)), rng.random(4), rng.random((2, 3)).astype(np.float32)
good = [
    ("normalize", (x,), {}), ("normalize", (y,), {}), ("normalize", (z,), {}),
    ("normalize", ([1.0, 2.0],), {}), ("normalize", (x[:, ::2],), {}), ("normalize", (x[:0],), {}),
    ("spec", (y,), {}), ("spec", (y, None), {}), ("spec", (y, 7), {}), ("spec", (x,), {}),
    ("total", (x, -1), {}), ("total", (np.stack([x, x]), -1), {}),
    ("spec", (y,), {"mode": "b"}),
    ("spec", (y,), {"n_fft": 2}), ("total", (x,), {}), ("total", (x, 1), {}),
    ("total", (x, 0, True), {}), ("total", (x, 1, True), {}), ("total", (z,), {"axis": 1}),
    ("shifted", (y,), {}), ("shifted", (y,), {"by": x[0]}),
]
bad = [
    ("normalize", (np.ones((2, 2, 2)),), {}), ("normalize", (2.0,), {}),
    ("spec", (y, 5, "b"), {}), ("spec", (y, None, "c"), {}), ("spec", (x[None],), {}),
    ("total", (x, 2), {}), ("spec", (y, 2.5), {}), ("shifted", (y,), {"by": "mean"}),
]
errors = []
for name, args, kw in good:
    args = [np.asarray(v) if isinstance(v, list) else v for v in args]
    wanted = getattr(a, name)(*args, **kw)
    found = getattr(a_cuda, name)(*args, **kw)
    assert type(found) is type(wanted), (name, args)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (name, args)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
for name, args, kw in bad:
    try:
        getattr(a_cuda, name)(*args, **kw)
        errors.append("no error")
    except (TypeError, ValueError) as e:
        errors.append(f"{type(e).__name__}: {e}")
print(json.dumps(errors))
"""


def other_forms(assumed: list[str]) -> list[str]:
    """The types of further forms, as the JSON has them."""
    word = "also for: ("
    return [a.removeprefix(word)[:-1] for a in assumed if a.startswith(word)]


def test_every_form_computes_what_the_function_does(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--output-format", "json", "--no-verify") == 0
    functions = json.loads(shell.out)["modules"][0]["functions"]
    assert {f["name"]: other_forms(f["assumed"]) for f in functions} == {
        "normalize": ["float64[:]"],
        "spec": [
            "float64[:], omitted, Literal[str](b)",
            "float64[:], int64, omitted",
            "float64[:, :], omitted, omitted",
        ],
        "total": [
            "float64[:, :], Literal[int](1), boolean",
            "float64[:, :], Literal[int](-1), boolean",
        ],
        "shifted": ["float64[:], float64[:]", "float64, omitted"],
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    make, types = "run `porter convert a.py -f", "--signature"
    assert json.loads(done.stdout) == [
        "ValueError: x has 3 dimensions instead of 1 or 2: "
        f'{make} normalize {types} "float64[:, :, :]"`',
        f'ValueError: x has 0 dimensions instead of 1 or 2: {make} normalize {types} "float64"`',
        "TypeError: spec has no kernels for these values of y, n_fft and mode together: "
        f"{make} spec {types} \"float64[:], int64, Literal[str]('b')\"`",
        "TypeError: mode must be 'a' or 'b': "
        f"{make} spec {types} \"float64[:], Literal[NoneType](None), Literal[str]('c')\"`",
        "ValueError: y has 3 dimensions instead of 1 or 2: "
        f"{make} spec {types} \"float64[:, :, :], Literal[NoneType](None), Literal[str]('a')\"`",
        "TypeError: axis must be 0, 1 or -1: "
        f'{make} total {types} "float64[:, :], Literal[int](2), boolean"`',
        "TypeError: n_fft is 2.5, but the kernels were made for an integer: "
        f"{make} spec {types} \"float64[:], float64, Literal[str]('a')\"`",
        "TypeError: by must be an array, not str: "
        f"{make} shifted {types} \"float64[:], Literal[str]('mean')\"`",
    ]
    # what the header says is what `--check` makes of it
    assert shell.convert("a.py", "--check") == 0, shell.out
    header = parse((shell.folder / "a_cuda.py").read_text())
    assert header is not None
    record = header.function("normalize")
    assert record is not None
    said = ("x is float64[:] (line 33: normalize(np.ones(4)))",)
    assert record.forms == (Form("float64[:]", ("float32[:]",), "x[n]", said),)
    assert [t for t, _ in record.served] == [
        "float64[:, :]", "float32[:, :]", "float64[:]", "float32[:]",
    ]  # fmt: skip


@pytest.mark.slow
def test_every_form_is_verified_and_a_wrong_one_is_found(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "-f", "spec", verify=True) == 0, shell.out
    place = shell.folder / "a_cuda.py"
    text = place.read_text()
    assert "simulator 96 cases" in text  # 24 of each form
    (line,) = [n for n in text.split("\n") if n.strip().startswith("z2[i] = ") and "1.0" in n]
    place.write_text(text.replace(line, line.replace("1.0", "2.0")))
    with pytest.raises(SystemExit) as done:
        main(["verify", "a_cuda.py", "--on", "simulator"])
    assert done.value.code == 1


def test_signatures_that_are_given(shell: Shell) -> None:
    shell.write("a.py", SOURCE)
    given = ["--signature", "float64[:, :]", "--signature", "float32[:, :, :]"]
    code = shell.convert(
        "a.py", "-f", "normalize", "--output-format", "json", "--no-verify", *given
    )
    assert code == 0
    (found,) = json.loads(shell.out)["modules"][0]["functions"]
    assert found["signature"] == "float64[:, :]"
    assert other_forms(found["assumed"]) == ["float32[:, :, :]"]


def forms(text: str) -> list[str]:
    module = SourceModule("import numpy as np\n" + text, "a.py")
    made = convert_function(module.by_name["f"])
    return [made.signature, *(v.signature for v in made.variants[1:])]


def test_counts_that_make_a_program_have_forms_for_the_values_of_calls() -> None:
    """How often a list is repeated, and into how many parts an array is cut."""
    text = "def f(r, years=2):\n    t = 0.0\n    for k, c in enumerate([5.0] * years):\n" \
           "        t = t + c / (1.0 + r) ** (k + 1)\n    return t\n"  # fmt: skip
    calls = "f(np.ones(3))\nf(np.ones(3), years=4)\n"
    assert forms(text + calls) == ["float64[:], omitted", "float64[:], Literal[int](4)"]
    text = "def f(x, parts=4):\n    out = np.zeros(parts)\n" \
           "    for p, one in enumerate(np.array_split(x, parts)):\n        out[p] = one.sum()\n" \
           "    return out\n"  # fmt: skip
    assert forms(text) == ["float64[:], omitted"]
    assert forms(text + "f(np.ones(9), parts=2)\n")[1] == "float64[:], Literal[int](2)"


@pytest.mark.parametrize("target", ["loops", "ufunc", "gufunc"])
def test_an_integer_that_is_a_length_may_have_any_value(target: str, tmp_path: Path) -> None:
    """One whose default is 2 sizes a loop and an array: of each target there is one form."""
    source = tmp_path / "a.py"
    source.write_text(PRICES)
    module = tmp_path / f"a_{target}.py"
    compiled = "cuda" if target == "loops" else "cpu"
    options = ConvertOptions(
        paths=(str(source),), target=target, output=str(module), verify=False, ufunc_target=compiled
    )
    assert run(options) == 0
    scope: dict[str, Any] = {}
    exec(PRICES, scope)
    made = runpy.run_path(str(module))
    rates = np.linspace(0.01, 0.09, 5)
    for name in ("bond_prices", "by_terms"):
        for arguments in ((rates,), (rates, 4.0), (rates, 4.0, 7), (rates, 4.0, 0)):
            found, expected = made[name](*arguments), scope[name](*arguments)
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_one_form_where_one_serves() -> None:
    calls = "f(np.ones((2, 3)))\nf(np.ones(3))\nf(2.0)\n"
    assert forms("def f(x):\n    return np.exp(x)\n" + calls) == ["float64[:]"]
    calls = "f(np.ones(3))\nf([1.0, 2.0])\n"
    assert forms("def f(x):\n    return x.sum()\n" + calls) == ["float64[:]"]
    # what is given is the default
    text = "def f(x, axis=0, mode='a'):\n    return x.sum(axis=axis) if mode == 'a' else x.max()\n"
    made = forms(text + "f(np.ones((2, 2)), 0, 'a')\nf(np.ones((2, 2)))\n")
    assert made[0] == "float64[:, :], omitted, omitted"
    assert all("Literal" in m for m in made[1:])  # other values, which nobody passes


def test_what_is_accepted_is_said_in_words() -> None:
    module = SourceModule(SOURCE, "a.py")
    words = {f.name: accepted(convert_function(f)) for f in module.functions}
    assert words == {
        "normalize": (
            "x: array of 1 or 2 dimensions, float32 or float64; integers are converted",
        ),
        "spec": (
            "y: array of 1 or 2 dimensions, float32 or float64;"
            " integers are converted by some forms",
            "n_fft: None or an integer",
            "mode: 'a' or 'b'",
        ),
        "total": (
            "x: array of 2 or more dimensions, float32 or float64", "axis: 0, 1 or -1",
            "flag: a bool",
        ),
        "shifted": (
            "x: array of any rank, float32 or float64; integers are converted;"
            " scalars alone: computed on the host",
            "by: None or array of 1 dimension, float32 or float64; integers are converted;"
            " scalars alone: computed on the host",
        ),
    }  # fmt: skip
    (one,) = SourceModule("def f(x, k):\n    return x * k\n", "a.py").functions
    assert accepted(convert_function(one, "int8[:], float64"))[0].startswith(
        "x: array of any rank, "
    )


def test_none_is_a_value_where_the_default_is_another() -> None:
    text = "def f(x, low=-80.0):\n    return x.sum() if low is None else np.maximum(x, low).sum()\n"
    assert forms(text + "f(np.ones(3))\nf(np.ones(3), None)\n") == [
        "float64[:], float64",
        "float64[:], Literal[NoneType](None)",
    ]


def test_no_more_than_four() -> None:
    text = "def f(x, k='a'):\n    return x.sum() if k == 'a' else x.max()\n"
    text += "".join(f"f(np.ones(3), '{c}')\n" for c in "bcdefg")
    assert len(forms(text)) == 4


def test_docstrings_show_optional_numbers() -> None:
    text = (
        'def f(x, n=None):\n    """Sum.\n\n    Parameters\n    ----------\n    x : (n,) array\n'
        '    n : int, optional\n    """\n    return x.sum() if n is None else x.sum() * n\n'
    )
    assert forms(text) == ["float64[:], omitted", "float64[:], int64"]


@pytest.mark.parametrize(
    "text", ["Literal[int](3)", "Literal[str](a)", "Literal[bool](True)", "Literal[int](-1)",
             "Literal[float](0.5)", "Literal[str]('a b')", "Literal[NoneType](None)"],
)  # fmt: skip
def test_literal_types_are_read_as_they_are_written(text: str) -> None:
    (alone,) = parse_signature(text)
    first, second = parse_signature(f"float64[:], {text}")
    assert [str(alone), str(first), str(second)] == [text, "float64[:]", text]


def test_the_type_of_a_numpy_number_is_that_of_its_value() -> None:
    found = parse_signature("Literal[int64](3), Literal[uint8](3), Literal[str_](a)")
    assert [str(t) for t in found] == ["Literal[int](3)", "Literal[int](3)", "Literal[str](a)"]


@pytest.mark.parametrize("text", ["Literal[int](a)", "Literal[int](1.5)", "Literal[list](3)"])
def test_other_literals_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="Literal"):
        parse_signature(f"float64[:], {text}")


FLAGS = """import numpy as np


def crossings(x, share=False):
    n = np.diff(np.signbit(x)).sum()
    if share:
        n = n / x.shape[0]
    return n


def unit(x, normalise=False):
    x = np.array(x)
    if normalise:
        x = x / np.sqrt(x @ x)
    return x


def scaled(x, share=False):
    n = 1
    if share:
        n = 0.5
    return x * n
"""
FLAGS_CHECK = """
import numpy as np, flags, flags_cuda as made
vars(made).update(THREADS=32)
for name in ("crossings", "unit", "scaled"):
    for x in (np.linspace(-1, 1, 5), np.array([-1, 2, -3]), [1, -2]):
        for flag in ((), (False,), (True,)):
            own, one = getattr(flags, name)(np.asarray(x), *flag), None
            try:
                one = getattr(made, name)(np.asarray(x), *flag)
            except TypeError:
                assert np.asarray(x).dtype.kind == "i" and name != "crossings", (name, x, flag)
                continue
            assert own.dtype == one.dtype and type(own) is type(one), (name, x, flag, own, one)
            np.testing.assert_array_equal(own, one)
print("done")
"""


def test_a_flag_that_changes_the_dtype_of_a_result(shell: Shell) -> None:
    """Each value of it has a form: the result is an integer in one, a float in the other."""
    shell.write("flags.py", FLAGS)
    assert shell.convert("flags.py", "--no-verify") == 0, shell.out
    text = (shell.folder / "flags_cuda.py").read_text()
    header = parse(text)
    assert header is not None
    signatures = {r.name: (r.signature, [f.signature for f in r.forms]) for r in header.functions}
    assert signatures == {
        "crossings": ("float64[:], omitted", ["float64[:], Literal[bool](True)"]),
        "unit": ("float64[:], boolean", ["float64[:, :], boolean"]),
        "scaled": ("float64[:], boolean", ["float64, boolean"]),
    }
    done = subprocess.run(
        [sys.executable, "-c", FLAGS_CHECK], cwd=shell.folder, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    ("test", "refusal"),
    [
        ("isinstance(x, np.ndarray)", "if not (isinstance(x, np.ndarray) or _on_device(x)):"),
        (
            "isinstance(x, (list, np.ndarray))",
            "if not (isinstance(x, (np.ndarray, list)) or _on_device(x)):",
        ),
        ("not isinstance(x, (int, float))", "if isinstance(x, (int, float)):"),
        ("", ""),
    ],
)
def test_classes_that_the_function_tells_apart(test: str, refusal: str) -> None:
    """A list is another thing than an array to it: it is refused, not taken for one."""
    first = f"assert {test}" if test else "x = np.asarray(x)\n    assert isinstance(x, np.ndarray)"
    text = f"import numpy as np\n\ndef f(x):\n    {first}\n    return np.sin(x) * 2.0\n"
    (function,) = SourceModule(text, "f.py").functions
    made = convert_function(function).text.parts[-1]
    lines = [n.strip() for n in made.split("\n") if "isinstance(" in n]
    found = [n for n in lines if not n.startswith("#")]
    assert found == ([refusal] if refusal else [])
