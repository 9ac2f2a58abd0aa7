"""`porter explain CODE`: the page of a rule."""

from __future__ import annotations

from porter.output.records import to_json
from porter.rules.base import Rule
from porter.rules.registry import find


def run(code: str, output_format: str) -> int:
    """Print the page of the rule with this code or name; `UsageError` when there is none."""
    rule = find(code)
    print(to_json(record(rule)) if output_format == "json" else page(rule), end="")
    return 0


def page(rule: type[Rule]) -> str:
    """The rule's page, with what it reports and what it leaves alone."""
    text = rule.page()
    if invalid := rule.invalid():
        text += "\n## Reported\n" + "".join(_block(bad.code) for bad in invalid)
    return text + "\n## Not reported\n" + "".join(_block(case) for case in rule.valid() if case)


def _block(case: str) -> str:
    return f"\n```python\n{case.strip()}\n```\n"


def record(rule: type[Rule]) -> dict[str, object]:
    """What `--output-format json` says of a rule."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "since": rule.since,
        "summary": rule.summary(),
        "page": page(rule),
    }
