"""`porter rules`: the index of all rules, and the pages in docs/rules that it is made from."""

from __future__ import annotations

import sys
from pathlib import Path

from porter.commands.explain import page, record
from porter.output.records import to_json
from porter.rules.base import BLOCKS
from porter.rules.registry import all_rules


def run(output_format: str) -> int:
    """Print every rule, by block."""
    rules = all_rules().values()
    if output_format == "json":
        records = [record(r) for r in rules]
        keys = ("code", "name", "severity", "since", "summary")
        print(to_json([{key: r[key] for key in keys} for r in records]), end="")
        return 0
    if output_format == "concise":
        print("".join(f"{r.code} {r.name}\n" for r in rules), end="")
        return 0
    block = ""
    for rule in rules:
        if rule.code[3] != block:
            print(("\n" if block else "") + f"PRT{rule.code[3]}xx  {BLOCKS[rule.code[3]]}")
            block = rule.code[3]
        print(f"  {rule.code}  {rule.severity.value:<8} {rule.name}")
    return 0


def pages() -> dict[str, str]:
    """The text of each file of docs/rules, by its name."""
    texts = {f"{r.code}.md": page(r) for r in all_rules().values()}
    return {"README.md": _index(), **texts}


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "Written by `python -m porter.commands.rules docs/rules`.",
        "",
        "Every message of every rule, with its help: [Diagnostics](../diagnostics.md).",
    ]
    block = ""
    for rule in all_rules().values():
        if rule.code[3] != block:
            block = rule.code[3]
            lines += ["", f"## PRT{block}xx {BLOCKS[block]}", ""]
            lines += ["| code | name | severity | what it does |", "|---|---|---|---|"]
        summary = rule.summary().replace("|", "\\|")
        link = f"[{rule.code}]({rule.code}.md)"
        lines.append(f"| {link} | {rule.name} | {rule.severity.value} | {summary} |")
    return "\n".join(lines) + "\n"


def write_pages(folder: Path) -> None:
    """Write docs/rules anew."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
