"""`analyze` and `convert` never disagree: over the corpus, the examples and rules' own cases."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from porter.codegen.module.inspect import top_level
from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.rules.candidates import may_work
from porter.rules.engine import Analysis, Selection, analyze
from porter.rules.model import PyFile
from porter.rules.registry import all_rules
from porter.source.files import SourceFile, read
from porter.target.registry import CUDA
from tests.support.paths import CORPUS, EXAMPLES
from tests.support.sampling import one_in

FILES = [
    *sorted(CORPUS.glob("*.py")),
    *sorted(EXAMPLES.glob("*.py")),
]
FILES = [f for f in FILES if not f.name.endswith("_cuda.py")]
#: verdicts on functions that `convert` passes over with a note
PASSED_OVER = ("kernel", "ufunc", "device function", "nothing to convert")
UNKNOWN = "unknown"
CASES = {
    f"{rule.code}-{n}": text
    for rule in all_rules().values()
    for n, text in enumerate([*rule.valid(), *(b.code for b in rule.invalid())])
    if rule.code[3] in "19"
}


def analysis(file: SourceFile, config: Config) -> Analysis:
    return analyze(file, Selection(), (), config, everything=True)


def converted(file: SourceFile, config: Config, names: tuple[str, ...] = ()) -> dict[str, str]:
    """The verdict that follows from what `convert --no-verify` does with each function."""
    options = ConvertOptions((file.path,), names, verify=False)
    outcome = convert_file(file, options, config, Path(file.path), lambda name: None)
    if outcome.text:
        # of the whole corpus no module does more at import than import, bind and define
        assert list(top_level(ast.parse(outcome.text), CUDA.decorators)) == []
    found = {}
    for f in outcome.functions:
        if any(d.code == "PRT914" for d in f.diagnostics):
            # a value that takes running code: --no-verify runs none
            found[f.name] = UNKNOWN
            continue
        # a loop that may run on one thread is advice, and no statement of the host
        kept = any(d.code == "PRT912" for d in f.diagnostics)
        done = "partly" if kept else "convertible"
        found[f.name] = done if f.status == "converted" else "refused"
    return found


def compare(file: SourceFile, config: Config) -> None:
    everything = {v.name: v.verdict for v in analysis(file, config).functions}
    made = converted(file, config)
    # methods are converted if they are named
    rest = tuple(n for n, v in everything.items() if n not in made and v not in PASSED_OVER)
    made |= converted(file, config, rest) if rest else {}
    assert made.keys() <= everything.keys()
    everything = {n: v for n, v in everything.items() if made.get(n) != UNKNOWN}
    made = {n: v for n, v in made.items() if v != UNKNOWN}
    assert {n: v for n, v in everything.items() if v not in PASSED_OVER} == {
        n: v for n, v in made.items() if everything[n] not in PASSED_OVER
    }
    # what analyze has no verdict on is not converted either
    assert not {n for n, v in made.items() if v != "refused" and everything[n] in PASSED_OVER}
    # and without --all nothing that converts is left out
    parsed = PyFile(file.text, file.path)
    seen = {f.name for f in parsed.functions if may_work(parsed, f)}
    assert {n for n, v in made.items() if v != "refused"} <= seen


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        # a file in 72 always, the others with -m long
        pytest.param(p, id=p.stem, marks=[pytest.mark.long] if k % 72 else [])
        for k, p in enumerate(FILES)
    ],
)
def test_both_say_the_same_of_the_corpus(path: Path) -> None:
    compare(read(str(path)), Config())


@pytest.mark.long
@pytest.mark.parametrize("name", ["loops_in_order", "tricky"])
def test_both_say_the_same_with_allow_serial(name: str) -> None:
    compare(read(str(CORPUS / f"{name}.py")), Config(allow_serial=True))


@pytest.mark.parametrize("name", one_in(3, sorted(CASES)))
def test_both_say_the_same_of_cases(name: str) -> None:
    file = SourceFile("case.py", CASES[name])
    if not any(d.code == "PRT900" for d in analysis(file, Config()).diagnostics):
        compare(file, Config())
