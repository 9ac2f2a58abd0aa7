"""The hooks that other projects install: their ids, and that their commands exist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.paths import ROOT

HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
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


KERNEL = "from numba import cuda\n\n\n@cuda.jit\ndef k(x):\n    return x[0]\n"


class Scratch:
    """A repository whose only hook is porter-analyze, run by pre-commit itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)

    def hook(self, *arguments: str) -> None:
        # what pre-commit would install is here already: the rest of the hook is as published
        hook = {**HOOKS["porter-analyze"], "language": "system", "args": list(arguments)}
        hook["entry"] = hook["entry"].replace("porter", f"{sys.executable} -m porter", 1)
        config = {"repos": [{"repo": "local", "hooks": [hook]}]}
        (self.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))

    def run(self, **files: str) -> subprocess.CompletedProcess[str]:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)
        self.git("add", "-A")
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"],
            cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "PRE_COMMIT_HOME": str(self.folder.parent / "home")},
        )  # fmt: skip


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "repo").mkdir()
    return Scratch(tmp_path / "repo")


def test_pre_commit_passes_and_fails(scratch: Scratch) -> None:
    scratch.hook()
    done = scratch.run(a="x = 1\n")
    assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout
    done = scratch.run(b=KERNEL)
    assert (done.returncode, "Failed" in done.stdout) == (1, True), done.stdout
    assert "error[PRT301]" in done.stdout
    assert " --> b.py:6:5" in done.stdout


def test_pre_commit_fixes(scratch: Scratch) -> None:
    scratch.hook("--fix")
    done = scratch.run(a="x = 1  # porter: ignore[PRT401]\n")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert (scratch.folder / "a.py").read_text() == "x = 1\n"
    assert scratch.run().returncode == 0
