"""Modules for tests of the verifier: copied with a change, and verified on the simulator."""

from __future__ import annotations

from pathlib import Path

from porter.codegen.module.header import body_of, parse, render, text_hash
from porter.verify.evidence import FunctionEvidence
from porter.verify.run import verify_module
from tests.support.paths import VERIFY_MODULES


def copy(folder: Path, stem: str, old: str = "", new: str = "", *, edited: bool = False) -> Path:
    """A module and its source in `folder`, with one change and, unless edited, right hashes."""
    source = (VERIFY_MODULES / f"{stem}.py").read_text()
    (folder / f"{stem}.py").write_text(source)
    text = (VERIFY_MODULES / f"{stem}_cuda.py").read_text()
    body = body_of(text)
    assert old in body, f"the mutant no longer applies: {old!r}"
    header = parse(text)
    assert header is not None
    header = type(header)(header.version, header.source, text_hash(source), header.functions)
    path = folder / f"{stem}_cuda.py"
    changed = body.replace(old, new)
    if edited:
        path.write_text(render(header, body).replace(body, changed))
    else:
        path.write_text(render(header, changed))
    return path


def prove(path: Path, name: str, **options: object) -> FunctionEvidence:
    """The simulator's evidence for one function."""
    found = verify_module(path, on=("simulator",), functions=(name,), **options)  # type: ignore
    return found[0]
