"""What porter makes of a random program: right, refused, or wrong and after which pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from porter import ir
from porter.convert.function import convert_function
from porter.convert.passes import steps
from porter.diagnostics import Refusal
from porter.inference.signature import candidates
from porter.ir.check import IRError
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.corpus.check import compare
from tests.programs.excused import verdict
from tests.programs.strategy import Program


@dataclass(frozen=True)
class Outcome:
    """`ok`, `refused` (with code and message), `stricter` (a plain error where NumPy goes on:
    arrays of size 1 that broadcast), `unraised` (NumPy raises about a number in the middle, which
    no thread can), `wrong` (where and what) or `crashed`."""

    word: str
    detail: str = ""


Stage = tuple[str, tuple[ir.Stmt, ...], dict[str, ir.Buffer]]


def stages(program: ir.Program) -> Iterator[Stage]:
    """The statements at the start and after each pass that changes them."""
    before = None
    for name, body, context in steps(program):
        if body != before:
            yield name, body, dict(context.buffers)
        before = body


def array_program(source: str, signature: str) -> ir.Program:
    """The array program of the function `f`."""
    module = SourceModule(source, "f.py")
    function = next(f for f in module.functions if f.name == "f")
    return build(function, next(candidates(function, signature)), Globals(module))


def interpreted(program: ir.Program, stage: Stage, *arguments: Any) -> Any:
    """What the interpreter makes of one stage."""
    _, body, buffers = stage
    return run(program, arguments, body, buffers)


def check(program: Program) -> Outcome:
    """The array program and what all passes make of it, against NumPy."""
    original = program.function()
    try:
        front = array_program(program.source, program.signature)
        found = list(stages(front))
    except Refusal as refusal:
        d = refusal.diagnostic
        return Outcome("refused", f"{d.code} {d.message}")
    except IRError as error:
        return Outcome("crashed", f"{type(error).__name__}: {error}")
    except Exception as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
        return Outcome("crashed", f"{type(error).__name__}: {error} at {where}")
    outcome = Outcome("ok")
    for arguments in program.calls:
        for stage in (found[0], found[-1]):
            word, wrong = verdict(program, partial(interpreted, front, stage), arguments)
            if word == "stricter":
                return Outcome(word, wrong)
            if word == "unraised":
                outcome = Outcome(word, wrong)
            elif word == "wrong":
                found_wrong = Outcome(word, culprit(original, front, found, arguments))
                return _refused_at_last(program) or found_wrong
    return outcome


def _refused_at_last(program: Program) -> Outcome | None:
    """What only the module's text refuses: a test that the host cannot make."""
    module = SourceModule(program.source, "f.py")
    function = next(f for f in module.functions if f.name == "f")
    try:
        convert_function(function, program.signature, Globals(module))
    except Refusal as refusal:
        return Outcome("refused", f"{refusal.diagnostic.code} {refusal.diagnostic.message}")
    return None


def culprit(original: Any, front: ir.Program, found: list[Stage], arguments: Any) -> str:
    """The first stage that differs."""
    for stage in found:
        wrong = compare(original, partial(interpreted, front, stage), arguments)
        if wrong:
            return f"after {stage[0]}: {wrong}"
    return "only the last stage, once"
