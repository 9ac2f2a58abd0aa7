"""Modules for tests of the verifier: copied with a change, and verified on the simulator."""

from __future__ import annotations

from pathlib import Path

from porter.codegen.module.header import body_of, parse, render, text_hash
from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module
from tests.support.paths import VERIFY_MODULES


def copy(
    folder: Path, stem: str, old: str = "", new: str = "", *more: tuple[str, str],
    edited: bool = False,
) -> Path:  # fmt: skip
    """A module and its source in `folder`, with some changes and, unless edited, right hashes."""
    source = (VERIFY_MODULES / f"{stem}.py").read_text()
    (folder / f"{stem}.py").write_text(source)
    text = (VERIFY_MODULES / f"{stem}_cuda.py").read_text()
    body = body_of(text)
    header = parse(text)
    assert header is not None
    header = type(header)(header.version, header.source, text_hash(source), header.functions)
    path = folder / f"{stem}_cuda.py"
    changed = body
    for before, after in ((old, new), *more):
        assert before in changed, f"the mutant no longer applies: {before!r}"
        changed = changed.replace(before, after)
    if edited:
        path.write_text(render(header, body).replace(body, changed))
    else:
        path.write_text(render(header, changed))
    return path


def prove(path: Path, name: str, **options: object) -> FunctionEvidence:
    """The simulator's evidence for one function."""
    found = verify_module(path, on=("simulator",), functions=(name,), **options)  # type: ignore
    return found[0]
