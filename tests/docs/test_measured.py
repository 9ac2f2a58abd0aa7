"""The times of a GPU in the pages are those of the file that was kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

PAGE = ROOT / "docs/performance.md"


def test_the_table_is_made_of_the_results(tmp_path: Path) -> None:
    (results,) = (ROOT / "benchmarks/results").glob("*.jsonl")
    made = tmp_path / PAGE.name
    shutil.copy(PAGE, made)
    command = [sys.executable, "benchmarks/gpu_speed.py", str(tmp_path), "--results", str(results)]
    subprocess.run([*command, "--page", str(made)], cwd=ROOT, check=True)
    assert made.read_text("utf-8") == PAGE.read_text("utf-8")
