"""Generated lines know the source lines that they come from."""

from __future__ import annotations

import ast

import pytest

from porter.codegen.module.module import linked_module
from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.paths import EXAMPLES


@pytest.mark.parametrize("name", ["black_scholes", "heat", "softmax"])
def test_every_quoted_statement_is_the_line_it_names(name: str) -> None:
    source = SourceModule((EXAMPLES / f"{name}.py").read_text("utf-8"), f"{name}.py")
    made = linked_module([convert_function(source.by_name[name]).text], f"{name}.py")
    module, links = made.text, made.lines
    lines = module.split("\n")
    assert links and "\ue0a7" not in module
    for at, line in links.items():
        comment = lines[at - 1].strip()
        assert comment.startswith(f"# {source.lines[line - 1].strip()}"), (comment, line)


def test_equal_statements_are_told_apart() -> None:
    text = "def f(x):\n    x[:] = x + 1.0\n    x[0] = 2.0\n    x[:] = x + 1.0\n"
    source = SourceModule(text, "a.py")
    made = linked_module([convert_function(source.by_name["f"]).text], "a.py")
    module, links = made.text, made.lines
    assert sorted(set(links.values())) == [2, 3, 4], module


def test_no_character_in_a_comment_starts_a_line_of_the_module() -> None:
    # str.splitlines ends a line at these, Python does not: what follows would be code
    ends = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    comment = "".join(f"{end}raise SystemExit" for end in ends)
    text = (
        f"import numpy as np\n\n\ndef f(x):\n    # own{comment}\n    return x + 1.0  # {comment}\n"
    )
    source = SourceModule(text, "a.py")
    made = linked_module([convert_function(source.by_name["f"]).text], "a.py")
    module, links = made.text, made.lines
    assert not any(
        isinstance(n, ast.Name) and n.id == "SystemExit" for n in ast.walk(ast.parse(module))
    )
    quoted = [module.split("\n")[n - 1].strip() for n in links]
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in comment)
    assert quoted == [f"# return x + 1.0  # {shown}"] and list(links.values()) == [6]
