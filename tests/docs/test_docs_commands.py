"""The commands of the README and of docs/ do what the pages show, run from an installed wheel."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from tests.support.wheels import installed_porter
from tests.tools.docs_commands import (
    Block,
    Folder,
    agree,
    blocks,
    commands,
    pages,
    rewritten,
    shortened,
)

CUDA = importlib.util.find_spec("numba_cuda") is not None
#: pages that take longest; what they show has tests of its own
LONG = {
    "tutorial-using-numba-for-gpus", "tutorial-introduction", "tutorial-porting",
    "tutorial-numba-basics", "tutorial-parallel-programming", "streams", "ufuncs", "cupy",
    "verification", "index", "numba", "dask",
}  # fmt: skip


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed_porter(tmp_path_factory.mktemp("porter"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "page", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.skipif(not CUDA, reason="the pages show what the extra `cuda` gives")
@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.long) if p.stem in LONG else p for p in pages()],
    ids=lambda page: page.stem,
)
def test_page(page: Path, scripts: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # advice depends on times, and a pause of the machine changes them: a page has two tries
    found = Folder(tmp_path / "page", scripts).differences(text) and Folder(
        tmp_path / "again", scripts
    ).differences(text)
    messages = [difference.message for difference in found]
    advice = f"\n\nrun `python -m tests.tools.docs_commands --write {page.name}`"
    assert not messages, "\n\n".join(messages) + advice


def test_the_pages_have_commands() -> None:
    names = {page.name for page in pages()}
    assert {"README.md", "index.md", "verification.md"} <= names


PAGE = """
```python title="a.py"
x = 1


def f():
    return x
```

```console
$ cat \\
    a.py | head -2
x = 1
...
$ grep x a.py > b.txt

$ echo took 1.25 s
took 3.5 s
```
"""


def test_commands_are_found() -> None:
    block = blocks(PAGE)[1]
    assert [c.text for c in commands(block)][1:] == ["grep x a.py > b.txt", "echo took 1.25 s"]
    assert commands(block)[0].shown == ["x = 1", "..."]


def test_a_page_that_is_right(folder: Folder) -> None:
    assert list(folder.differences(PAGE)) == []
    assert (folder.path / "b.txt").exists()


def test_a_command_that_fails(folder: Folder) -> None:
    (found,) = folder.differences("```console\n$ false\n```\n")
    assert "exits with 1" in found.message


def test_a_block_is_rewritten(folder: Folder) -> None:
    wrong = PAGE.replace("x = 1\n...", "y = 1\n...").replace("took 3.5 s", "3.5 s")
    found = list(folder.differences(wrong))
    assert rewritten(wrong, found) == PAGE.replace("3.5 s", "1.25 s")


def test_an_excerpt_is_rewritten(folder: Folder) -> None:
    shown = '```python title="a.py"\ndef f():\n    return y\n```\n'
    (found,) = folder.differences(PAGE + shown)
    assert rewritten(PAGE + shown, [found]) == PAGE + shown.replace("return y", "return x")
    excerpt = '```python title="a.py"\nx = 1\n...\n    return x\n```\n'
    assert list(Folder(folder.path.parent / "b", folder.path).differences(PAGE + excerpt)) == []


def test_lines_that_differ_in_numbers_that_vary() -> None:
    assert agree(["took 1.5 s", "...", "end"], ["took 12 s", "a", "b", "end"])
    assert agree(["1.82 ms  1,000 calls"], ["898 us  1,000 calls"])
    assert agree(["is 0.38292493557464974, not"], ["is 0.3829249355746498, not"])
    assert not agree(["24 cases"], ["23 cases"])
    assert not agree(["a", "b"], ["a", "c", "b"])


def test_new_lines_are_cut_as_the_old_ones_were() -> None:
    assert shortened(["...", "b"], ["1", "2", "3"]) == ["...", "3"]
    assert shortened(["a", "..."], ["1", "2", "3"]) == ["1", "..."]
    assert shortened(["a"], ["1", "2"]) == ["1", "2"]


def test_other_blocks_have_no_commands() -> None:
    assert commands(Block("bash", "", "$ ls\n", (0, 5))) == []
