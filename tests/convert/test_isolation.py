"""What goes wrong in one function is said of it; everything else comes out as usual."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porter.diagnostics import Diagnostic, Span
from porter.guarded import OutOfTime, Place, deep, guarded
from porter.ir.check import IRError
from tests.support.sampling import one_in
from tests.support.shell import Shell

SOURCE = """\
import numpy as np


def good(x):
    return np.sin(x) + 1.0


def bad(x):
    return np.cos(x) * 2.0


def fine(x, y):
    return x * y
"""

ERRORS: list[BaseException] = [
    KeyError("lost"),
    RecursionError("too deep"),
    MemoryError(),
    AssertionError("never"),
    IRError("an unbound index"),
    IndexError("list index out of range"),
    TypeError("no"),
    ZeroDivisionError("0"),
    AttributeError("x"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
    NotImplementedError(),
    StopIteration(),
]
#: what is called for each function: the module, the name, and where the function's name is
PLACES: dict[str, tuple[str, Callable[..., str]]] = {
    "front end": ("porter.convert.files.convert_function", lambda f, *_: str(f.name)),
    "plan": ("porter.convert.attempt.plan", lambda p, *_: str(p.name)),
    "check": ("porter.lowering.program._finish", lambda b, f, p: str(f.name)),
    "text": ("porter.convert.function.function_text", lambda p, *_: str(p.name)),
    "shapes": ("porter.convert.files.shapes_of", lambda c: str(c.name)),
}


def failing(monkeypatch: pytest.MonkeyPatch, where: str, error: BaseException) -> None:
    """Make a stage fail for the function `bad` alone."""
    target, name_of = PLACES[where]
    module, _, attribute = target.rpartition(".")
    import importlib

    whole = getattr(importlib.import_module(module), attribute)

    def stage(*args: Any, **named: Any) -> Any:
        if name_of(*args) == "bad":
            raise error
        return whole(*args, **named)

    monkeypatch.setattr(target, stage)
    monkeypatch.delenv("PORTER_DEBUG", raising=False)


@pytest.mark.parametrize("where", one_in(2, PLACES))
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_the_others_are_converted(
    where: str, error: BaseException, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, where, error)
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py") == 1
    said = shell.out + shell.err
    assert "converted good" in said and "converted fine" in said
    deep_error = isinstance(error, (RecursionError, MemoryError))
    assert ("error[PRT902]" if deep_error else "error[PRT917]") in said
    assert "a.py:8:" in said
    assert "Traceback" not in said and "unexpectedly" not in said
    text = (shell.folder / "a_cuda.py").read_text()
    assert "def good(" in text and "def fine(" in text and "bad" not in text


@pytest.mark.parametrize("stage", ["array", "loops", "plan"])
def test_an_inner_stage_is_printed_of_the_others(
    stage: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "check", KeyError("lost"))
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", "--emit", stage) == 1
    assert "good" in shell.out and "fine" in shell.out
    assert "PRT917" in shell.out + shell.err


def test_verification_that_breaks_is_that_function_s(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from porter.verify.evidence import PASSED, Evidence, FunctionEvidence

    def verify(place: Path, text: str, **_: Any) -> list[FunctionEvidence]:
        if "def bad(" in text:
            raise KeyError("lost")
        names = [n for n in ("good", "fine") if f"def {n}(" in text]
        return [FunctionEvidence(n, [Evidence("simulator", PASSED, 3, {})]) for n in names]

    monkeypatch.setattr("porter.convert.files.verify_module", verify)
    monkeypatch.delenv("PORTER_DEBUG", raising=False)
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py", verify=True) == 1
    assert "error[PRT917]: porter could not convert `bad`" in shell.out
    text = (shell.folder / "a_cuda.py").read_text()
    assert "def good(" in text and "def fine(" in text and "def bad(" not in text


def test_another_type_that_breaks_is_not_served(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from porter.convert import again, attempt

    whole = again.build

    def build(function: Any, types: Any, *rest: Any, **named: Any) -> Any:
        if types[0].dtype.name != "float64":
            raise KeyError("lost")
        return whole(function, types, *rest, **named)

    for module in (again, attempt):
        monkeypatch.setattr(module, "build", build)
    monkeypatch.delenv("PORTER_DEBUG", raising=False)
    shell.write("a.py", SOURCE)
    assert shell.convert("a.py") == 0
    text = (shell.folder / "a_cuda.py").read_text()
    assert "# porter: also" not in text
    # but for numbers alone, which need no kernel
    forms = [line for line in text.splitlines() if line.startswith("# porter: form")]
    assert all("[" not in form and "int" not in form for form in forms), forms


PLACE = Place("f", "a.py", Span(3, 1, 3, 2))


def test_what_does_not_end_is_stopped() -> None:
    def forever() -> None:
        k = 0
        while True:
            k += 1

    with pytest.raises(OutOfTime):
        deep(forever, 0.2)
    found = guarded(PLACE, forever, 0.2)
    assert isinstance(found, Diagnostic) and found.code == "PRT918"
    assert "more than 0.2 s" in found.message


def test_what_catches_everything_is_stopped_too() -> None:
    def stubborn() -> None:
        import time

        for _ in range(20):
            try:
                time.sleep(0.05)
            except BaseException:
                time.sleep(0.05)
        while True:
            pass

    with pytest.raises(OutOfTime):
        deep(stubborn, 0.2)


class _Tree:
    """A tree whose hash, text and comparison recurse through C code."""

    def __init__(self, below: _Tree | None) -> None:
        self.below = below

    def __hash__(self) -> int:
        return hash((1, self.below))

    def __repr__(self) -> str:
        return repr([self.below])[:5]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Tree) and (1, self.below) == (1, other.below)


def _chain(levels: int) -> _Tree | None:
    tree = None
    for _ in range(levels):
        tree = _Tree(tree)
    return tree


def _mapped(levels: int) -> int:
    return sum(map(_mapped, [levels - 1])) + 1 if levels else 0


def _collected(levels: int) -> tuple[int, ...]:
    return tuple(k for k in _collected(levels - 1)) if levels else (1,)


def _sorted(levels: int) -> list[int]:
    return sorted([levels], key=lambda n: _sorted(n - 1)[0]) if levels else [1]


@pytest.mark.parametrize(
    "recurse",
    [_mapped, _collected, _sorted, lambda n: hash(_chain(n)), lambda n: repr(_chain(n)),
     lambda n: _chain(n) == _chain(n)],
    ids=["map", "tuple", "sorted", "hash", "repr", "eq"],
)  # fmt: skip
def test_the_stack_outlasts_the_limit(recurse: Callable[[int], object]) -> None:
    deep(lambda: recurse(8_000))
    with pytest.raises(RecursionError):
        deep(lambda: recurse(400_000))
