"""A function of the corpus as a module that the command line wrote, not verified."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.inputs import CASES
from tests.support.commands import porter
from tests.support.paths import CORPUS


def converted(key: str, folder: Path) -> Path:
    """The module of `file:name` in a folder, beside a copy of its source."""
    file, name = key.split(":")
    source, module = folder / f"{file}.py", folder / f"{file}_cuda.py"
    source.write_text((CORPUS / f"{file}.py").read_text())
    given = ["-f", name, "--no-verify", "--signature", CASES[key].signature, "-o", str(module)]
    porter(folder, "convert", str(source), *given).check_returncode()
    return module
