"""Modules of many functions alike, each with one edit by hand: one proof tells of all of them."""

from __future__ import annotations

from pathlib import Path

from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module
from tests.support.commands import porter

Edit = tuple[str, str]


def edited(folder: Path, definition: str, edits: list[list[Edit]]) -> Path:
    """A module of functions `f0`, `f1`, ... as `definition` says, with the edits of each."""
    source = folder / "alike.py"
    functions = [f"def f{k}{definition}\n" for k in range(len(edits))]
    source.write_text("import numpy as np\n\n\n" + "\n\n".join(functions))
    porter(folder, "convert", "--no-verify", str(source)).check_returncode()
    path = folder / "alike_cuda.py"
    text = path.read_text()
    for k, changes in enumerate(edits):
        first = text.index(f"@cuda.jit\ndef f{k}_")
        host = text.index(f"def f{k}(", first)
        last = text.find("\n\n\n", host)
        part = text[first:last]
        for old, new in changes:
            assert part.count(old) == 1, (old, part)
            part = part.replace(old, new)
        text = text[:first] + part + text[last:]
    path.write_text(text)
    return path


def found(path: Path, on: str, cases: int = 10) -> list[FunctionEvidence]:
    """What is found on the simulator, or by what the emulator joins with."""
    return verify_module(path, on=(on,), cases=cases, joined=on == "emulator")


def assert_all(proofs: list[FunctionEvidence], names: list[str], *, caught: bool) -> None:
    """Each edit was caught, or none was."""
    wrong = [
        (name, p.mismatch.message if p.mismatch else "")
        for name, p in zip(names, proofs, strict=True)
        if p.failed != caught
    ]
    assert wrong == []
