"""Two calls in a row: the second must not touch, or give again, what the first one returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs
from porter.verify.oracle import calls
from porter.verify.oracle.compare import Difference, Outcome
from porter.verify.oracle.errors import described


def others(inputs: Inputs, *, in_order: bool) -> Inputs:
    """The same arguments with other numbers in the arrays, in the same order of size.

    Integers, which may be indices, change places only; with `in_order` they stay where they are.
    """
    return replace(inputs, arguments=tuple(_other(a, in_order) for a in inputs.arguments))


def _other(argument: Argument, in_order: bool) -> Argument:
    value = argument.value
    if not isinstance(value, np.ndarray) or argument.like:
        return argument
    if value.dtype.kind in "fc":
        other: Any = (value * value.dtype.type(0.75)).astype(value.dtype)
    elif value.dtype.kind == "b":
        other = ~value
    else:
        other = value if in_order else np.flip(value).copy()
    # NumPy makes a scalar of a 0-d array
    return replace(argument, value=np.asarray(other))


def second(
    function: Callable[..., Any],
    inputs: Inputs,
    other: Inputs,
    streams: tuple[Any, Any],
    own_stream: str,
) -> tuple[Outcome, Difference | None]:
    """What a second call does with the same arrays that hold other numbers, and what is wrong.

    Each call has a stream of its own, or None.  An error of either call is the outcome, and wrong.
    """
    made = inputs.make(calls.handed_over(inputs.form))
    raw: list[Any] = []
    outcome = calls.given(function, made, streams[0], own_stream, raw)
    if outcome.error is not None:
        text = (
            f"a second call raises {described(outcome.error, outcome.line)}; the original returns"
        )
        return outcome, Difference("exception", text)
    own = [_memory(m) for m in made]
    first = [a for a in _arrays(raw[0]) if not any(_share(a, m) for m in own)]
    before = [a.copy() for a in first]
    _refill(made, other)
    outcome = calls.given(function, made, streams[1], own_stream, raw)
    if outcome.error is not None:
        text = (
            f"a second call raises {described(outcome.error, outcome.line)}; the original returns"
        )
        return outcome, Difference("exception", text)
    now = [a for a in _arrays(raw[1]) if not any(_share(a, m) for m in own)]
    if any(_share(a, b) for a in first for b in now):
        text = "a second call returns the memory of the first call's result"
        return outcome, Difference("aliasing", text, "result")
    if any(not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
           for a, b in zip(first, before, strict=True)):  # fmt: skip
        text = "a second call changes what the first one returned"
        return outcome, Difference("aliasing", text, "result")
    return outcome, None


def on_second_call(found: Difference | None) -> Difference | None:
    """A difference that only the second call shows."""
    return found and replace(found, message=f"a second call: {found.message}")


def _refill(made: list[Any], other: Inputs) -> None:
    for target, argument in zip(made, other.arguments, strict=True):
        memory = _memory(target)
        if memory is not None and not argument.like and memory.flags.writeable:
            memory[...] = argument.value


def _memory(value: Any) -> np.ndarray[Any, Any] | None:
    """The array of the host behind a value, if it is an array."""
    value = getattr(value, "_ary", value)
    return value if isinstance(value, np.ndarray) else None


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays(item)
        return
    memory = _memory(value)
    if memory is not None and memory.size:
        yield memory


def _share(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any] | None) -> bool:
    return other is not None and bool(np.may_share_memory(one, other))
