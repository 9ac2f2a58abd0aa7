"""What porter makes of a random program: right, refused, or wrong and after which pass."""

from __future__ import annotations

import contextlib
import copy
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from corpus_check import compare
from programs import Program

from porter.convert import convert_function
from porter.diagnostics import Refusal
from porter.frontend.globals import Globals
from porter.frontend.program import build
from porter.frontend.signature import candidates
from porter.ir import nodes as ir
from porter.ir.check import IRError
from porter.ir.interp import run
from porter.plan.common import Context
from porter.plan.passes import PASSES
from porter.source.module import SourceModule


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
    body, context = program.body, Context.of(program)
    yield "the array program", body, program.buffers
    for step in PASSES:
        before = body
        body = step(body, context)
        if body != before:
            yield step.__name__, body, dict(context.buffers)


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
            with np.errstate(all="ignore"):
                wrong = compare(original, partial(interpreted, front, stage), arguments)
            if undefined(wrong, program.signature) or (
                wrong and (casts_beyond(original, arguments) or zeros_tie(program, arguments))
            ):
                continue
            if re.match(r"raises (ValueError|IndexError|TypeError): ", wrong):
                return Outcome("stricter", wrong)
            if _UNRAISED.match(wrong):
                outcome = Outcome("unraised", wrong)
            elif wrong:
                refused = _refused_at_last(program)
                if refused:
                    return refused
                return Outcome("wrong", culprit(original, front, found, arguments))
    return outcome


#: what Python's numbers raise while they are computed or stored, and an index into nothing:
#: see docs/verification.md
_UNRAISED = re.compile(
    "no exception, NumPy raises (OverflowError|ZeroDivisionError|"
    "ValueError: (cannot convert float NaN|math domain error)|"
    r"IndexError: index -?[0-9]+ is out of bounds for axis [0-9] with size 0)"
)


def undefined(wrong: str, signature: str = "") -> bool:
    """Whether all that differs are complex numbers that are not finite, or parts of them, or
    what rounding leaves of terms that cancel.

    What a product of them is depends on how it is written; see docs/verification.md.
    """
    small = re.search(r", at \S+(?: \S+)* (\S+) instead of (\S+)$", wrong)
    if small and all(_is_tiny(text) for text in small.groups()):
        return True
    part = "complex" in signature and re.search(r"\b(nan|inf)\b", wrong)
    return bool(part or re.search(r"(nan|inf)[^ ]*j\)", wrong)) and "differ" in wrong


def _is_tiny(text: str) -> bool:
    try:
        return abs(complex(text)) < 1e-12
    except ValueError:
        return False


def _refused_at_last(program: Program) -> Outcome | None:
    """What only the module's text refuses: a test that the host cannot make."""
    module = SourceModule(program.source, "f.py")
    function = next(f for f in module.functions if f.name == "f")
    try:
        convert_function(function, program.signature, Globals(module), None)
    except Refusal as refusal:
        return Outcome("refused", f"{refusal.diagnostic.code} {refusal.diagnostic.message}")
    return None


def casts_beyond(original: Any, arguments: Any) -> bool:
    """Whether NumPy converts a float to an integer that cannot hold it.

    C leaves open what that gives; NumPy's own loops differ by the length of the array.
    """
    with warnings.catch_warnings(record=True) as said, np.errstate(invalid="warn", over="ignore"):
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):
            original(*copy.deepcopy(arguments))
    return any("in cast" in str(w.message) for w in said)


class _OtherZero:
    """NumPy, but of -0.0 and 0.0 the extremes take the other one."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if name in ("maximum", "minimum", "fmax", "fmin"):
            return lambda a, b: function(b, a)
        return function

    @staticmethod
    def clip(a: Any, low: Any, high: Any) -> Any:
        return np.minimum(np.maximum(a, low), high)


def zeros_tie(program: Program, arguments: Any) -> bool:
    """Whether the result depends on which of -0.0 and 0.0 is the larger.

    NumPy's loops differ in it: `np.maximum` has the second one, `np.clip` the array's, and with
    an array as bound the bound's.
    """
    scope: dict[str, Any] = {"np": _OtherZero()}
    source = re.sub(r"(?!np\b)\b([A-Za-z_]\w*)\.clip\(", r"np.clip(\1, ", program.source)
    exec(compile(source.replace("import numpy as np\n", ""), "<program>", "exec"), scope)
    with np.errstate(all="ignore"):
        return bool(compare(program.function(), scope["f"], arguments))


def culprit(original: Any, front: ir.Program, found: list[Stage], arguments: Any) -> str:
    """The first stage that differs."""
    for stage in found:
        wrong = compare(original, partial(interpreted, front, stage), arguments)
        if wrong:
            return f"after {stage[0]}: {wrong}"
    return "only the last stage, once"
