"""Every rule's VALID and INVALID cases, the shape of its page, and its place in docs/rules."""

from __future__ import annotations

import ast

import pytest

from porter.commands.rules import pages
from porter.diagnostics import Diagnostic, UsageError
from porter.rules.base import Bad, ConverterRule, Rule
from porter.rules.engine import Selection, analyze
from porter.rules.fixes import apply_fixes
from porter.rules.model import PyFile
from porter.rules.nopython.kinds import Binding, conflict
from porter.rules.registry import all_rules, find
from porter.source.files import SourceFile
from tests.support.paths import ROOT

RULES = list(all_rules().values())
VALID = [pytest.param(r, c, id=f"{r.code}-{n}") for r in RULES for n, c in enumerate(r.valid())]
INVALID = [pytest.param(r, c, id=f"{r.code}-{n}") for r in RULES for n, c in enumerate(r.invalid())]


def findings(rule: type[Rule], case: str) -> list[Diagnostic]:
    file = SourceFile("case.py", case)
    return [d for d in analyze(file, Selection((rule.code,))).diagnostics]


def asked_for(rule: type[Rule], case: str) -> list[Diagnostic]:
    """What the converter says to someone who asks for the functions by their names."""
    file = SourceFile("case.py", case)
    names = tuple(f.name for f in PyFile(file.text, file.path).functions)
    asked = issubclass(rule, ConverterRule) and names
    return list(analyze(file, Selection((rule.code,)), names=names).diagnostics) if asked else []


@pytest.mark.parametrize(("rule", "case"), VALID)
def test_valid_code_is_left_alone(rule: type[Rule], case: str) -> None:
    assert [d.message for d in findings(rule, case)] == []


@pytest.mark.parametrize(("rule", "case"), INVALID)
def test_invalid_code_is_found_where_it_stands(rule: type[Rule], case: Bad) -> None:
    found = findings(rule, case.code) or asked_for(rule, case.code)
    assert found
    assert not case.at or case.at == f"{found[0].span.line}:{found[0].span.column}"
    assert found[0].name == rule.name
    assert found[0].severity is rule.severity
    assert found[0].help or issubclass(rule, ConverterRule)


@pytest.mark.parametrize("bad", [b for r in RULES for b in r.invalid() if b.fixed is not None])
def test_fix_gives_the_code_that_the_rule_promises(bad: Bad) -> None:
    file = SourceFile("case.py", bad.code)
    text, count = apply_fixes(file, analyze(file).diagnostics, unsafe=True)
    assert count == 1
    assert text == bad.fixed


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_rule_is_complete(rule: type[Rule]) -> None:
    page = rule.page()
    for heading in ("What it does", "Why is this bad?", "Example", "Fix safety"):
        assert f"\n## {heading}\n" in page
    assert rule.code in page.split("## Example")[1], "the example marks the line it speaks of"
    assert len(rule.valid()) >= 3
    assert len(rule.invalid()) >= 2 or issubclass(rule, ConverterRule)
    assert rule.summary().endswith(".")


def test_codes_and_names_are_unique() -> None:
    assert len({r.name for r in RULES}) == len(RULES)
    assert {r.code[3] for r in RULES} == set("123456789")


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_every_rule_has_a_file_of_its_own(rule: type[Rule]) -> None:
    assert [r.code for r in RULES if r.__module__ == rule.__module__] == [rule.code]


def test_find_takes_codes_and_names_in_any_case() -> None:
    assert find("prt301") is find("kernel-returns-value")
    with pytest.raises(UsageError, match="PRT399"):
        find("PRT399")


def test_docs_are_current() -> None:
    folder = ROOT / "docs" / "rules"
    written = {p.name: p.read_text("utf-8") for p in folder.glob("*.md")}
    assert written == pages(), "run `python -m porter.commands.rules docs/rules`"


def test_the_types_of_one_place_are_named_in_the_same_order_every_time() -> None:
    place = ast.parse("a").body[0]
    kinds = [f"a tuple of {n}" for n in range(2, 9)]
    found = conflict("a", frozenset(Binding(kind, place) for kind in kinds))
    assert found is not None
    assert [found.first.kind, found.second.kind] == kinds[:2]
