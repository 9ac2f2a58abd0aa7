"""Two threads convert files: what CPython parses, it parses for one of them at a time."""

from __future__ import annotations

import threading

from porter.support.parsing import tree_of
from tests.support.paths import ROOT

#: whole trees of Python's parser, and literals that it makes trees of
CALLS = (
    "ast.parse(",
    "ast.literal_eval(",
    "PyCF_ONLY_AST",
    "node.get_docstring(",
    ".evaluated_value",
)


def test_one_place_parses() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "porter").rglob("*.py")
        if any(call in path.read_text("utf-8") for call in CALLS)
    }
    assert found == {"porter/support/parsing.py"}


def test_threads_that_parse_at_once_get_their_trees() -> None:
    text = "x = [" + "(1, {'a': [2, 3]}), " * 300 + "]\n"
    failed: list[BaseException] = []

    def parse() -> None:
        try:
            for _ in range(60):
                assert len(tree_of(text).body) == 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=parse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
