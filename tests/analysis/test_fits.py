"""How `porter analyze` fits in: cache, processes, settings, suppression, notebooks, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porter.analysis.cache import Cache
from porter.analysis.codec import decoder, encode
from porter.analysis.question import Answer, Question, ask
from porter.analysis.tree import analyze_files
from porter.analysis.workers import shared_out
from porter.source.files import load, read

RETURNS = "from numba import cuda\n\n\n@cuda.jit\ndef weigh(v, w):\n    return v * w\n"
HELPED = "import numpy as np\nfrom helper import scale\n\n\ndef f(x):\n    return np.exp(scale(x))"


def porter(
    *arguments: str, cwd: Path, stdin: str | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "porter", *arguments],
        cwd=cwd, capture_output=True, text=True, input=stdin, env={**os.environ, **env},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    return tmp_path / "src"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")


# -- the cache -----------------------------------------------------------------------------------


def test_an_unchanged_file_is_not_analyzed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, a=RETURNS, b=HELPED, helper="def scale(x):\n    return 2.0 * x\n")
    files, question = load(["."]).files, Question()
    cache = Cache(folder.parent / "cache", question)
    first = analyze_files(files, question, cache)

    def never(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr("porter.analysis.tree.ask", never)
    assert analyze_files(files, question, cache) == first
    assert [d.code for a in first for d in a.diagnostics] == ["PRT301"]


@pytest.mark.parametrize("changed", ["content", "path", "signature", "helper", "new file"])
def test_an_answer_holds_only_for_what_was_asked(folder: Path, changed: str) -> None:
    write(folder, b=HELPED, helper="def scale(x):\n    return 2.0 * x\n")
    question = Question()
    source = read("b.py")
    cache = Cache(folder.parent / "cache", question)
    cache.store(source, ask(source, question))
    from porter.source.others import digest

    digest.cache_clear()
    assert cache.find(source) is not None
    if changed == "content":
        source = source.changed(HELPED + "\n")
    elif changed == "path":
        source = read(str(folder / "b.py"))
    elif changed == "signature":
        cache = Cache(folder.parent / "cache", Question({"f": "float32[:]"}))
    elif changed == "helper":
        write(folder, helper="def scale(x):\n    return open(x)\n")
    else:
        # it would be found before the other one
        (folder / "helper").mkdir()
        (folder / "helper" / "__init__.py").write_text("")
        (folder / "helper.py").unlink()
    digest.cache_clear()
    assert cache.find(source) is None


@pytest.mark.parametrize("bad", [b"", b"{", b"x\n[]", None])
def test_a_broken_entry_is_as_good_as_none(folder: Path, bad: bytes | None) -> None:
    write(folder, a=RETURNS)
    assert porter("analyze", "a.py", cwd=folder).returncode == 1
    (entry,) = (folder.parent / "cache").glob("*/*.json")
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-7] + b"1234567" if bad is None else bad)
    again = porter("analyze", "a.py", cwd=folder)
    assert (again.returncode, again.stderr) == (1, "")
    assert entry.read_bytes() == whole


def test_runs_beside_each_other_share_a_cache(folder: Path) -> None:
    for n in range(12):
        write(folder, **{f"m{n}": RETURNS + f"# {n}\n"})
    command = [sys.executable, "-m", "porter", "analyze", "."]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = {run.communicate()[0] for run in runs}
    assert len(outputs) == 1
    assert len(list((folder.parent / "cache").glob("*/*.json"))) == 12


def test_the_cache_keeps_out_of_the_way(folder: Path) -> None:
    write(folder, a=RETURNS)
    (folder / "pyproject.toml").write_text('[tool.porter]\ncache-folder = ".porter/cache"\n')
    assert porter("analyze", "a.py", "--no-cache", cwd=folder).returncode == 1
    assert not (folder / ".porter").exists()
    porter("analyze", "a.py", cwd=folder)
    assert (folder / ".porter/cache/.gitignore").read_text().endswith("*\n")
    (folder / "pyproject.toml").write_text('[tool.porter]\ncache-folder = "a.py/no"\n')
    assert porter("analyze", "a.py", cwd=folder).returncode == 1  # cannot be written: none


def test_cold_cached_and_shared_out_say_the_same(folder: Path) -> None:
    for n in range(9):
        write(folder, **{f"m{n}": RETURNS, f"n{n}": HELPED})
    write(folder, helper="def scale(x):\n    return 2.0 * x\n", broken="def f(:\n")
    for form in ("full", "json", "sarif"):
        options = ("analyze", ".", "--output-format", form)
        whole = porter(*options, "--no-cache", cwd=folder)
        assert whole.returncode == 1
        for _ in range(2):
            assert porter(*options, cwd=folder).stdout == whole.stdout
    files, question = load(["."]).files, Question()
    alone = analyze_files(files, question, processes=1)
    assert analyze_files(files, question, processes=3) == alone


def test_answers_survive_being_kept() -> None:
    source = read(__file__)
    answer = ask(source, Question())
    assert Answer.from_plain(json.loads(json.dumps(answer.to_plain()))) == answer
    with pytest.raises((TypeError, ValueError)):
        Answer.from_plain([1])
    kind = tuple[int, str]
    assert decoder(kind)(encode((1, "x"))) == (1, "x")


# -- processes -----------------------------------------------------------------------------------


def _slow(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number * 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_what_a_killed_process_had_is_missing_and_the_rest_is_there() -> None:
    assert dict(shared_out(_slow, range(8), 2)) == {n: 2 * n for n in range(8) if n != 3}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_run_leaves_no_process(folder: Path, sent: signal.Signals) -> None:
    text = "import numpy as np\n" + "".join(
        f"\n\ndef f{n}(x):\n    return np.sin(x) + {n}\n" for n in range(150)
    )
    for n in range(32):
        write(folder, **{f"m{n}": text + f"# {n}\n"})
    command = [sys.executable, "-m", "porter", "analyze", ".", "--no-cache"]
    # a shell's background job ignores SIGINT, and so would all that the tests start there
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    own = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    workers: list[str] = []
    deadline = time.monotonic() + 60
    while not workers and time.monotonic() < deadline and child.poll() is None:
        workers = own.read_text().split()
        time.sleep(0.01)
    if not workers and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one core: no processes")
    assert workers
    child.send_signal(sent)
    error = child.communicate(timeout=60)[1]
    assert child.returncode in (130, -sent)
    assert "Traceback" not in error
    while any(Path(f"/proc/{w}").exists() for w in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [w for w in workers if Path(f"/proc/{w}").exists()]


# -- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ('"a.py" = ["PRT3"]', ["b.py"]),
        ('"*.py" = ["PRT301"]', []),
        ('"!a.py" = ["PRT301"]', ["a.py"]),
        ('"deep/" = ["PRT301"]', ["a.py", "b.py"]),
        ('"a.py" = ["PRT302"]', ["a.py", "b.py"]),
    ],
)
def test_codes_are_ignored_in_some_files(folder: Path, patterns: str, found: list[str]) -> None:
    write(folder, a=RETURNS, b=RETURNS)
    (folder / "pyproject.toml").write_text(f"[tool.porter.per-file-ignores]\n{patterns}\n")
    done = porter("analyze", ".", "--output-format", "json", cwd=folder)
    assert [d["path"] for d in json.loads(done.stdout)["diagnostics"]] == found


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('per-file-ignores = ["PRT3"]', "must be a table of lists of strings"),
        (
            'per-file-ignores = { "a.py" = ["PRT777"] }',
            "no rule has a code that starts with PRT777",
        ),
        ("timeout = 0", "`timeout` in [tool.porter] must be a number of seconds"),
        ("cache-dir = 'x'", "has no setting `cache-dir`"),
    ],
)
def test_wrong_settings_are_usage_errors(folder: Path, table: str, said: str) -> None:
    write(folder, a="x = 1\n")
    (folder / "pyproject.toml").write_text(f"[tool.porter]\n{table}\n")
    done = porter("analyze", "a.py", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_settings_are_shown_with_their_origin(folder: Path) -> None:
    import tomllib

    write(folder, a="x = 1\n")
    file = folder / "pyproject.toml"
    file.write_text('[tool.porter]\nignore = ["PRT6"]\nper-file-ignores = { "t.py" = ["PRT3"] }\n')
    options = ("analyze", "a.py", "--show-settings", "--ignore", "PRT1")
    done = porter(*options, cwd=folder)
    assert done.returncode == 0
    table = tomllib.loads(done.stdout)
    assert (table["ignore"], table["select"]) == (["PRT1", "PRT6"], [])
    assert f"# command line and {file}" in done.stdout
    shown = json.loads(porter(*options, "--output-format", "json", cwd=folder).stdout)["settings"]
    assert shown["per-file-ignores"] == {"value": {"t.py": ["PRT3"]}, "origin": str(file)}
    assert shown["select"] == {"value": [], "origin": "default"}


def test_colour_follows_the_environment(folder: Path) -> None:
    write(folder, a=RETURNS)
    assert "\x1b[" in porter("analyze", "a.py", cwd=folder, FORCE_COLOR="1", NO_COLOR="").stdout
    assert (
        "\x1b[" not in porter("analyze", "a.py", cwd=folder, NO_COLOR="1", FORCE_COLOR="1").stdout
    )


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_bash_completes_options_and_commands(folder: Path) -> None:
    script = porter("--show-completion", "bash", cwd=folder)
    assert "_PORTER_COMPLETE=complete_bash" in script.stdout
    words = {"COMP_WORDS": "porter analyze --sta", "COMP_CWORD": "2"}
    done = porter(cwd=folder, _PORTER_COMPLETE="complete_bash", **words)
    assert done.stdout.split() == ["--statistics"]


# -- baselines, comments, fixes ------------------------------------------------------------------


def test_a_baseline_says_what_is_stale(folder: Path) -> None:
    write(folder, a=RETURNS, b=RETURNS)
    done = porter("analyze", ".", "--baseline", "base.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "base.json: 2 findings written as the baseline\n")
    write(folder, a="\n\n" + RETURNS, b="x = 1\n")
    done = porter("analyze", ".", "--baseline", "base.json", cwd=folder)
    assert done.returncode == 0
    assert done.stderr.startswith("base.json: 1 entry is no longer found; ")
    # from elsewhere, and over some of the files
    done = porter("analyze", "src/a.py", "--baseline", "src/base.json", cwd=folder.parent)
    assert (done.returncode, done.stderr) == (0, "")


ODD = '''\
from numba import cuda


@cuda.jit
def k(x):  # about k
    return """a
    b"""


@cuda.jit
def m(x):
    if x[0]:
        return x \\
            + 1
    return x  # porter: ignore[PRT401]
'''


def test_comments_are_written_to_every_finding(folder: Path) -> None:
    file = folder / "a.py"
    file.write_bytes(ODD.replace("\n", "\r\n").encode())
    before = json.loads(porter("analyze", "a.py", "--output-format", "json", cwd=folder).stdout)
    done = porter("analyze", "a.py", "--add-ignore", "--ignore", "PRT910", cwd=folder)
    assert (done.returncode, "ignored" in done.stderr) == (0, True), done.stdout
    text = file.read_bytes().decode()
    assert text.count("\r\n") == ODD.count("\n")
    lines = text.replace("\r\n", "\n").splitlines()
    stripped = [line.partition("  # porter")[0] for line in lines]
    assert stripped == [line.partition("  # porter")[0] for line in ODD.splitlines()]
    assert '    b"""  # porter: ignore[PRT301]' in lines
    assert "# porter: ignore[PRT401, PRT301]" in lines[-1]
    assert {d["code"] for d in before["diagnostics"]} >= {"PRT301", "PRT910"}
    porter("analyze", "a.py", "--add-ignore", "--ignore", "PRT910", cwd=folder)
    assert file.read_bytes().decode() == text


