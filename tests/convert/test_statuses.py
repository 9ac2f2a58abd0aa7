"""What is verified, what is not, and what a dtype that fails costs: `porter convert` says which."""

from __future__ import annotations

import ast
import json

import pytest

from porter.codegen.module.header import FunctionRecord, Header, parse, render
from porter.verify.inputs.hints import hints
from tests.support.shell import Shell

HEAD = "import math\nimport numpy as np\n\n"


def converted(shell: Shell, text: str, *arguments: str) -> tuple[int, dict[str, dict[str, object]]]:
    """The exit code and the functions' records, verified."""
    shell.write("a.py", text)
    code = shell.convert("a.py", "--output-format", "json", *arguments, verify=True)
    (module,) = json.loads(shell.out)["modules"]
    return code, {f["name"]: f for f in module["functions"]}


# -- dtypes that porter adds ----------------------------------------------------------------

#: expressions, and whether float32 is right beside float64
MIXED = [
    ("x * np.float32(0.1)", True),
    ("np.float32(0.1) + x", True),
    ("x / np.sqrt(np.float32(3))", True),
    ("np.sqrt(np.float64(2)) * x", True),
    ("x * np.int8(3)", True),
    ("x - np.float64(0.1)", True),
    ("(x * np.float32(0.3)).sum()", True),
    ("np.maximum(x, np.float32(0.7))", True),
    ("math.sqrt(abs(x.sum()))", False),
    ("math.exp(x.min())", False),
    ("math.floor(x.sum())", True),
    ("x * math.sqrt(abs(x.sum()))", True),
    ("math.hypot(x.sum(), 1.0)", False),
    ("math.cos(x.mean())", False),
]


@pytest.mark.parametrize("mixed", [MIXED[2::8], pytest.param(MIXED, marks=pytest.mark.long)])
def test_a_dtype_that_was_not_asked_for_never_fails_a_function(
    shell: Shell, mixed: list[tuple[str, bool]]
) -> None:
    functions = [f"def f{k}(x):\n    return {text}\n" for k, (text, _) in enumerate(mixed)]
    code, found = converted(shell, HEAD + "\n\n".join(functions), "--signature=float64[:]")
    assert {mixed[int(n[1:])][0]: f["status"] for n, f in found.items()} == {
        text: "converted" for text, _ in mixed
    }
    assert code == 0
    header = parse((shell.folder / "a_cuda.py").read_text())
    assert header is not None
    served = {mixed[int(r.name[1:])][0]: r for r in header.functions}
    for text, whole in mixed:
        assert served[text].also == (("float32[:]",) if whole else ()), text
        assert served[text].without == (() if whole else ("float32[:]",)), text
    # the committed module is current, also where nothing is verified
    assert shell.convert("a.py", "--signature=float64[:]", "--check") == 0


@pytest.mark.long
def test_what_is_left_out_is_said_and_refused_at_the_call(shell: Shell) -> None:
    shell.write("a.py", HEAD + "def f(x):\n    return math.exp(x.min())\n")
    assert shell.convert("a.py", "--signature=float64[:]", verify=True) == 0
    assert "note: float32 is not supported: with float32[:], " in shell.out
    text = (shell.folder / "a_cuda.py").read_text()
    assert '_array(x, "x", None, "float64")' in text
    assert "# porter: without f(float32[:])" in text


def test_the_header_keeps_what_is_left_out() -> None:
    record = FunctionRecord("f", "float64[:]", (), "x[n]", without=("float32[:]", "int8[:]"))
    text = render(Header("0.1.0", "a.py", "0" * 64, (record,)), "x = 1\n")
    again = parse(text)
    assert again is not None and again.functions[0].without == record.without


# -- what the original needs ------------------------------------------------------------------

