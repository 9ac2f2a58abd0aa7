"""The pictures in docs/images: pages name them, in light and dark, and they can be made again."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser, chromium
from tests.support.paths import GOLDEN, ROOT
from tests.tools.make_pictures import IMAGES, NAMES, SCHEMES, kernel_page, pictures

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: GitHub and the site show one of the two, which leads to itself in full size
MARKDOWN = re.compile(r"\[!\[([^\]]*)\]\(([^)#\s]+)#gh-(light|dark)-mode-only\)\]\(\2\)")
HTML = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img src="([^"]+)" alt="([^"]+)">\s*</picture>'
)
FILES = sorted(IMAGES.glob("*.png"))
MOST_BYTES = 300_000
#: counts colours, and takes the mean of all channels
COUNT = """
const done = arguments[1], image = new Image();
image.onload = () => {
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height).data;
  const colours = new Set(new Uint32Array(pixels.buffer));
  done([colours.size, pixels.reduce((sum, x, at) => sum + (at % 4 < 3 ? x : 0), 0)
    / (pixels.length * 0.75)]);
};
image.src = "data:image/png;base64," + arguments[0];
"""


def named(page: Path) -> list[tuple[str, str, Path]]:
    """The pictures of a page: the alternative text, the scheme, the file."""
    text = page.read_text("utf-8")
    found = [(alt, scheme, path) for alt, path, scheme in MARKDOWN.findall(text)]
    for dark, light, alt in HTML.findall(text):
        found += [(alt, "light", light), (alt, "dark", dark)]
    return [(alt, scheme, (page.parent / path).resolve()) for alt, scheme, path in found]


def size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return int(width), int(height)


def test_every_picture_is_used_and_every_used_one_is_there() -> None:
    used = {path for page in PAGES for _, _, path in named(page)}
    assert used == set(FILES) == {IMAGES / f"{n}-{s}.png" for n in NAMES for s in SCHEMES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_pictures_in_pairs(page: Path) -> None:
    found = named(page)
    times = 1 if page.name == "README.md" else 2
    assert len(re.findall(r"images/[\w-]+\.png", page.read_text("utf-8"))) == times * len(found)
    for light, dark in zip(found[::2], found[1::2], strict=True):
        assert light[0] == dark[0] and len(light[0]) > 40, "a text says what the picture shows"
        assert (light[1], dark[1]) == SCHEMES
        assert light[2].name.replace("-light.", "-dark.") == dark[2].name != light[2].name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_sizes(path: Path) -> None:
    width, height = size(path)
    assert 1000 <= width <= 1600 and 500 <= height <= 900
    assert path.stat().st_size < MOST_BYTES
    other = {"light": "dark", "dark": "light"}[path.stem.rpartition("-")[2]]
    assert size(path.with_stem(f"{path.stem.rpartition('-')[0]}-{other}")) == (width, height)


def test_the_kernel_in_the_picture_is_the_generated_one() -> None:
    rows = re.findall(r'<div class="line([^"]*)">(.*?)</div>', kernel_page())
    lines = [(unescape(re.sub(r"<[^>]+>", "", text)), kind[-2:]) for kind, text in rows]
    groups = dict(lines)
    golden = (GOLDEN / "softmax_cuda.py").read_text("utf-8")
    kernel = golden[golden.index("@cuda.jit\ndef softmax_rows") :].split("\n\n")[0].split("\n")
    assert [text for text, _ in lines[-len(kernel) :]] == kernel
    first = "    shifted = x - x.max(axis=1, keepdims=True)"
    assert groups[first] == groups["    largest = row_max(largest, scratch)"] == "g1"
    assert groups["    e = np.exp(shifted)"] == groups["    total = T(0.0)"] == "g2"
    assert groups["def softmax(x):"] == groups["def softmax_rows(x, out):"] == ""


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def test_they_can_be_made_again(chrome: Browser, tmp_path: Path) -> None:
    """No pixels are compared: fonts differ between machines."""
    made = {path.stem: path for path in pictures(chrome, tmp_path)}
    assert sorted(made) == [path.stem for path in FILES]
    assert chrome.logs("browser") == []
    # the page of the kernel is the last one: its two groups are linked, and nothing is cut
    assert chrome.run("return [...document.querySelectorAll('path')].length") == 2
    wide = "return document.documentElement.scrollWidth <= innerWidth"
    assert chrome.run(wide)
    for name in NAMES:
        light, dark = (looks(chrome, made[f"{name}-{scheme}"]) for scheme in SCHEMES)
        assert min(light[0], dark[0]) > 50, "colours: the picture is not blank"
        assert light[1] > 200 and dark[1] < 80
        sizes = {size(made[f"{name}-{scheme}"])[0] for scheme in SCHEMES}
        assert sizes == {size(IMAGES / f"{name}-light.png")[0]}


def looks(chrome: Browser, path: Path) -> Any:
    """How many colours a picture has, and how bright it is: 0 to 255."""
    text = base64.b64encode(path.read_bytes()).decode()
    return chrome.chrome.execute_async_script(COUNT, text)