UNUSED = """\
x = 1  # porter: ignore[PRT401]
# porter: ignore[PRT402, PRT403]
y = 2  # why  # porter: ignore[PRT404] because  # noqa: E501
"""


def test_suppressions_that_suppress_nothing_are_removed(folder: Path) -> None:
    write(folder, a=UNUSED)
    done = porter("analyze", "a.py", "--fix", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "no findings; no functions\n")
    assert (folder / "a.py").read_text() == "x = 1\ny = 2  # why  # noqa: E501\n"


def test_standard_input_is_fixed_to_standard_output(folder: Path) -> None:
    done = porter("analyze", "-", "--fix", "--stdin-filename", "s.py", cwd=folder, stdin=UNUSED)
    assert (done.returncode, done.stdout) == (0, "x = 1\ny = 2  # why  # noqa: E501\n")
    assert done.stderr.splitlines() == ["s.py: 3 fixed", "no findings; no functions"]
    done = porter("analyze", "-", "--fix", cwd=folder, stdin=RETURNS)
    assert (done.returncode, done.stdout) == (1, RETURNS)
    assert "PRT301" in done.stderr
    done = porter("analyze", "-", "--diff", cwd=folder, stdin=UNUSED)
    assert done.returncode == 1
    assert "\n-x = 1  # porter: ignore[PRT401]\n" in done.stdout
    assert "\n+x = 1\n" in done.stdout


