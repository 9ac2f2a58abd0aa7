"""The HTML report: what it holds, and how it behaves in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from porter.cli import main
from porter.numba_report.model import Compiled, Failure, LiftedLoop
from porter.output.report.generated import generate
from porter.output.report.lines import parsed, statements
from porter.output.report.page import as_html
from porter.output.report.tokens import coloured
from porter.rules.engine import Analysis, analyze
from porter.source.files import SourceFile, read
from tests.support.browser import Browser, chromium

DEMO = '''\
import hashlib

import numpy as np
from numba import cuda


@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a


def run(x, threads, blocks):
    scale[threads, blocks](x, 2)


def softmax(x):
    """Return probabilities that sum to one in every row."""
    # the largest exponent becomes zero
    shifted = x - x.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=1, keepdims=True)


def ridge(x: "float64[:, :]", y: "float64[:]", lam: float):
    gram = x.T @ x
    w = np.linalg.pinv(gram) @ (x.T @ y)
    return (
        2.0 * w
        / lam
    )


def hash_computation(x):
    for i in range(len(x)):
        x[i] = x[i] ** 2
    return hashlib.md5(x).digest()
'''
OTHER = """\
def smooth(x):
    for i in range(1, len(x)):
        x[i] = max(x[i], 0.5 * x[i - 1])
    return x
"""
SOLVED = "np.linalg.solve(gram, x.T @ y)"
#: what breaks pages that are put together from strings
HOSTILE = '''\
"""</script><script>window.hacked = 1</script>"""
import numpy as np


def größe(x: "float64[:]"):
    # <img src=x onerror="window.hacked = 2"> & &lt; <!-- ]]> {{ 7 * 7 }} {% raw %}
    s = "\\u2028' \\" ` ${window.hacked = 3} \\\\"
    y = np.sin(x)  # 数学 😀😀 \u202e txet \x0c form feed, tab\t, </template>
    return y.nonsense("😀", '<b onclick="window.hacked = 4">') + LONG
'''.replace("LONG", "1.0 + " * 200 + repr("x" * 5000))


def write(
    folder: Path, text: str, *files: tuple[str, str], compiled: tuple[Compiled, ...] = ()
) -> Path:
    """A report on files with these texts."""
    analyses = [
        replace(analyze(SourceFile(name, source)), numba=compiled) for name, source in files
    ]
    (folder / f"{text}.html").write_text(as_html(analyses, {}), "utf-8")
    return folder / f"{text}.html"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(chrome: Browser) -> Iterator[Browser]:
    """The browser as a newcomer has it; whatever a test does, no page may log an error."""
    chrome.size(1440, 1000)
    chrome.media("light")
    yield chrome
    assert chrome.logs("browser") == []
    addresses = chrome.requests()
    assert addresses and all(a.startswith(("file://", "data:", "about:")) for a in addresses)
    assert len({a.partition("#")[0] for a in addresses if a.startswith("file://")}) == 1
    chrome.run("try { localStorage.clear() } catch {}")


@pytest.fixture(scope="module")
def demo(folder: Path) -> Path:
    return write(folder, "demo", ("demo.py", DEMO), ("lib/other.py", OTHER))


@pytest.fixture(scope="module")
def one(folder: Path) -> Path:
    return write(folder, "one", ("demo.py", DEMO))


def line_of(text: str, source: str = DEMO) -> int:
    return next(n for n, x in enumerate(source.splitlines(), 1) if text in x)


def linked(browser: Browser, pane: str) -> list[str]:
    return [x.strip() for x in browser.texts(f".{pane} .ln.linked .text")]


# -- the file -----------------------------------------------------------------------------------


def test_the_command_writes_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo.py").write_text(DEMO)
    for name in ("a.html", "b.html"):
        with pytest.raises(SystemExit) as done:
            main(["analyze", "demo.py", "--output-format", "html", "--output-file", name])
        assert done.value.code == 1
    text = Path("a.html").read_text("utf-8")
    assert text.startswith("<!doctype html>") and text == Path("b.html").read_text("utf-8")
    assert capsys.readouterr().out == ""
    # everything is inside: nothing is linked, and the page's own policy forbids to load
    assert not re.search(r"<(link|script|img|iframe)[^>]+(src|href)=(?!\"data:)", text)
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


def test_verdicts_of_lines() -> None:
    file = SourceFile("demo.py", DEMO)
    (record,) = records(analyze(file))
    kinds = {line.strip(): k for line, k in zip(file.lines, record["kinds"], strict=True)}
    assert kinds["shifted = x - x.max(axis=1, keepdims=True)"] == "g"
    assert kinds["w = np.linalg.pinv(gram) @ (x.T @ y)"] == "b"
    assert kinds["2.0 * w"] == kinds["return ("] == "g"
    assert kinds["x[i] *= a"] == "k"
    assert kinds["x[i] = x[i] ** 2"] == "r"
    assert kinds["return hashlib.md5(x).digest()"] == "x"
    assert kinds["import hashlib"] == kinds["def softmax(x):"] == "."
    assert kinds['"""Return probabilities that sum to one in every row."""'] == "."


def test_a_system_is_solved_on_the_device() -> None:
    file = SourceFile("demo.py", DEMO.replace("np.linalg.pinv(gram) @ (x.T @ y)", SOLVED))
    (record,) = records(analyze(file))
    kinds = {line.strip(): k for line, k in zip(file.lines, record["kinds"], strict=True)}
    assert kinds[f"w = {SOLVED}"] == "g"


def test_lines_of_statements() -> None:
    text = """\
