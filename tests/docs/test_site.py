"""The documentation: the site builds strictly, every link leads somewhere, the README is short."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: a fenced block, or code in a line: what looks like a link in there is none
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
README_LINES = 150
#: what GitHub and the site read after a picture's name: the colour scheme that it is for
SCHEMES = {"gh-light-mode-only", "gh-dark-mode-only"}


def without_code(text: str) -> str:
    return CODE.sub("", text)


def links(text: str) -> list[str]:
    """The addresses that a page leads to, those of other hosts left out."""
    found = [a or b for a, b in LINK.findall(without_code(text))]
    return [link for link in found if not link.startswith(("https://", "http://", "mailto:"))]


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs both make them."""
    fenced = re.sub(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", "", text, flags=re.M | re.S)
    titles = re.findall(r"^#{1,6} +(.*?) *#*$", fenced, re.M)
    return {slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)) for title in titles}


def slug(title: str) -> str:
    text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = target.exists()
        if there and anchor:
            picture = target.suffix == ".png"
            there = anchor in (SCHEMES if picture else anchors(target.read_text(encoding="utf-8")))
        if not there:
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_pages_of_the_site_lead_to_pages_of_the_site() -> None:
    docs = ROOT / "docs"
    for page in docs.rglob("*.md"):
        for link in links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            assert target.is_relative_to(docs), f"{page.relative_to(ROOT)}: {link}"


#: what maintainers read: these pages name files
MAINTAINERS = ["architecture", "stages", "decisions"]
MAINTAINERS += sorted(path.stem for path in ROOT.glob("docs/add-a-*.md"))


@pytest.mark.parametrize("page", MAINTAINERS)
def test_files_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    named = set(re.findall(r"`((?:[\w-]+/)*[\w.-]+\.(?:py|j2|toml))`", text))
    folders = [ROOT / name for name in ("porter", "templates", "tests", "docs", "examples")]
    there = [f"/{path.relative_to(ROOT)}" for f in folders for path in f.rglob("*.*")]
    there.append("/pyproject.toml")
    assert sorted(n for n in named if not any(path.endswith(f"/{n}") for path in there)) == []
    assert named


@pytest.mark.parametrize(
    ("stage", "name"),
    [("array", "softmax"), ("loops", "softmax"), ("plan", "softmax"), ("plan", "heat")],
)
def test_forms_are_shown_as_they_are_printed(stage: str, name: str) -> None:
    command = [sys.executable, "-m", "porter", "convert", f"examples/{name}.py", "--emit", stage]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert f"```\n{done.stdout}```\n" in (ROOT / "docs" / "stages.md").read_text("utf-8")


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "# One `two` three\n[a](#one-two-three) [b](#two) [c](gone.md) `[d](gone.md)`\n"
    text += '```\n[e](gone.md)\n# four\n```\n[f](page.md#four) <img src="gone.png">\n'
    page.write_text(text, encoding="utf-8")
    assert broken(page, text) == ["#two", "gone.md", "page.md#four", "gone.png"]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


class Loaded(HTMLParser):
    """What a browser loads to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        names = ("src", "srcset", "data", *(["href"] if tag == "link" else []))
        self.addresses += [values[name] or "" for name in names if name in values]


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="needs mkdocs-material (the extra `test`)"
)
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    built = sorted(tmp_path.rglob("*.html"))
    assert len(built) > 90
    for page in built:
        parser = Loaded()
        parser.feed(page.read_text(encoding="utf-8"))
        away = [a for a in parser.addresses if re.match(r"(https?:)?//", a)]
        assert not away, f"{page.name} loads {away}"