def notebook(*cells: str) -> str:
    code = [{"cell_type": "code", "metadata": {}, "source": c.splitlines(keepends=True)}
            for c in cells]  # fmt: skip
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# é"]}
    return json.dumps({"cells": [text, *code], "nbformat": 4}, indent=1, ensure_ascii=False) + "\n"


def test_notebooks_are_fixed_in_their_cells(folder: Path) -> None:
    file = folder / "n.ipynb"
    file.write_text(
        notebook("%matplotlib inline\nx = 1  # porter: ignore[PRT401]", RETURNS), "utf-8"
    )
    done = porter("analyze", "n.ipynb", "--fix", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "n.ipynb: 1 fixed\n")
    assert file.read_text("utf-8") == notebook("%matplotlib inline\nx = 1", RETURNS)
    done = porter("analyze", "n.ipynb", "--add-ignore", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "n.ipynb: 1 ignored\n")
    ignored = RETURNS.replace("v * w", "v * w  # porter: ignore[PRT301]")
    assert file.read_text("utf-8") == notebook("%matplotlib inline\nx = 1", ignored)


def test_notebooks_are_converted(folder: Path) -> None:
    text = "import numpy as np\n\ndef f(x):\n    return np.sin(x) + 1.0"
    (folder / "n.ipynb").write_text(notebook("!ls", text), "utf-8")
    done = porter("convert", "n.ipynb", "--no-verify", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "@cuda.jit" in (folder / "n_cuda.py").read_text()


def test_statistics_are_json_too(folder: Path) -> None:
    write(folder, a=RETURNS)
    done = porter("analyze", "a.py", "--statistics", "--output-format", "json", cwd=folder)
    assert json.loads(done.stdout)["statistics"] == [
        {"code": "PRT301", "name": "kernel-returns-value", "count": 1}
    ]


def test_tests_are_not_judged(folder: Path) -> None:
    text = "import numpy as np\n\n\ndef {}(x):\n    return np.sin(open(x))\n"
    write(folder, test_a=text.format("test_f") + text.format("helper"), a=text.format("test_f"))
    done = porter("analyze", ".", "--output-format", "json", cwd=folder)
    judged = [(f["path"], f["name"]) for f in json.loads(done.stdout)["functions"]]
    assert judged == [("a.py", "test_f"), ("test_a.py", "helper")]
    assert porter("analyze", "test_a.py", "-f", "test_f", cwd=folder).returncode == 1
