"""The tool that shows whether a refactoring changes what porter writes."""

from __future__ import annotations

import pytest

import porter.convert.function
from porter.codegen.module.module import FunctionText
from tests.support.paths import EXAMPLES
from tests.tools import freeze

EXAMPLE = EXAMPLES / "threshold.py"


def test_the_same_code_gives_the_same_hashes() -> None:
    before = freeze.of_file(EXAMPLE, 1) | freeze.of_programs(0, 5, 1)
    assert before.keys() >= {"examples/threshold:threshold", "program:0"}
    assert (
        list(freeze.differences(before, freeze.of_file(EXAMPLE, 1) | freeze.of_programs(0, 5, 1)))
        == []
    )


def test_another_text_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = freeze.of_file(EXAMPLE, 1)
    made = porter.convert.function.function_text

    def other(*arguments: object) -> FunctionText:
        text = made(*arguments)  # type: ignore[arg-type]
        text.parts[0] and object.__setattr__(text, "parts", (f"{text.parts[0]}# ", *text.parts[1:]))
        return text

    monkeypatch.setattr(porter.convert.function, "function_text", other)
    found = list(freeze.differences(before, freeze.of_file(EXAMPLE, 1)))
    assert "examples/threshold:threshold: text" in found


def test_what_is_refused_gone_or_new_is_said() -> None:
    before = {"a": ["1", "2"], "b": ["1", "2"], "c": ["PRT901", "no"]}
    now = {"b": ["PRT902", "never"], "c": ["PRT901", "no"], "d": ["1", "2"]}
    assert list(freeze.differences(before, now)) == [
        "a: gone",
        "b: 1 2 -> PRT902 never",
        "d: new",
    ]


def test_a_sample_holds_the_same_functions_each_time() -> None:
    half = freeze.of_programs(0, 8, 2)
    assert 0 < len(half) < 8 and half.keys() == freeze.of_programs(0, 8, 2).keys()
