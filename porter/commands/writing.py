"""Where a generated module goes, and when it may be written there."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from porter.codegen.module.header import body_of, is_edited, parse
from porter.diagnostics import UsageError
from porter.source.regular import MOST_DATA, read_regular_text


@dataclass(frozen=True)
class Output:
    """The file a module belongs in; `path` is None for standard output."""

    path: Path | None
    shown: str


def choose_output(source: str, wanted: str | None, several: bool, target: str = "cuda") -> Output:
    """`<stem>_<target>.py` beside the source, in a directory, or exactly the file asked for."""
    stem = Path("stdin" if source == "-" else source).stem
    name = f"{re.sub(r'[^0-9A-Za-z_]', '_', stem)}_{target}.py"
    if wanted == "-" or (wanted is None and source == "-"):
        return Output(None, "-")
    if wanted is None:
        path = Path(source).with_name(name)
    elif wanted.endswith(".py") and not Path(wanted).is_dir():
        path = Path(wanted)
    else:
        path = Path(wanted) / name
    return Output(path, str(path))


def existing(output: Output) -> str | None:
    """The text that is there now, or None."""
    if output.path is None:
        return None
    try:
        return read_regular_text(output.path, MOST_DATA)
    except (OSError, UnicodeDecodeError):
        return None


def _comparable(text: str) -> str:
    """A module without its evidence: what was verified depends on what is installed."""
    header = parse(text)
    if header is None:
        return text
    facts = [
        (f.name, f.signature, f.also, f.shapes, f.assumed, f.forms, f.accepts)
        for f in header.functions
    ]
    ran = header.run_module
    return f"{header.version} {header.source_hash} {ran} {facts}\n{body_of(text)}"


def is_stale(output: Output, text: str) -> bool:
    """Whether the committed module is missing or differs from what would be written."""
    old = existing(output)
    return old is None or _comparable(old) != _comparable(text)


def print_diff(output: Output, text: str) -> None:
    """What writing the module would change, as a unified diff on standard output."""
    old = (existing(output) or "").splitlines(keepends=True)
    new = text.splitlines(keepends=True)
    sys.stdout.writelines(difflib.unified_diff(old, new, output.shown, output.shown))


def write_module(path: Path, text: str, force: bool) -> None:
    """Write atomically. Raises UsageError for a file that porter must not overwrite."""
    check_writable(path, force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be written').lower()}") from error


def check_writable(path: Path, force: bool) -> None:
    """Refuse to overwrite what porter did not write, or what was edited since."""
    if force or not path.exists():
        return
    if path.is_dir():
        raise UsageError(f"{path} is a directory")
    try:
        old = read_regular_text(path, MOST_DATA)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} exists and cannot be read: give another -o") from error
    if parse(old) is None:
        raise UsageError(f"{path} was not written by porter: give another -o, or --force")
    if is_edited(old):
        raise UsageError(f"{path} was edited by hand: keep it, or overwrite it with --force")
