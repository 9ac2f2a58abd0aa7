"""Prints one command of the README's section `Quick start`, as it stands there.

    python .ci/quick_start.py README.md 2

The section holds exactly two fenced blocks, one command in each.  Lines that start with
`$ ` are the command of a block that shows output as well; without such a line the whole
block is the command.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^`]*)$")
HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")


def blocks(readme: str, section: str) -> list[str]:
    """The fenced blocks of a section, up to the next heading of its level or above.

    A `#` inside a block is a comment of the shell, not a heading.
    """
    found: list[list[str]] = []
    fence, level, inside = "", 0, False
    for line in readme.splitlines():
        opening = FENCE.match(line)
        if fence:
            closes = opening is not None and opening[1].startswith(fence) and not opening[2]
            if closes:
                fence = ""
            elif inside:
                found[-1].append(line)
        elif opening is not None:
            fence = opening[1]
            if inside:
                found.append([])
        elif (heading := HEADING.match(line)) is not None:
            if inside and len(heading[1]) <= level:
                inside = False
            elif heading[2].strip().lower() == section.lower():
                inside, level = True, len(heading[1])
    return ["\n".join(block) for block in found]


def command(block: str) -> str:
    """What to run of a block: its `$ ` lines if it has any, else all of it."""
    lines = block.strip("\n").splitlines()
    prompts = [line.lstrip()[2:] for line in lines if line.lstrip().startswith("$ ")]
    return "\n".join(prompts or lines)


def quick_start(readme: str, number: int) -> str:
    """The command `number` (1 or 2) of the section.

    Raises ValueError if the section does not hold exactly two commands.
    """
    found = [text for text in map(command, blocks(readme, "Quick start")) if text.strip()]
    if len(found) != 2:
        raise ValueError(f"the section `Quick start` holds {len(found)} commands, not 2")
    return found[number - 1]


def main() -> None:
    """Print the command, or say on stderr why there is none and exit with 1."""
    path, number = Path(sys.argv[1]), int(sys.argv[2])
    try:
        print(quick_start(path.read_text(encoding="utf-8"), number))
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")


if __name__ == "__main__":
    main()
