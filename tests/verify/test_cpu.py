"""Modules of compiled loops are called beside their originals; nothing of a GPU is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.codegen.module.header import parse
from porter.config import Config
from porter.convert.files import convert_file
from porter.diagnostics import UsageError
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.verify.report import lines
from porter.verify.run import verify_module

SOURCE = """
import numpy as np

def doubled(x):
    return 2.0 * x + x.mean()
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module that was not verified yet."""
    source = tmp_path / "doubled.py"
    source.write_text(SOURCE)
    options = ConvertOptions((str(source),), signature="float64[:]", target="loops", verify=False)
    place = tmp_path / "doubled_loops.py"
    made = convert_file(SourceFile(str(source), SOURCE), options, Config(), place, lambda _: None)
    place.write_text(made.text or "")
    return place


def test_it_runs_on_this_cpu(module: Path) -> None:
    (found,) = verify_module(module, cases=8)
    assert found.verified, found.mismatch
    (evidence,) = found.evidence
    # the names of the contract: its own source, compiled for the CPU
    assert (evidence.on, evidence.detail["ran"]) == ("emulator", "cpu")
    assert evidence.detail["launches"] > 0
    assert found.summary() == ("cpu 16 cases",)
    assert next(lines(found)).startswith("verified on this CPU: 16 cases passed")


def test_a_wrong_loop_is_found(module: Path) -> None:
    text = module.read_text()
    assert "2.0) * x[i]" in text
    module.write_text(text.replace("2.0) * x[i]", "2.5) * x[i]"))
    (found,) = verify_module(module, cases=8)
    assert found.failed
    assert found.mismatch is not None
    assert found.mismatch.what == "value"
    assert "--on" not in found.mismatch.command


def test_what_is_not_stored_is_poisoned(module: Path) -> None:
    text = module.read_text()
    assert "prange(x.shape[0])" in text
    module.write_text(text.replace("prange(x.shape[0])", "prange(x.shape[0] - 1)"))
    (found,) = verify_module(module, cases=8)
    assert found.failed


def test_engines_of_kernels_are_skipped(module: Path) -> None:
    (found,) = verify_module(module, cases=8, on=("ptx", "simulator"))
    assert [(e.on, e.status) for e in found.evidence] == [
        ("ptx", "skipped"), ("simulator", "skipped")
    ]  # fmt: skip
    assert not found.verified


def test_the_header_tells_the_target(module: Path) -> None:
    header = parse(module.read_text())
    assert header is not None
    assert header.target == "loops"
    module.write_text(module.read_text().replace("porter: target loops", "porter: target disk"))
    with pytest.raises(UsageError, match="target `disk`"):
        verify_module(module)
