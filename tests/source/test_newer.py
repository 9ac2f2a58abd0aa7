"""Syntax of Python 3.12 to 3.14 is read by whatever Python runs porter."""

from __future__ import annotations

import ast
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from porter.cli import main
from porter.rules.engine import analyze
from porter.source import newer
from porter.source.files import SourceFile

OLD = sys.version_info < (3, 12)
VALUES = """\
d = {"name": "n", "k": [1, 2], "é": 5}
"""


def value(expression: str) -> Any:
    """What the last line of a text assigns to `s`, run by this Python."""
    text = VALUES + f"s = {expression}\n"
    tree, names = newer.runnable(text, "x.py")
    assert newer.plain(text).count("\n") == text.count("\n")
    exec(compile(tree, "x.py", "exec"), names)
    return names["s"]


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ('f"{d["name"]}"', "n"),
        ('f"{"\\n".join(map(str, d["k"]))}"', "1\n2"),
        ('f"é {d["é"]!r:>{d["é"]}} {{x}} {d["name"]=}"', "é     5 {x} d[\"name\"]='n'"),
        ('f"{d["é"]:\\t>{"3"}} {d["é"] = !s}"', '\t\t5 d["é"] = 5'),
        ('f"{f"{f"{1+1}"}"}"', "2"),
        ('f"{"\\t"}{f"{"\\t"}x"}"', "\t\tx"),
        ('rf"\\d{d["name"]}"', "\\dn"),
        ('("a" f"{d["name"]}"  # note\n  f"{\n  d["k"]  # inner\n}" "b")', "an[1, 2]b"),
        ('f"""{"""q"""}{\'\'\'r\'\'\'}"""', "qr"),
        ('f"{d["name"]}\'\'\'"', "n'''"),
        ('f"{(d["name"], 1)}"', "('n', 1)"),
        ('"{}\\N{DIGIT ONE}" f"{"\\t"}{{}}\\N{DIGIT TWO}" r"\\N{"', "{}1\t{}2\\N{"),
        ('f"{d["é"]:{f"{"\\x3e"}"}{"3"!s:\\x3e1}} {{{1}}}"', "  5 {1}"),
        ('f"{d["é"] = } {"\\t"}"', 'd["é"] = 5 \t'),
    ],
)
def test_f_strings(expression: str, meant: str) -> None:
    assert value(expression) == meant


TYPES = '''\
"""Text."""

from __future__ import annotations

type A = list[int]
type  Pair [T]=tuple[T, T]
type Long[
    T
] = dict[
    str, T]
type Later = list[Undefined]


class Box[T, *Ts, **P](list):
    def get[U: int = bool](self, x: U) -> T:
        return self[0]


class Plain[T]: pass


def g[
    T,  # comment
    S](a: T, b: S) -> T: return a


line = 0
'''


def test_types_and_parameters() -> None:
    tree, names = newer.runnable(TYPES, "x.py")
    exec(compile(tree, "x.py", "exec"), names)
    assert names["g"](1, 2) == 1 and names["Box"]([4]).get(1) == 4
    assert str(names["Plain"][int]).endswith("Plain[int]")
    if OLD:
        assert names["A"] == list[int] and str(names["Pair"]) == "tuple[~T, ~T]"
        assert names["Later"] == "list[Undefined]"
    # the rules and the converter see the older form, on the same lines and mostly columns
    plain = newer.plain(TYPES)
    places = {n.name: (n.lineno, n.col_offset) for n in ast.walk(newer.parse(TYPES))
              if isinstance(n, ast.FunctionDef | ast.ClassDef)}  # fmt: skip
    assert places == {"Box": (14, 0), "get": (15, 4), "Plain": (19, 0), "g": (22, 0)}
    lines = TYPES.splitlines()
    assert plain.splitlines()[14] == lines[14].replace("[U: int = bool]", " " * 15)
    assert plain.splitlines()[4] == "A      = list[int]"
    assert newer.changed_lines(TYPES) == {5, 6, 7, 8, 9, 11, 14, 15, 19, 22, 23, 24}


