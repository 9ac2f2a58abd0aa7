"""The hooks that other projects install: their ids, and that their commands exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load(
        (Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text("utf-8")
    )
}


def porter(entry: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program, *options = entry.split()
    assert program == "porter"
    command = [sys.executable, "-m", "porter", *options, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_two_hooks_are_there() -> None:
    assert set(HOOKS) == {"porter-analyze", "porter-check"}
    assert all(h["language"] == "python" for h in HOOKS.values())


@pytest.mark.parametrize("hook", HOOKS)
def test_entry_is_a_command_with_options_that_exist(hook: str) -> None:
    done = porter(HOOKS[hook]["entry"], "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: porter" in done.stdout


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("x = 1\n", 0),
        ("from numba import cuda\n\n\n@cuda.jit\ndef k(x):\n    return x[0]\n", 1),
    ],
)
def test_analyze_hook_fails_on_findings_only(tmp_path: Path, code: str, exit_code: int) -> None:
    file = tmp_path / "a.py"
    file.write_text(code)
    assert porter(HOOKS["porter-analyze"]["entry"], str(file)).returncode == exit_code


def test_check_hook_waits_for_the_project_to_name_files() -> None:
    assert HOOKS["porter-check"]["files"] == "^$"
