"""One random program as a generated module, called with other arguments than it was written with.

Each array becomes one of integers, of another width, a list, a number, and one with an axis of
length 1; each number becomes an integer, NumPy's, or a 0-d array.  What the module takes must give
what NumPy gives.  Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.corpus.simulator import install
from tests.programs.check import Outcome
from tests.programs.excused import verdict
from tests.programs.simulator import attempted
from tests.programs.strategy import Parameter, Program

Call = tuple[Any, ...]
#: of arrays whose values do not fit, a few bits are kept
_SMALL = 7


def on_other_calls(program: Program) -> Outcome:
    """What the module does with each of these calls that NumPy takes."""
    install()
    made = attempted(program)
    if isinstance(made, Outcome):
        return made
    outcome = Outcome("ok")
    for what, arguments in other_calls(program.parameters, program.calls[0]):
        if _raises(program, arguments):
            continue
        word, wrong = verdict(program, made, arguments)
        if word == "wrong" and any(isinstance(a, list) for a in arguments):
            # what a list itself does (`x[1:]` is one, too) is not asked for: it is its array
            word, wrong = verdict(program, made, tuple(map(_array_of, arguments)))
        if word == "wrong":
            return Outcome(word, f"{what}: {wrong}")
        if word == "stricter":
            outcome = Outcome(word, f"{what}: {wrong}")
    return outcome


def _array_of(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, list) else value


def _raises(program: Program, arguments: Call) -> bool:
    """Whether the original refuses a call."""
    try:
        with np.errstate(all="ignore"):
            program.function()(*copy.deepcopy(arguments))
    except Exception:
        return True
    return False


def other_calls(parameters: Sequence[Parameter], call: Call) -> Iterator[tuple[str, Call]]:
    """The call with each argument in turn, then with all of them, of another kind."""
    arrays = [k for k, p in enumerate(parameters) if p.dims is not None and not p.indexes]
    for k, p in enumerate(parameters):
        kinds = arrays_as(call[k]) if k in arrays else numbers_as(call[k])
        for what, value in kinds if not p.indexes else ():
            yield f"{p.name} as {what}", (*call[:k], value, *call[k + 1 :])
    for what in ("int64", "int8", "number", "integer", "list"):
        changed = list(call)
        for k in arrays:
            changed[k] = dict(arrays_as(call[k])).get(what, call[k])
        yield f"arrays as {what}", tuple(changed)
        for k, p in enumerate(parameters):
            if p.dims is None:
                changed[k] = dict(numbers_as(call[k])).get("integer", call[k])
        yield f"arrays as {what}, numbers as integers", tuple(changed)


def arrays_as(value: np.ndarray[Any, Any]) -> Iterator[tuple[str, Any]]:
    """What may stand for an array."""
    finite = np.nan_to_num(value.real.astype(np.float64), posinf=3.0, neginf=-2.0)
    whole = np.asarray(finite * 4 % _SMALL)
    if value.ndim == 1 and value.size > 2 and (np.diff(finite) >= 0).all():
        whole = np.sort(whole)  # what is searched has an order
    for name in ("int64", "int32", "int8", "uint8", "bool", "float32", "float64"):
        if value.dtype != name:
            yield name, whole.astype(name)
    yield "list", value.tolist()
    if value.size:
        number = value.reshape(-1)[0]
        yield "NumPy's number", number
        yield "number", number.item()
        yield "integer", int(whole.reshape(-1)[0])
    for axis in range(value.ndim):
        if value.shape[axis] > 1:
            yield f"axis {axis} of length 1", value.take([0], axis)


def numbers_as(value: Any) -> Iterator[tuple[str, Any]]:
    """What may stand for a number."""
    whole = int(abs(value)) + 1
    yield "integer", whole
    yield "bool", True
    yield "NumPy's number", np.asarray(value)[()]
    yield "0-d array", np.asarray(value)
    yield "int8", np.int8(whole)
    yield "float32", np.float32(whole)