def test_except_without_brackets() -> None:
    text = "try:\n    pass\nexcept ValueError, TypeError:\n    x = 1\n"
    assert "except (ValueError, TypeError):" in newer.plain(text)
    star = "try:\n    x = 1\nexcept* ValueError:\n    pass\n"
    assert newer.plain(star) == star and newer.parse(star)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("type X = int\n\n\ny = x +* 2\n", 4, "invalid syntax"),
        ("def f[T](x): return x\n\ny = 1 +\n", 3, "invalid syntax"),
        ("x = 1\ny ==== 1\n", 2, "invalid syntax"),
        ("type X = int\nx = " + "[" * 300 + "\n", 2, "too many nested parentheses"),
        ('type X = int\nz = t"{x}"\n', 2, "template strings need Python 3.14"),
    ],
)
def test_what_nobody_reads_is_told_at_its_line(text: str, line: int, said: str) -> None:
    if sys.version_info >= (3, 14) and "template" in said:
        pytest.skip("this Python reads it")
    with pytest.raises(SyntaxError) as caught:
        newer.parse(text)
    assert caught.value.lineno == line and said in str(caught.value.msg)
    (found,) = analyze(SourceFile("x.py", text)).diagnostics
    assert (found.code, found.span.line) == ("PRT900", line)
    assert ("run porter with that Python" in found.help) == ("template" in said)


SOURCE = """\
import numpy as np
from numba import njit
from numpy.typing import NDArray
from tools import twice

type Vec = NDArray[np.float32]


class Filter[T]:
    def __init__(self, width: T):
        self.width = width


def norm[T: np.floating](x: T) -> T:
    if x.ndim != 1:
        raise ValueError(f"x is {"1-D"}, not {x.ndim}-D: {"\\t".join(map(str, x.shape))}")
    return np.sqrt(np.sum(x * x))


def shift(x: Vec, by: float = 1.0) -> Vec:
    return twice(x) + by


@njit
def total[T](x: T):
    s = 0.0
    for v in x:  # porter: ignore[PRT999]
        s += v
    return s


print(f"{total(np.ones(3))}", Filter[int](2).width)
"""
TOOLS = '''\
"""Tools."""

from __future__ import annotations

type Number = float


class Keep[T]: ...


def twice[T](v: T) -> T:
    return v + v
'''


def porter(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main([*arguments])
    return int(str(done.value.code))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.py").write_text(SOURCE)
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def test_analysis_finds_the_functions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    porter("analyze", "work.py", "--output-format", "json", "--no-cache")
    found = json.loads(capsys.readouterr().out)
    verdicts = {f["name"]: (f["line"], f["verdict"]) for f in found["functions"]}
    assert verdicts["norm"] == (14, "convertible") and verdicts["total"] == (25, "convertible")
    # comments are read too: this one names a rule that there is not
    assert [(d["code"], d["line"]) for d in found["diagnostics"]] == [("PRT910", 27)]


def test_a_module_is_converted_and_verified(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("-f", "norm", "-f", "shift")
    assert porter("convert", "work.py", *names, "-o", "work_cuda.py") == 0
    text = (folder / "work_cuda.py").read_text()
    ast.parse(text, feature_version=(3, 11))
    assert "def norm(x, *, stream=None):" in text and "shift(float32[:]" in text
    assert porter("verify", "work_cuda.py", "--on", "simulator") == 0


def test_a_run_reads_it_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    porter("analyze", "--run", "work.py", "--output-format", "json", "--no-cache")
    found = json.loads(capsys.readouterr().out)
    assert not [d for d in found["diagnostics"] if d["code"].startswith("PRT92")]
    (total,) = [f["numba"] for f in found["functions"] if f["name"] == "total"]
    assert total[0]["signature"] == "float64[::1]" and total[0]["types"]["28"]
    (folder / "bad.py").write_text("type X = int\n\n\ny = x +* 2\n")
    porter("analyze", "--run", "bad.py", "--output-format", "json", "--no-cache")
    lines = {d["line"] for d in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert lines == {4}


def test_a_notebook_may_have_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["%time 1\nimport numpy as np\ntype Vec = np.ndarray", SOURCE.split("\n\n\n")[2]]
    cells.append('norm(np.ones(3)), f"{"a"}"\nraise ValueError(f"{"b"}")')
    code = [{"cell_type": "code", "source": c, "metadata": {}, "outputs": []} for c in cells]
    text = json.dumps({"cells": code, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    (folder / "n.ipynb").write_text(text)
    porter("analyze", "--run", "n.ipynb", "--output-format", "json", "--no-cache")
    found = json.loads(capsys.readouterr().out)
    assert [(f["name"], f["cell"], f["line"]) for f in found["functions"]] == [("norm", 2, 1)]
    (raised,) = [d for d in found["diagnostics"] if d["code"] == "PRT920"]
    assert (raised["message"], raised["cell"]) == ("the notebook raised ValueError: b", 3)


def test_fixes_keep_away_from_lines_that_are_lowered() -> None:
    text = textwrap.dedent("""
        def f[T](x): return f"{x["a"]}"
        y = 1
    """)
    source = SourceFile("x.py", text)
    assert not source.may_change(2, 2) and source.may_change(3, 3)
