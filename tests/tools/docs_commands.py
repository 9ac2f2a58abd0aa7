"""Runs the commands of the README and of the pages in docs/ and compares what they print.

    python -m tests.tools.docs_commands [PAGE...]            names the blocks that differ
    python -m tests.tools.docs_commands --write [PAGE...]    writes what is printed now into them

Each page runs from top to bottom in a new folder that holds a copy of `examples/`:

* A fenced block with a title (```python title="work.py") is a file.  The first such block
  writes the file.  If the file is there already (an example, a generated module), the block
  must be an excerpt of it.
* A `console` block has commands after `$ ` and below each of them what it prints.  A line `...`
  stands for any lines.  A command with nothing below it only has to succeed.

In both, what differs between two runs (times, registers, the emulator's cases) is not
compared: see VOLATILE.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.wheels import ROOT, installed_porter, without_python_settings

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
#: seconds that a command may take
LIMIT = 180

#: what is replaced before two lines are compared
VOLATILE = (
    (r"\bemulator\b.*", "emulator #"),
    (r"\b\d[\d,.]* (ns|us|ms|s|min)\b", "# s"),
    (r"\b\d[\d,.]* (?=(registers|times)\b)", "# "),
    (r"\b(\d+\.\d{8})\d+", r"\1"),  # the last digits are those of the C library
    (r"\b\d+(\.\d+)? %", "# %"),
    (r"\bworst error [\d,.e+]+ ulp( \([^)]*\))?", "worst error # ulp"),
    (r"\b\d+\.\d{4}\b", "#"),  # the columns of `porter trace`
    (r"\b(numba|numba-cuda|numba-cuda-mlir|Python) \d[\d.]*", r"\1 #"),
    (r"[ \t]+", " "),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title or "", its text, and where the text is."""

    language: str
    title: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True)
class Command:
    """A command of a `console` block and the lines that are shown below it."""

    text: str
    shown: list[str]


@dataclass(frozen=True)
class Difference:
    """A block that is not what a run gives, and what it should be, as far as that is known."""

    block: Block
    message: str
    instead: str | None


def pages() -> list[Path]:
    """Every page with commands: the README and the pages in docs/, without the generated ones."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in every if any(commands(b) for b in blocks(page.read_text("utf-8")))]


def blocks(page: str) -> list[Block]:
    return [Block(m[1], m[2] or "", m[3], m.span(3)) for m in BLOCK.finditer(page)]


def commands(block: Block) -> list[Command]:
    """The commands of a `console` block; of any other block, none."""
    found: list[Command] = []
    if block.language != "console":
        return found
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], []))
        elif found and found[-1].text.endswith("\\") and not found[-1].shown:
            found[-1] = Command(f"{found[-1].text}\n{line}", [])
        elif found:
            found[-1].shown.append(line)
    return found


def plain(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, instead in VOLATILE:
        line = re.sub(pattern, instead, line)
    return line.rstrip()


def agree(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines of a page are those that were printed.

    A lone `...` never is: it waits for `--write`.
    """
    if shown == ["..."]:
        return False
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(plain(line)) + r"\n" for line in shown
    )
    return re.fullmatch(pattern, "".join(plain(line) + "\n" for line in printed)) is not None


def shortened(shown: list[str], printed: list[str]) -> list[str]:
    """New lines for a page: cut where the old ones were cut at their beginning or end."""
    dots = [i for i, line in enumerate(shown) if line.strip() == "..."]
    if dots == [0] and len(shown) > 1:
        return ["...", *printed[1 - len(shown) :]]
    if dots == [len(shown) - 1] and len(shown) > 1:
        return [*printed[: len(shown) - 1], "..."]
    return printed


class Folder:
    """Where a page's commands run: a new folder outside of the checkout with the examples."""

    def __init__(self, path: Path, scripts: Path) -> None:
        self.path = path
        shutil.copytree(ROOT / "examples", path / "examples")
        shutil.rmtree(path / "examples" / "__pycache__", ignore_errors=True)
        self.environment = without_python_settings() | {
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",  # stdout and stderr in the order of a terminal
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "TMPDIR": str(path.parent),
        }

    def prints(self, command: str) -> tuple[list[str], int]:
        """The lines that a command prints to a terminal, and its exit code."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
        )
        return done.stdout.rstrip("\n").splitlines(), done.returncode

    def differences(self, page: str) -> Iterator[Difference]:
        """Run a page."""
        for block in blocks(page):
            if block.title:
                yield from self.file(block)
            elif commands(block):
                yield from self.console(block)

    def file(self, block: Block) -> Iterator[Difference]:
        file = self.path / block.title
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            return
        text = file.read_text(encoding="utf-8")
        pieces = re.split(r"^ *\.\.\.\n", block.text, flags=re.M)
        if not all(piece.strip("\n") in text for piece in pieces):
            instead = definitions(text, re.findall(r"^def (\w+)", block.text, re.M))
            yield Difference(block, f"is not an excerpt of {block.title}", instead)

    def console(self, block: Block) -> Iterator[Difference]:
        lines, messages = [], []
        for command in commands(block):
            printed, code = self.prints(command.text)
            shown = command.shown
            while shown and not shown[-1]:  # an empty line between two commands
                shown = shown[:-1]
            rest = command.shown[len(shown) :]
            if shown and not agree(shown, printed):
                messages.append(f"`{command.text}` prints\n" + "\n".join(printed))
                shown = shortened(shown, printed)
            elif not shown and code != 0:
                messages.append(f"`{command.text}` exits with {code}\n" + "\n".join(printed))
            lines += [f"$ {command.text}", *shown, *rest]
        if messages:
            yield Difference(block, "\n".join(messages), "\n".join(lines) + "\n")


def definitions(module: str, names: list[str]) -> str | None:
    """The functions of a module, as a page shows them; None if one of them is missing."""
    found = {}
    for node in ast.parse(module).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name] = "\n".join(module.splitlines()[first - 1 : node.end_lineno])
    if not names or not found.keys() >= set(names):
        return None
    return "\n\n\n".join(found[name] for name in names) + "\n"


def rewritten(page: str, found: list[Difference]) -> str:
    """A page with the blocks that differ replaced, from the last to the first."""
    for difference in reversed(found):
        if difference.instead is not None:
            start, end = difference.block.span
            page = page[:start] + difference.instead + page[end:]
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", metavar="PAGE", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write what is printed now")
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        scripts = installed_porter(temporary / "porter")
        for page in options.pages or pages():
            text = page.read_text(encoding="utf-8")
            folder = Folder(temporary / page.stem, scripts)
            found = list(folder.differences(text))
            for difference in found:
                line = text[: difference.block.span[0]].count("\n") + 1
                print(f"{page}:{line}: {difference.message}\n")
            if options.write:
                page.write_text(rewritten(text, found), encoding="utf-8")
            elif found:
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
