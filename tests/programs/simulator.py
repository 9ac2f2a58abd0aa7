"""One random program as a generated module on Numba's simulator, against NumPy.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from porter.codegen.module.module import module_text
from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.emulate.source.scope import TEXT
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.verify.engines.device_arithmetic import NAMES, rewrite_kernels
from tests.programs.check import Outcome
from tests.programs.excused import verdict
from tests.programs.strategy import Program

SMALL = {
    "THREADS": 32,
    "MANY_THREADS": 32,
    "TILE": 4,
    "STRIP": 2,
    "WIDTH": 2,
    "BLOCK_X": 4,
    "EACH": 2,
    "EACH_LARGE": 3,
    "LARGE": 5,
    "LONG": 2,
    "SHORT": 3,
    "ROOM_BYTES": 600,
}


@cache
def prepare() -> None:
    """Let Numba's simulator do what a GPU does."""
    from tests.corpus.simulator import install

    install()


def converted(
    program: Program, *, siblings: bool = True, blocks: Mapping[str, int] = SMALL
) -> Callable[..., Any]:
    """The generated function `f`, with small blocks so that small arrays fill several."""
    module = SourceModule(program.source, "f.py")
    function = next(f for f in module.functions if f.name == "f")
    made = convert_function(function, program.signature, Globals(module), siblings=siblings)
    text = module_text(made.texts, "")
    for name, size in blocks.items():
        # what the simulator has otherwise stands under an `if`
        text = re.sub(rf"^( *{name}) = \d+", rf"\1 = {size}", text, flags=re.M)
    scope: dict[str, Any] = {"__name__": "generated", TEXT: text, **NAMES}
    tree = ast.parse(text)
    rewrite_kernels(tree)  # divisions by 0 do not end a thread
    exec(compile(ast.fix_missing_locations(tree), "<generated>", "exec"), scope)
    found: Callable[..., Any] = scope["f"]
    return found


def layouts(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments as they are, every second element of larger arrays, one array for two."""
    yield arguments
    yield tuple(_strided(a) if isinstance(a, np.ndarray) else a for a in arguments)
    for i, a in enumerate(arguments):
        for j, b in enumerate(arguments[:i]):
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.size:
                if (a.shape, a.dtype) == (b.shape, b.dtype):
                    yield (*arguments[:i], arguments[j], *arguments[i + 1 :])
                    return


def _strided(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not a.ndim:
        return a
    wide = np.zeros([2 * n for n in a.shape], a.dtype)
    view = wide[(slice(None, None, 2),) * a.ndim]
    view[...] = a
    return view


def on_simulator(
    program: Program, *, as_given: bool = False, blocks: Mapping[str, int] = SMALL
) -> Outcome:
    """What the generated module does on the simulator; `as_given` leaves out other layouts."""
    prepare()
    made = attempted(program, siblings=not as_given, blocks=blocks)
    return made if isinstance(made, Outcome) else compared(program, made, as_given=as_given)


def attempted(
    program: Program, *, siblings: bool = True, blocks: Mapping[str, int] = SMALL
) -> Callable[..., Any] | Outcome:
    """The generated function, or why there is none."""
    try:
        return converted(program, siblings=siblings, blocks=blocks)
    except Refusal as refusal:
        return Outcome("refused", f"{refusal.diagnostic.code} {refusal.diagnostic.message}")
    except Exception as error:
        return Outcome("crashed", f"{type(error).__name__}: {error}")


def compared(
    program: Program, function: Callable[..., Any], excused: Callable[..., bool] | None = None,
    *, as_given: bool = False,
) -> Outcome:  # fmt: skip
    """Whether a generated function does what the program does, however arrays are laid out.

    `excused(program, function, arguments)` is asked about what is wrong.
    """
    for arguments in program.calls:
        for number, given in enumerate([arguments] if as_given else layouts(arguments)):
            word, wrong = verdict(program, function, given)
            if word == "wrong" and excused is not None and excused(program, function, given):
                continue
            if word != "ok":
                return Outcome(word, f"layout {number}: {wrong}" if word == "wrong" else wrong)
    return Outcome("ok")
