"""The pictures in docs/images: the HTML report, and a kernel beside its source.

`python -m tests.tools.make_pictures` writes them; it needs Chromium. Each is made for light and for
dark pages. tests/docs/test_pictures.py checks that the pages use them.
"""

from __future__ import annotations

import ast
import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from jinja2 import Environment, StrictUndefined

from porter.output.report.generated import generate
from porter.output.report.page import as_html
from porter.output.report.tokens import coloured
from porter.rules.engine import analyze
from porter.source.files import SourceFile
from tests.support.browser import Browser, chromium
from tests.support.paths import ROOT

IMAGES = ROOT / "docs" / "images"
TEMPLATE = Path(__file__).with_name("kernel_beside_source.html.j2")
SCHEMES = ("light", "dark")
REPORTED = ("examples/softmax.py", "examples/heat.py", "examples/md5_blocks.py")
#: of each picture of the report: its name, the line that it shows, the size of the window
VIEWS = (
    ("report-kernel", "examples/softmax.py:9", (1560, 710)),
    ("report-finding", "examples/md5_blocks.py:11", (1280, 850)),
)
KERNEL = "kernel-beside-source"
NAMES = (*(name for name, _, _ in VIEWS), KERNEL)
#: puts the first linked line of a module below the head of its kernel
SCROLL = """
const line = document.querySelector(".module .linked");
if (line) {
  const pane = line.closest(".pane");
  pane.scrollTop += line.getBoundingClientRect().top - pane.getBoundingClientRect().top - 164;
}
"""

Line = tuple[int, list[str]]


def source(name: str) -> SourceFile:
    return SourceFile(name, (ROOT / name).read_text("utf-8"))


def report() -> str:
    """What `porter analyze --output-format html` writes for some of the examples."""
    return as_html([analyze(source(name)) for name in REPORTED], {})


def kernel_page() -> str:
    """A page with softmax on the left and its kernel on the right.

    Lines are linked by the number of their group. A statement that has no line of its own in the
    kernel is computed where the next one is, so it belongs to the group of the next one.
    """
    file = source("examples/softmax.py")
    made = generate(file, analyze(file).functions, {})
    assert made is not None
    start = made.lines.index("def softmax_rows(x, out):") - 1
    stop = made.lines.index("", start)
    origins = made.sources[start:stop]
    linked = sorted({line for line in origins if line})

    function = next(n for n in ast.parse(file.text).body if isinstance(n, ast.FunctionDef))
    documented = function.body[0].end_lineno or 0
    groups = [
        sum(line < n for line in linked) + 1 if n > documented else 0
        for n in range(function.lineno, len(file.lines) + 1)
    ]
    left = _lines(groups, file.lines[function.lineno - 1 :])
    right = _lines([1 + linked.index(n) if n else 0 for n in origins], made.lines[start:stop])
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return page.from_string(TEMPLATE.read_text("utf-8")).render(left=left, right=right)


def _lines(groups: Sequence[int], lines: Sequence[str]) -> list[Line]:
    return list(zip(groups, coloured(lines), strict=True))


def pictures(browser: Browser, folder: Path) -> list[Path]:
    """Write every picture into a folder."""
    made = []
    with tempfile.TemporaryDirectory() as temporary:
        pages = Path(temporary)
        (pages / "report.html").write_text(report(), "utf-8")
        (pages / "kernel.html").write_text(kernel_page(), "utf-8")
        browser.chrome.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        for scheme in SCHEMES:
            browser.media(scheme)
            for name, place, size in VIEWS:
                browser.size(*size)
                browser.open(pages / "report.html", f"#/{place}")
                browser.run(SCROLL)
                made.append(_shot(browser, folder / f"{name}-{scheme}.png"))
            browser.size(1060, 600)
            browser.open(pages / "kernel.html")
            height = int(browser.run("return document.querySelector('main').offsetHeight"))
            browser.size(1060, height)
            made.append(_shot(browser, folder / f"{KERNEL}-{scheme}.png", scale=1.5))
    return made


def _shot(browser: Browser, path: Path, scale: float = 1.0) -> Path:
    width, height = browser.run("return [innerWidth, innerHeight]")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
    shot = browser.chrome.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))
    return path


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            with chromium(Path(profile)) as browser:
                made = pictures(browser, IMAGES)
        except pytest.skip.Exception as missing:
            raise SystemExit(str(missing)) from None
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
