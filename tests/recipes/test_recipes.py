"""Each page `docs/add-a-*.md` is followed once, from outside of the package.

A recipe runs in a process of its own: what it adds is not there for other tests.  The code that
its page shows is the code that runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from porter.convert.passes import PASSES
from tests.support.paths import ROOT

HERE = Path(__file__).parent
#: each page with the files that follow it
RECIPES = {
    "numpy-function": ["function.py"],
    "rule": ["rule.py", "rules/added/float_grid.py"],
    "pass": ["pass_.py"],
    "target": ["target.py", "loops/kernel_map.py.j2"],
    "schedule": ["../schedule/recipe/warp.py", "../schedule/recipe/kernel_warp.py.j2"],
}


# a schedule is added in tests/schedule/test_schedules.py
@pytest.mark.parametrize("recipe", [name for name in RECIPES if name != "schedule"])
def test_a_recipe_works(recipe: str) -> None:
    module = RECIPES[recipe][0].removesuffix(".py")
    done = subprocess.run(
        [sys.executable, "-m", f"tests.recipes.{module}"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_page_shows_what_runs(recipe: str) -> None:
    page = (ROOT / "docs" / f"add-a-{recipe}.md").read_text("utf-8")
    texts = [(HERE / name).read_text("utf-8") for name in RECIPES[recipe]]
    shown = re.findall(r"^```(?:python|jinja)\n(.*?)^```", page, re.M | re.S)
    assert shown
    for code in shown:
        # "..." stands for lines that are left out
        parts = [part.strip("\n") for part in re.split(r"^ *\.\.\.\n", code, flags=re.M)]
        assert any(all(part in text for part in parts) for text in texts), code


def test_the_table_of_passes_is_the_tuple() -> None:
    text = (ROOT / "docs" / "stages.md").read_text("utf-8")
    table = text.partition("| pass | file | does |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", table, re.M)
    assert [name for name, _ in rows] == [step.name for step in PASSES]
    folders = [ROOT / "porter", ROOT / "porter" / "transforms"]
    missing = [file for _, file in rows if not any((f / file).is_file() for f in folders)]
    assert missing == []
