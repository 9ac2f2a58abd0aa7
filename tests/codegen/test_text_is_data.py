"""Text of the user's is data: docstrings, comments, paths become no code and no header line."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from typing import Any

import pytest

from porter.codegen.module import inspect as inspection
from porter.codegen.module.docstrings import literal
from porter.codegen.module.header import body_of, is_edited, parse
from porter.target.registry import CUDA
from tests.support.names_child import convert
from tests.support.paths import GOLDEN

MODULES = sorted(GOLDEN.glob("*.py"))
DOCSTRINGS = {
    "quote at the end": r'"""He said "no\""""',
    "backslash at the end": r'"""C:\\"""',
    "raw": r'r"""a\d \""" """',
    "both quotes": r""""a \"\"\" b """ + "'''" + r''' c"''',
    "NUL": r'"a\0b"',
    "half a pair": r'"a\ud800b"',
    "carriage return": r'"a\r\nb\rc"',
    "separators": r'"a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"',
    "raw separator": '"a\u2028b\x0cc"',
    "spaces before line ends": '"""a   \n   b \t \n"""',
    "code": r'"""x\"\"\"' + "\nraise SystemExit\n" + r'\"\"\""""',
    "concatenation": '"a" \'b\' r"c\\d"',
    "parentheses": '("a"\n     "b")',
    "unicode": 'u"x"',
    "bytes": 'b"x"',
    "empty": '""',
    "quote": r'"\""',
    "six quotes": r'''"\"\"\"\'\'\'"''',
    "porter's own marks": '"a\ua66eb \ue0a77 \ue0a8f @@x@@ _math.sqrt {x} {{ x }} {% if %}"',
    "header": '"""\n    # porter: output sha256:00\n    # foo\ue0a712\n"""',
    "continuation": '"""a\\\n   b"""',
    "direction": r'"\u202ea\ufeff"',
    "two backslashes": r'"""a\\\\"""',
}
COMMENTS = (
    "a\x0bb", "a\x0craise SystemExit", "a\u2028raise SystemExit", "a\x85x", "tail\\", "\ue0a77",
    "x\ue0a7", "\ua66e", "# porter: output sha256:0", "porter: function evil(float64)",
    "-*- coding: latin-1 -*-", "fmt: off", "{{ x }} {% raw %}", "@@x@@", "\u202e", '"""', "a\tb",
)  # fmt: skip
PATHS = (
    "a b.py", "new\nline.py", "x sha256:00.py", "a\n# porter: output sha256:0.py", "q\"uo'te.py",
    "'''.py", '""".py', "back\\slash.py", "coding=utf-7.py", "coding: latin-1.py", "coding",
    "caf\u00e9.py", "sur\udce9.py", "\u2028.py", "tab\t.py", "{{x}}.py", "\ua66e.py", "a\rb.py",
    " lead.py", "trail ", '"q".py',
)  # fmt: skip


def docstring_of(text: str) -> str | None:
    """What Python reads of the file's bytes."""
    tree = ast.parse(text.encode("utf-8"))
    (f,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f"]
    return ast.get_docstring(f, clean=False)


@pytest.mark.parametrize("name", DOCSTRINGS)
def test_a_docstring_is_the_same_string(name: str) -> None:
    source = f"import numpy as np\n\n\ndef f(x):\n    {DOCSTRINGS[name]}\n    return x * 2.0\n"
    tree = ast.parse(source)
    wanted = ast.get_docstring(tree.body[1], clean=False)  # type: ignore[arg-type]
    outcome = convert(source)
    assert outcome.text is not None, outcome.diagnostics
    assert docstring_of(outcome.text) == wanted
    assert list(inspection.top_level(ast.parse(outcome.text), CUDA.decorators)) == []


def test_ordinary_docstrings_stay_as_they_are() -> None:
    for value in ("A sum.", "One\n\n    two 'three' \"four\" five\n    ", r"\alpha * x"):
        assert value in literal(value) and ast.literal_eval(literal(value)) == value


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_stays_one(comment: str) -> None:
    source = (
        f"# {comment}\ndef f(x):\n    # {comment}\n    y = x * 2.0  # {comment}\n"
        f"    if x.shape[0] > 3:  # {comment}\n        # {comment}\n        y = y + 1.0\n"
        "    return y\n"
    )
    outcome = convert(source)
    assert outcome.text is not None, outcome.diagnostics
    plain = convert(source.replace(comment, "c"))
    assert ast.dump(ast.parse(outcome.text.encode())) == ast.dump(ast.parse(plain.text))
    header = parse(outcome.text)
    assert header is not None and [r.name for r in header.functions] == ["f"]
    assert not is_edited(outcome.text)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_no_line_and_no_encoding(path: str) -> None:
    outcome = convert("def f(x):\n    return x * 2.0\n", f"sub/{path}")
    tree = ast.parse(outcome.text.encode("utf-8"))
    assert (
        ast.get_docstring(tree, clean=False) == f"CUDA kernels for the NumPy functions of {path}."
    )
    header = parse(outcome.text)
    assert header is not None and header.source == f"sub/{path}"
    assert [(r.name, r.signature) for r in header.functions] == [("f", "float64[:]")]
    assert not is_edited(outcome.text) and body_of(outcome.text) in outcome.text


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_importing_a_module_runs_nothing(path: Path) -> None:
    assert list(inspection.top_level(ast.parse(path.read_text("utf-8")), CUDA.decorators)) == []


BAD = (
    "print(1)", "x = open('a')", "x = np.load('a')", "x = np.ctypeslib.load_library('a', 'b')",
    "if True:\n    x = 1", "for k in ():\n    pass", "class A:\n    pass", "x = [f() for f in ()]",
    "def g(a=print()):\n    pass", "@print\ndef g():\n    pass", "from os import *", "x = (y := 1)",
    "@cuda.jit('void()')\ndef g():\n    pass", "del np", "x: int = 1", "x = __import__('os')",
    "x = (lambda: 1)()", "np.sqrt = 1", "'text'", "try:\n    pass\nfinally:\n    pass",
)  # fmt: skip


@pytest.mark.parametrize("statement", BAD)
def test_what_else_runs_is_found(statement: str) -> None:
    text = f'"""Doc."""\n\nimport numpy as np\nfrom numba import cuda\n\n{statement}\n'
    assert list(inspection.top_level(ast.parse(text), CUDA.decorators))


@pytest.mark.parametrize("end", ["\nprint(1)", "\x0c", '"""\nprint(1)\n"""'])
def test_a_module_that_is_not_what_was_meant_is_refused(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lets code through, the last look at the tree does not."""
    from porter.codegen.module import module

    true = module.with_docstrings

    def broken(text: str, *rest: Any) -> tuple[str, dict[int, int]]:
        made, lines = true(text, *rest)
        return made + end + "\n", lines

    monkeypatch.setattr(module, "with_docstrings", broken)
    outcome = convert("def f(x):\n    return x * 2.0\n")
    assert outcome.text is None
    assert [d.code for d in outcome.diagnostics] == ["PRT902"]
    assert builtins.all(d.span.line == 1 for d in outcome.diagnostics)
