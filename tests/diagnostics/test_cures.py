"""Each refusal's cure: an example is refused with a help, and what the help says converts.

`tests/diagnostics/cures/CODE.txt` has the examples: `=== ` and the help, the refused code,
`--- cured`, the code that follows the help. Types in the examples' annotations are the signature.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import ModuleOutcome, convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from tests.support.sampling import one_in
from tests.tools.make_diagnostics import messages

FOLDER = Path(__file__).parent / "cures"
HEAD = "import math\nimport zlib\n\nimport numpy as np\n\n\n"
TYPES = {"int": "int64", "float": "float64"}
#: codes that say nothing of how a function is written
EXCUSED = {
    "PRT910": "a comment without effect, and no refusal",
    "PRT911": "the module gave another result when it ran",
    "PRT915": "too little could be compared when the module ran",
    "PRT917": "a mistake in porter",
    "PRT918": "the time limit, see test_isolation.py",
    "PRT920": "the end of a script under `--run`",
    "PRT921": "the end of a script under `--run`",
    "PRT922": "the end of a script under `--run`",
}


@dataclass(frozen=True)
class Cure:
    """One example, refused and cured."""

    code: str
    help: str
    refused: str
    cured: str


def cures() -> list[Cure]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text("utf-8").split("=== ")[1:]:
            cure, _, rest = block.partition("\n")
            refused, _, cured = rest.partition("--- cured\n")
            found.append(Cure(path.stem, cure, refused, cured))
    return found


CURES = cures()


def signatures(code: str) -> dict[str, str]:
    """The types that the annotations give, if they give all."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return {}
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    hints = [a.annotation for a in function.args.args]
    if not hints or None in hints:
        return {}
    types = [ast.unparse(h).strip("'") for h in hints if h is not None]
    return {"f": ", ".join(TYPES.get(t, t) for t in types)}


def outcome(code: str) -> ModuleOutcome:
    options = ConvertOptions(("cure.py",), ("f",), verify=False)
    config = Config(signatures=signatures(code))
    return convert_file(SourceFile("cure.py", HEAD + code), options, config, Path("cure.py"),
                        lambda name: None)  # fmt: skip


@pytest.mark.parametrize("cure", one_in(2, CURES), ids=lambda c: f"{c.code} {c.help}")
def test_the_cure_of_a_refusal_converts(cure: Cure) -> None:
    refused = outcome(cure.refused)
    found = [d for f in refused.functions for d in f.diagnostics] or refused.diagnostics
    assert [(d.code, d.help) for d in found][:1] == [(cure.code, cure.help)]
    assert all(f.status != "converted" for f in refused.functions)
    (cured,) = outcome(cure.cured).functions
    assert (cured.status, cured.diagnostics) == ("converted", ())


def test_every_refusal_has_a_cure_that_was_followed() -> None:
    codes = {m.code for m in messages() if m.code[3] == "9" and m.help}
    assert codes - {c.code for c in CURES} == EXCUSED.keys()


CASTS = ["cast(np.ndarray, x)", "typing.cast(np.ndarray, x)", 'cast("np.ndarray[Any, Any]", x)']


@pytest.mark.parametrize("cast", CASTS)
def test_a_cast_for_type_checkers_is_its_value(cast: str) -> None:
    head = "import typing\nfrom typing import Any, cast\n"
    plain, typed = (outcome(f"{head}def f(x):\n    return {v} * 2.0\n") for v in ("x", cast))
    assert typed.functions[0].diagnostics == ()

    def kernel(text: str | None) -> str:
        return (text or "").partition("@cuda.jit")[2].partition("\n\n\n")[0]

    assert kernel(typed.text).replace(cast, "x") == kernel(plain.text) != ""