#: the top of a file, a function of it, and what the message says (None: it is verified)
IMPORTS = [
    ("import surely_absent as sa", "return sa.scaled(x * 2)", "surely_absent"),
    ("import surely_absent.part", "print(surely_absent.part)\n    return x * 2", "surely_absent"),
    ("from surely_absent import scaled", "print(scaled)\n    return x * 2", "surely_absent"),
    ("from surely_absent.inner import scaled as s", "print(s)\n    return x * 2", "surely_absent"),
    ("from broken import scaled", "print(scaled)\n    return x * 2", "second_absent"),
    ("from raising import scaled", "print(scaled)\n    return x * 2", "RuntimeError: not here"),
    ("import surely_absent", "return x * 2", None),
    ("from surely_absent import *", "return x * 2", None),
    ("import broken", "return x * 2", None),
    ("import raising", "return x * 2", None),
    (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import surely_absent",
        "return x * 2",
        None,
    ),
    (
        "try:\n    import surely_absent\nexcept ImportError:\n    surely_absent = None",
        "return x * 2",
        None,
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("top", "body", "said"), IMPORTS)
def test_an_import_that_fails_matters_only_where_it_is_needed(
    shell: Shell, top: str, body: str, said: str | None
) -> None:
    shell.write("broken.py", "import second_absent\n\ndef scaled(x):\n    return x\n")
    shell.write("raising.py", "raise RuntimeError('not here')\n")
    text = f"import numpy as np\n{top}\n\ndef f(x):\n    {body}\n\ndef g(x):\n    return x + 1\n"
    code, found = converted(shell, text, "--signature=float64[:]")
    assert found["g"]["status"] == "converted"
    if said is None:
        assert (code, found["f"]["status"]) == (0, "converted")
        return
    assert code == 1 and found["f"]["status"] in ("failed", "refused")
    shown = json.dumps(found["f"])
    assert said in shown or found["f"]["status"] == "refused"
    assert "do not compute" not in shown


# -- too few results --------------------------------------------------------------------------

#: functions that take few inputs, which porter finds out by itself
CHECKED = {
    "length": "def f(x):\n    if x.shape[0] < 30:\n        raise ValueError\n    return x * 2",
    "multiple": "def f(x):\n    if len(x) % 12:\n        raise ValueError('odd')\n    return x * 2",
    "range": (
        "def f(x, p):\n    if not 0.25 <= p <= 0.26:\n        raise ValueError\n    return x * p"
    ),
    "either": (
        "def f(x, p):\n    if p < 0.25 or p > 0.251:\n        raise ValueError\n    return x * p"
    ),
    "largest": "def f(x):\n    if x.max() > 1e-9:\n        raise ValueError\n    return x * 2",
    "any": "def f(x):\n    if np.any(x > -5):\n        raise ValueError\n    return x * 2",
    "assert": "def f(x, p):\n    assert 7 < p < 7.5, 'p'\n    return x * p",
    "docstring": (
        'def f(x, p):\n    """Scale.\n\n    p: a weight in [100, 101]\n    """\n'
        "    if abs(p - 100.5) > 0.5:\n        raise ValueError\n    return x * p"
    ),
    "positive": (
        'def f(x):\n    """Root.\n\n    :param x: negative numbers\n    """\n'
        "    if (-x <= 0).any():\n        raise ValueError\n    return np.sqrt(-x)"
    ),
    "comment": (
        "def f(x):\n    # porter: domain 8 <= x <= 9\n"
        "    if (abs(x - 8.5) > 0.5).any():\n        raise ValueError\n    return x * 2"
    ),
}
#: functions for which it finds none
HOPELESS = {
    "sum": "def f(x):\n    if x.sum() != 12345.5:\n        raise ValueError\n    return x * 2",
    "always": "def f(x):\n    if x.ndim > 0:\n        raise ValueError('never')\n    return x * 2",
    "secret": (
        "def f(x):\n    if abs(np.sin(x.sum()) - 0.123) > 1e-6:\n"
        "        raise ValueError('no')\n    return x + 1"
    ),
}
TYPES = {1: "float64[:]", 2: "float64[:], float64"}


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(CHECKED))
def test_inputs_are_searched_by_what_a_function_checks(shell: Shell, kind: str) -> None:
    text = CHECKED[kind]
    types = TYPES[text.splitlines()[0].count(",") + 1]
    code, found = converted(shell, HEAD + text + "\n", f"--signature={types}")
    assert (code, found["f"]["status"]) == (0, "converted"), shell.out
    evidence = found["f"]["evidence"][0]  # type: ignore[index]
    assert evidence["detail"]["values"] >= 12


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(HOPELESS))
def test_too_few_results_are_no_verification(shell: Shell, kind: str) -> None:
    text = HEAD + HOPELESS[kind] + "\n"
    code, found = converted(shell, text, "--signature=float64[:]")
    f = found["f"]
    assert code == 1
    if f["status"] == "refused":
        return
    assert f["status"] == "failed"
    (diagnostic,) = [d for d in f["diagnostics"] if d["code"] == "PRT915"]  # type: ignore[attr-defined]
    assert " of 24 cases gave results" in diagnostic["message"]
    assert "# porter: domain" in diagnostic["help"] and "ValueError" in diagnostic["help"]
    assert len(diagnostic["message"]) <= 80
    assert f["evidence"][0]["status"] == "skipped"  # type: ignore[index]
    assert not (shell.folder / "a_cuda.py").exists()
    assert shell.convert("a.py", "--signature=float64[:]") == 0
    assert (shell.folder / "a_cuda.py").exists()


HINTS = [
    ("if p < 0:\n        raise ValueError", "p", ">="),
    ("if not p > 0:\n        raise ValueError", "p", ">"),
    ("if p <= 0 or p >= 1:\n        raise ValueError", "p", ">"),
    ("assert p >= 0 and p < 3", "p", ">="),
    ("if np.any(x < 0):\n        raise ValueError", "x", ">="),
    ("if (x < 0).any():\n        raise ValueError", "x", ">="),
    ("if not np.all(x > 2):\n        raise ValueError", "x", ">"),
    ("if x.min() <= 0:\n        raise ValueError", "x", ">"),
    ("if len(x) < 3:\n        raise ValueError", "x", ">="),
    ("if x.size == 0:\n        raise ValueError", "x", "!="),
    ("if 3 > x.shape[0]:\n        raise ValueError", "x", ">="),
]


@pytest.mark.parametrize(("check", "name", "sign"), HINTS)
def test_checks_become_conditions(check: str, name: str, sign: str) -> None:
    text = f"def f(x, p):\n    {check}\n    return x\n"
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    found = hints(function).conditions
    assert found and getattr(found[0], "operator", "") == sign
    assert found[0].subject.name == name  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "check",
    [
        "if p < 0 and x.sum() > 3:\n        raise ValueError",
        "if unknown(p):\n        raise ValueError",
        "if p is None:\n        raise ValueError",
        "assert isinstance(p, float)",
        "if x.ndim != 1:\n        raise ValueError",
        "if p < 0:\n        p = 0",
    ],
)
def test_what_is_no_condition_is_none(check: str) -> None:
    (function,) = ast.parse(f"def f(x, p):\n    {check}\n    return x\n").body
    assert isinstance(function, ast.FunctionDef)
    assert hints(function).conditions == ()
