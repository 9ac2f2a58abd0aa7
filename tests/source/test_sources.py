"""PATHs: files, directories with .gitignore, notebooks, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.source.files import SourceFile, load
from porter.source.text import column, split_lines


def write(folder: Path, name: str, content: str = "x = 1\n") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
    return file


def names(folder: Path, *, exclude: tuple[str, ...] = ()) -> list[str]:
    files = load([str(folder)], exclude=exclude).files
    return [Path(f.path).relative_to(folder).as_posix() for f in files]


def test_directory_respects_gitignore_at_every_level(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".gitignore", "build/\n*.gen.py\n")
    write(tmp_path, "sub/.gitignore", "!keep.gen.py\n/local.py\n")
    for name in ("a.py", "b.gen.py", "build/c.py", "sub/keep.gen.py", "sub/other.gen.py"):
        write(tmp_path, name)
    for name in ("sub/local.py", "sub/deep/local.py", ".venv/d.py", "notes.txt"):
        write(tmp_path, name)
    assert names(tmp_path) == ["a.py", "sub/deep/local.py", "sub/keep.gen.py"]
    # a subfolder is still under the .gitignore of its repository
    assert names(tmp_path / "sub") == ["deep/local.py", "keep.gen.py"]


def test_exclude_takes_gitignore_patterns(tmp_path: Path) -> None:
    for name in ("a.py", "tests/b.py", "c_cuda.py"):
        write(tmp_path, name)
    assert names(tmp_path, exclude=("tests/", "*_cuda.py")) == ["a.py"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    file = str(write(tmp_path, "a.py"))
    assert len(load([file, file]).files) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.py", None, "no such file or directory"),
        ("binary.py", b"\x7fELF\0\0", "a binary file, not Python source"),
        ("latin.py", b"x = '\xe9'\n", "cannot be decoded as text"),
        ("cookie.py", b"# -*- coding: nonsense -*-\n", "cannot be decoded as text"),
        ("broken.ipynb", b"{]", "not a notebook"),
        ("list.ipynb", b"[1, 2]", "not a notebook"),
    ],
)
def test_what_cannot_be_read_is_one_plain_sentence(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    other = write(tmp_path, "other.py")
    sources = load([str(file), str(other)])
    assert [f.path for f in sources.files] == [str(other)]
    assert len(sources.problems) == 1
    assert str(file) in sources.problems[0]
    assert said in sources.problems[0]


def test_directory_without_python(tmp_path: Path) -> None:
    write(tmp_path, "readme.txt")
    assert load([str(tmp_path)]).problems == (f"{tmp_path}: no Python files in this directory",)


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbfx = '\xc3\xa9'\n", b"# coding: latin-1\nx = '\xe9'\n"]
)
def test_encodings_that_python_reads_are_read(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(raw)
    (found,) = load([str(file)]).files
    assert "x = 'é'" in found.text
    assert found.text.encode(found.encoding) == raw


def notebook(folder: Path, *cells: str | list[str]) -> SourceFile:
    data = {"cells": [{"cell_type": "code", "source": c} for c in cells], "nbformat": 4}
    data["cells"].insert(0, {"cell_type": "markdown", "source": "# title"})
    (source,) = load([str(write(folder, "n.ipynb", json.dumps(data)))]).files
    return source


def test_notebook_lines_lead_back_to_their_cells(tmp_path: Path) -> None:
    source = notebook(tmp_path, "a = 1\nb = 2\n", ["c = 3\n", "d = 4"])
    for line, text in enumerate(source.lines, 1):
        if "=" in text:
            cell = {"a": ("1", 1), "b": ("1", 2), "c": ("2", 1), "d": ("2", 2)}[text[0]]
            assert source.place(line) == (f"{source.path}:cell {cell[0]}", cell[1])


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!ls\nx = 1", "# !ls\nx = 1"),
        ("for i in y:\n    %timeit f(i)\n", "for i in y:\n    pass  # %timeit f(i)"),
        ("np.sin?\nx = 1", "# np.sin?\nx = 1"),
        ("files = !ls\nx = 1", "# files = !ls\nx = 1"),
        ("!ls \\\n  -l \\\n  -a\nx = 1", "# !ls \\\n#   -l \\\n#   -a\nx = 1"),
        ("!ls\nx = 1 + \\\n  2", "# !ls\nx = 1 + \\\n  2"),
        ("%%timeit\nx = 1", "# %%timeit\nx = 1"),
        ("pip install cuda-python\nx = 1", "# pip install cuda-python\nx = 1"),
        ("cd ..\nx", "# cd ..\nx"),
        ("%%writefile a.py\nx = 1", "# %%writefile a.py\nx = 1"),
        ("%%bash\nls -l", "# %%bash\n# ls -l"),
        (
            "# @title Step 1\n%%writefile a.cu\n  int i;",
            "# # @title Step 1\n# %%writefile a.cu\n#   int i;",
        ),
        ("# @title Timed\n%%time\nx = 1", "# @title Timed\n# %%time\nx = 1"),
        ("x = (5\n%3)", "x = (5\n%3)"),
    ],
)
def test_magics_are_commented_out_in_place(tmp_path: Path, cell: str, kept: str) -> None:
    source = notebook(tmp_path, cell)
    assert source.text.rstrip() == kept
    assert source.broken == ()


def test_a_cell_that_is_not_python_leaves_the_others_alone(tmp_path: Path) -> None:
    source = notebook(tmp_path, "a = 1", "b = = 2", "c = 3")
    assert [source.place(b.line) for b in source.broken] == [(f"{source.path}:cell 2", 1)]
    assert "\n# b = = 2\n" in source.text
    compile(source.text, "n", "exec")


def test_lines_and_columns_are_counted_as_python_does() -> None:
    assert split_lines("a\x0cb\r\nc\u2028d\re\n") == ["a\x0cb", "c\u2028d", "e"]
    assert column("é = é + x", len("é = é + ".encode())) == 9