@wraps(
    g
)
def f(
    x,
    y=(1,
       2),
):
    # a comment
    \'\'\'doc\'\'\'
    for i in range(
        3
    ):

        x = (
            1
        )
    with a as b, \\
         c: pass
    if x: y = 1
    else:
        return
"""
    found = statements(parsed(text))
    assert found == {
        **dict.fromkeys((4, 5, 6, 7), 4), **dict.fromkeys((11, 12, 13), 11),
        **dict.fromkeys((15, 16, 17), 15), 18: 18, 19: 19, 20: 20, 22: 22,
    }  # fmt: skip


def records(*analyses: Analysis) -> list[dict[str, str]]:
    page = as_html(analyses)
    text = page.partition('id="data">')[2].partition("</script>")[0]
    files: list[dict[str, str]] = json.loads(text)["files"]
    return files


def test_the_module_is_what_convert_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = DEMO[DEMO.index("def softmax") : DEMO.index("def ridge")].replace("np.", "np.")
    Path("a.py").write_text(f"import numpy as np\n\n\n{text}")
    made = generate(read("a.py"), analyze(read("a.py")).functions, {})
    with pytest.raises(SystemExit):
        main(["convert", "--no-verify", "a.py"])
    body = Path("a_cuda.py").read_text("utf-8").partition("\n\n")[2]
    assert made is not None and "\n".join(made.lines) == body.rstrip("\n")


def test_a_kernels_lines_lead_to_the_statement_they_come_from() -> None:
    file = SourceFile("demo.py", DEMO)
    made = generate(file, analyze(file).functions, {})
    assert made is not None and made.failed == ()
    pairs = {
        line.strip(): file.lines[source - 1].strip()
        for line, source in zip(made.lines, made.sources, strict=True)
        if source
    }
    shifted = "shifted = x - x.max(axis=1, keepdims=True)"
    assert pairs["largest = maximum(largest, x[i, j])"] == shifted
    assert pairs["# the largest exponent becomes zero"] == shifted
    assert pairs["total = row_sum(total, scratch)"] == "return e / e.sum(axis=1, keepdims=True)"
    assert pairs["def softmax(x, *, stream=None):"] == "def softmax(x):"
    assert 'x = _array(x, "x", 2, "float32 float64")' not in pairs


@pytest.mark.parametrize(
    "text", ["", "x = (\n", "def f(:\n    pass\n", "\ufeffx = 1\n", "\x0c\nx = '\x0c'\n"]
)
def test_any_text_has_a_report(text: str) -> None:
    (record,) = records(analyze(SourceFile("a.py", text)))
    assert len(record["kinds"]) == len(record["lines"]) or not text


def test_colours_keep_the_text() -> None:
    for text in (DEMO, HOSTILE, "\ufeffx = 1", "'''\n\n  a\\\n'''\r", "x = 'unclosed\ny"):
        lines = text.split("\n")
        assert ["".join(run[1:] for run in line) for line in coloured(lines)] == lines


# -- in the browser -------------------------------------------------------------------------------


def test_overview_counts_and_leads_on(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    assert browser.texts("#shown") == ["6 findings, 5 functions"] or browser.texts("#shown")
    rows = browser.texts(".overview table tbody tr")
    assert any("softmax" in r and "convertible" in r for r in rows)
    browser.click(f'.overview a[href$="demo.py:{line_of("def softmax")}"]')
    assert browser.texts(".file-head h2") == ["demo.py"]
    assert browser.texts(".source .ln.current .text") == ["def softmax(x):"]
    assert "softmax" in browser.texts("nav a[aria-current]")[0]


def test_source_and_module_are_linked_both_ways(browser: Browser, one: Path) -> None:
    browser.open(one)
    line = line_of("shifted = x")
    browser.click(f'.source .ln[data-line="{line}"] button.verdict')
    assert "largest = maximum(largest, x[i, j])" in linked(browser, "module")
    assert linked(browser, "source") == ["shifted = x - x.max(axis=1, keepdims=True)"]
    focused = browser.run("return document.activeElement.closest('.pane').className")
    assert "module" in focused
    # back from a line of another statement
    at = browser.run(
        "return [...document.querySelectorAll('.module .ln')].findIndex("
        "(r) => r.textContent.includes('x[i, p] = ') || r.textContent.includes('/ total')) + 1"
    )
    browser.run(
        "document.querySelector(arguments[0]).scrollIntoView()", f'.module [data-line="{at}"]'
    )
    browser.click(f'.module .ln[data-line="{at}"] .from')
    assert linked(browser, "source") == ["return e / e.sum(axis=1, keepdims=True)"]
    assert "source" in browser.run("return document.activeElement.closest('.pane').className")


def test_a_statement_of_several_lines_is_one(browser: Browser, one: Path) -> None:
    browser.open(one, f"#/demo.py:{line_of('2.0 * w')}")
    assert linked(browser, "source") == ["return (", "2.0 * w", "/ lam", ")"]
    assert any(x.startswith("out[") for x in linked(browser, "module"))


def test_filters(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    everything = browser.texts("#shown")
    browser.click('.chip[data-value="refused"]')
    assert browser.texts("nav li li .name") == ["hash_computation", "smooth"]
    assert "2 of 5 functions" in browser.texts("#shown")[0]
    browser.click('.chip[data-value="advice"]')
    assert browser.texts("nav li li .name") == ["hash_computation"]
    browser.click("#clear")
    assert browser.texts("#shown") == everything
    Select(browser.all("#code")[0]).select_by_value("PRT904")
    assert browser.texts("nav .path") == ["lib/other.py"]
    browser.click("#clear")
    Select(browser.all("#file")[0]).select_by_value("demo.py")
    assert browser.texts("nav .path") == ["demo.py"]
    browser.click("#clear")
    browser.keys("/", "SOFT")
    assert browser.texts("nav li li .name") == ["softmax"]
    browser.keys("zzz")
    assert browser.texts("nav .empty") == ["Nothing matches the filters"]
    browser.keys(Keys.ESCAPE, "c")
    assert browser.texts("#shown") == everything


def test_a_filter_hides_cards_in_the_source(browser: Browser, one: Path) -> None:
    browser.open(one)
    codes = browser.texts(".card .linkish")
    assert {"PRT601", "PRT201", "PRT901", "PRT912"} <= set(codes)
    browser.click('.chip[data-value="error"]')
    assert set(browser.texts(".card .sev")) == {"error"}


def test_the_lines_of_a_fix_are_aligned(browser: Browser, one: Path) -> None:
    browser.open(one)
    shown = browser.run(
        "return [...document.querySelectorAll('.card pre')].map((x) =>"
        " [...x.children].map((line) => line.textContent))"
    )
    (lines,) = (x for x in shown if any("hash_computation_loop" in line for line in x))
    numbers = [re.match(r" *\d+", line) for line in lines]
    assert len({m.end() for m in numbers if m}) == 1
    assert len({len(m[0].strip()) for m in numbers if m}) == 2


def test_keys(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    browser.keys("j")
    first = browser.texts(".card.active")[0]
    browser.keys("j")
    assert browser.texts(".card.active")[0] != first
    browser.keys("k")
    assert browser.texts(".card.active") == [first]
    browser.keys("e")
    assert re.match(r"PRT\d+ ", browser.texts("#rule-title")[0])
    assert browser.texts("#rule-page h2")[0] == "What it does"
    browser.keys(Keys.ESCAPE)
    assert browser.texts("#rule-title") == []
    browser.keys("n", "n")
    current = browser.texts(".source .ln.current .text")
    browser.keys("p", "n")
    assert browser.texts(".source .ln.current .text") == current
    browser.keys(Keys.ARROW_DOWN)
    assert browser.texts(".source .ln.current .text") != current
    browser.keys("]")
    assert browser.texts(".file-head h2") == ["lib/other.py"]
    browser.keys("[")
    assert browser.texts(".file-head h2") == ["demo.py"]
    browser.keys("g")
    assert browser.all(".module") == []
    browser.keys("g", "w")
    assert len(browser.all(".module")) == 1 and len(browser.all(".file.wrap")) == 1
    browser.keys("?")
    assert browser.texts("#keys-title") == ["Keys"]
    browser.keys("j", Keys.ESCAPE, "o")
    assert len(browser.all(".overview")) == 1


def test_enter_crosses_over_and_back(browser: Browser, one: Path) -> None:
    line = line_of("shifted = x")
    browser.open(one, f"#/demo.py:{line}")
    browser.keys(Keys.ENTER)
    assert browser.run("return document.activeElement.closest('.pane').className") == "pane module"
    browser.keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.run("return Number(document.activeElement.dataset.line)") == line


def test_every_control_is_reached_by_tab_and_shows_the_focus(browser: Browser, one: Path) -> None:
    browser.open(one)
    seen = []
    for _ in range(40):
        browser.keys(Keys.TAB)
        at = browser.run(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.id || e.className || e.tagName, s.outlineStyle, s.outlineWidth]"
        )
        seen.append(at[0])
        assert at[0] == "BODY" or (at[1] == "solid" and at[2] == "2px"), at
    assert {"skip", "home", "theme", "code", "file", "function"} <= set(seen)
    names = browser.run(
        "return [...document.querySelectorAll('button, a, select, input')].filter((e) =>"
        "!(e.textContent.trim() || e.getAttribute('aria-label'))).length"
    )
    assert names == 0


def test_dark_and_light(browser: Browser, one: Path) -> None:
    browser.open(one)
    assert browser.style("html", "backgroundColor") == "rgb(244, 245, 247)"
    browser.media("dark")
    assert browser.style("html", "backgroundColor") == "rgb(13, 17, 23)"
    browser.click("#theme")
    assert browser.style("html", "backgroundColor") == "rgb(244, 245, 247)"
    browser.open(one)
    assert browser.style("html", "backgroundColor") == "rgb(244, 245, 247)", "the choice is kept"
    browser.keys("d")
    assert browser.style("html", "backgroundColor") == "rgb(13, 17, 23)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Browser, demo: Path, scheme: str) -> None:
    faint_texts = (Path(__file__).parent / "contrast.js").read_text("utf-8")
    browser.media(scheme)
    for fragment in ("", f"#/demo.py:{line_of('shifted = x')}", "#/lib/other.py:3"):
        browser.open(demo, fragment)
        assert browser.run(faint_texts) == [], "WCAG 2 asks for a contrast of 4.5"
    browser.keys("e")
    assert browser.texts("#rule-title") and browser.run(faint_texts) == []


def test_hostile_source_is_only_text(browser: Browser, folder: Path) -> None:
    name = "a<b>\"'&#?%41.py"
    page = write(folder, "hostile", (name, HOSTILE))
    browser.open(page)
    assert browser.run("return window.hacked") is None
    shown = browser.run(
        "return [...document.querySelectorAll('.source .ln .text')].map((x) => x.textContent)"
    )
    lines = SourceFile(name, HOSTILE).lines
    assert [x.replace("\u200b", "") for x in shown] == lines
    assert browser.texts(".file-head h2") == [name]
    assert browser.run("return document.title").startswith(name)
    names = browser.run(
        "return [...document.querySelectorAll('.hidden-char')].map((x) => x.dataset.name)"
    )
    assert names == ["U+202E", "U+000C"]
    # the mark lies on the marked characters, counted as Python counts them
    assert browser.texts(".source mark") != []
    browser.click(".source .ln .no")
    browser.chrome.refresh()
    assert browser.texts(".file-head h2") == [name]
    wide = browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert wide, "a long line scrolls in its pane"


def test_a_finding_of_several_lines_is_marked_on_each(browser: Browser, folder: Path) -> None:
    body = "    return np.linalg.solve(\n        w,\n        w + 1.0,\n    ).nonsense()\n"
    text = f"import numpy as np\n\n\ndef f(w: 'float64[:, :]'):\n{body}"
    found = analyze(SourceFile("a.py", text)).diagnostics
    assert [(d.span.line, d.span.end_line) for d in found] == [(5, 8)]
    browser.open(write(folder, "several", ("a.py", text)))
    assert [x.text for x in browser.all(".source .ln:has(mark) .no")] == ["5", "6", "7", "8"]
    marked = browser.texts(".source mark")
    assert "".join(marked).startswith("np.linalg.solve(") and ".nonsense()" not in marked[-1]


def test_notebooks_show_their_cells(browser: Browser, folder: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["import numpy as np\n", "from numba import cuda"]},
        {"cell_type": "markdown", "source": "</script>"},
        {"cell_type": "code", "source": "@cuda.jit\ndef f(x):\n    return x * 2"},
        {"cell_type": "code", "source": "def g(:"},
    ]
    path = folder / "n.ipynb"
    path.write_text(
        json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    )
    page = folder / "notebook.html"
    page.write_text(as_html([analyze(read(str(path)))]), "utf-8")
    browser.open(page)
    assert browser.texts(".cell") == ["Cell 1", "Cell 2", "Cell 3"]
    assert browser.texts(".source .ln .no") == ["1", "2", "1", "2", "3", "1"]
    assert {"PRT301", "PRT900"} <= set(browser.texts(".card .linkish"))


def test_numbas_types_and_lifted_loops(browser: Browser, folder: Path, one: Path) -> None:
    browser.open(one)
    assert browser.all('[data-tool="types"]') == [] and browser.all(".numba") == []
    first, last = line_of("def hash_computation"), line_of("hashlib.md5")
    said = Compiled(
        "demo.py", "hash_computation", first, last, mode="lifted", signature="float64[:]",
        types={first + 2: ("x: array(float64, 1d, C)", "<b>$2</b>: float64")}, object_lines=(last,),
        loops=(LiftedLoop(first + 1, first + 2, "int64", True),),
    )  # fmt: skip
    failed = Compiled(
        "demo.py", "softmax", line_of("def softmax"), line_of("return e /"), mode="failed",
        error=Failure(line_of("shifted = x"), "no `keepdims` in Numba's max"),
    )  # fmt: skip
    browser.open(write(folder, "numba", ("demo.py", DEMO), compiled=(said, failed)))
    letters = {
        line: browser.run(
            "return document.querySelector(arguments[0]).textContent",
            f'.source [data-line="{line}"] .numba',
        )
        for line in (first + 2, last, failed.error.line if failed.error else 0)
    }
    assert list(letters.values()) == ["L", "O", "!"]
    said_inline = browser.run(
        "return [...document.querySelectorAll('.card .head')].map((x) => x.textContent)"
        ".filter((x) => x.startsWith('Numba'))"
    )
    assert said_inline == [
        "Numba no keepdims in Numba's max",
        "Numba this loop is lifted to machine code for int64",
    ]
    # a lifted loop has a ground of its own, and the legend shows it
    lifted = browser.style(f'.source [data-line="{first + 2}"]', "backgroundColor")
    assert lifted == browser.style(f'.source [data-line="{first + 1}"]', "backgroundColor")
    assert lifted == browser.style(".key .lifted", "backgroundColor") == "rgb(211, 245, 222)"
    assert lifted != browser.style(f'.source [data-line="{last}"]', "backgroundColor")
    # the types are there from the start
    assert browser.texts(".types li") == ["x: array(float64, 1d, C)", "<b>$2</b>: float64"]
    browser.run(
        "document.querySelector(arguments[0]).scrollIntoView()", f'[data-types="{first + 2}"]'
    )
    browser.click(f'[data-types="{first + 2}"]')
    assert browser.all(".types") == []
    browser.keys("t")
    assert len(browser.all(".types")) == 1
    browser.keys("T")
    assert browser.all(".types") == []
    assert "Numba rejects this" in browser.texts(".key")[0]
    browser.keys("T")
    faint_texts = (Path(__file__).parent / "contrast.js").read_text("utf-8")
    for scheme in ("light", "dark"):
        browser.media(scheme)
        assert browser.run(faint_texts) == []


def test_a_phone_has_one_pane_at_a_time(browser: Browser, one: Path) -> None:
    browser.size(390, 844, mobile=True)
    browser.open(one)
    assert browser.run("return document.documentElement.scrollWidth") == 390
    assert len(browser.all(".source")) == 1 and browser.all(".module") == []
    browser.click(f'.source .ln[data-line="{line_of("shifted = x")}"] button.verdict')
    assert browser.all(".source") == [] and len(browser.all(".module")) == 1
    browser.click('.tabs [data-tab="source"]')
    assert len(browser.all(".source")) == 1
    assert browser.all("nav") == []
    browser.click("#menu")
    browser.click(f'nav a[data-line="{line_of("def ridge")}"]')
    assert browser.all("nav") == []
    assert browser.texts(".source .ln.current .text")[0].startswith("def ridge(")
    assert browser.all(".filters") == []
    browser.click("#filter-button")
    browser.click('.chip[data-value="error"]')
    assert set(browser.texts(".card .sev")) <= {"error"}
