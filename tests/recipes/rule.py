"""docs/add-a-rule.md, followed: a block of rules that lies beside this file."""

from __future__ import annotations

from pathlib import Path

import porter.rules

# what a file in a folder of porter/rules needs not do
porter.rules.__path__.append(str(Path(__file__).with_name("rules")))

from porter.rules.engine import Selection, analyze  # noqa: E402
from porter.rules.registry import find  # noqa: E402
from porter.source.files import SourceFile  # noqa: E402


def places(case: str) -> list[str]:
    found = analyze(SourceFile("case.py", case), Selection(("PRT699",))).diagnostics
    return [f"{d.span.line}:{d.span.column}" for d in found]


def main() -> None:
    rule = find("float-grid")
    assert "\n## Example\n" in rule.page()
    assert [places(case) for case in rule.valid()] == [[], [], []]
    assert [places(bad.code) for bad in rule.invalid()] == [[bad.at] for bad in rule.invalid()]


if __name__ == "__main__":
    main()
