"""Calling the original and the generated function, and keeping what they did."""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import cuda
from numba.core.registry import cpu_target

from porter.verify.engines.launches import POISON, poisoned_host
from porter.verify.engines.streams import STREAMS
from porter.verify.inputs.arguments import GAP, Argument, Inputs, host, lay_out
from porter.verify.oracle.compare import Outcome, kind_of

#: seconds that the original gets for one case: beyond that the inputs are not sensible
PATIENCE = 5.0


class TooLong(BaseException):
    """The original did not finish in time; code that catches every `Exception` ends too."""


class UndefinedCast(Exception):
    """The original casts NaN or an out-of-range number to an integer: any result is right."""


def original(
    function: Callable[..., Any],
    inputs: Inputs,
    *,
    casts: bool = False,
    patience: float = PATIENCE,
) -> Outcome:
    """What the original does with host arrays; with `casts`, undefined casts are errors."""
    convert = _listed if inputs.form == "list" else None
    made = inputs.make(convert)
    known = getattr(function, "__globals__", {}).values()
    if any(type(x).__module__.startswith("numba.") for x in (function, *known)):
        _complete_numba()
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always" if casts else "ignore")
        state = np.errstate(invalid="warn") if casts else contextlib.nullcontext()
        try:
            # what neither function fills is the same then
            with state, poisoned_host(), time_limit(patience):
                outcome = _call(function, made, {})
        except TooLong as error:
            # a second alarm, while the first was dealt with
            outcome = Outcome(error=error)
    if any("in cast" in str(w.message) for w in caught):
        outcome.error = UndefinedCast("cast of a value that the integer type cannot hold")
    return outcome


@functools.cache
def _complete_numba() -> None:
    """Let Numba load what it knows of types, which an alarm would leave half done."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def converted(
    function: Callable[..., Any],
    inputs: Inputs,
    *,
    streams: bool,
    own: str = "stream",
    seed: int | None = None,
) -> Outcome:
    """What the generated function does, its arrays handed over as the inputs' form says.

    `own` is its argument that takes a stream; with a `seed`, it draws random numbers.
    """
    made = inputs.make(handed_over(inputs.form))
    return given(function, made, cuda.stream() if streams else None, own, seed=seed)


def given(
    function: Callable[..., Any],
    made: list[Any],
    stream: Any,
    own: str,
    kept: list[Any] | None = None,
    seed: int | None = None,
) -> Outcome:
    """What the generated function does with arguments; its result as it is goes into `kept`."""
    options = {} if stream is None else {own: stream}
    options |= {} if seed is None else {seed_of(function, own): seed}
    poisoned = contextlib.nullcontext() if POISON.compiled else poisoned_host()
    with warnings.catch_warnings(), np.errstate(all="ignore"), poisoned:
        warnings.simplefilter("ignore")
        outcome = _call(function, made, options, own, kept)
    outcome.complaint = STREAMS.complaint
    return outcome


def handed_over(form: str) -> Callable[[Argument], Any] | None:
    """How a form makes arguments of arrays; None for host arrays."""
    return {"device": _device, "device-view": _device_view, "list": _listed}.get(form)


def keyword_only(function: Callable[..., Any]) -> list[str]:
    """The parameters that are passed by keyword; their arguments come last in a case."""
    known = inspect.signature(function).parameters
    return [n for n, p in known.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]


def positional(function: Callable[..., Any], own: str = "") -> list[str]:
    """The parameters in the order of the header's types: those by keyword last."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = inspect.signature(function).parameters
    return [
        *(n for n, p in known.items() if p.kind in kinds),
        *given_by_keyword(function, own),
    ]


def given_by_keyword(function: Callable[..., Any], own: str) -> list[str]:
    """The parameters that are passed by keyword, but for those of the module's own.

    These come last, the argument that takes a stream before the others (`OWN_KEYWORDS`).
    """
    names = keyword_only(function)
    return names[: names.index(own)] if own in names else names


def seed_of(function: Callable[..., Any], own: str) -> str:
    """The argument of a function that draws random numbers which takes a seed."""
    names = keyword_only(function)
    return names[names.index(own) + 1]


def _call(
    function: Callable[..., Any],
    made: list[Any],
    options: dict[str, Any],
    own: str = "",
    kept: list[Any] | None = None,
) -> Outcome:
    outcome = Outcome()
    started = time.perf_counter()
    names = given_by_keyword(function, own)
    count = len(made) - len(names)
    options = options | dict(zip(names, made[count:], strict=False))
    try:
        with STREAMS.expected(options.get(own)):
            result = function(*made[:count], **options)
        outcome.seconds = time.perf_counter() - started
    except (Exception, SystemExit, TooLong) as error:
        outcome.error = error
        outcome.line = _line(error, function)
        return outcome
    if kept is not None:
        kept.append(result)
    results = result if isinstance(result, (tuple, list)) else [result]
    outcome.aliases = [
        next((k for k, m in enumerate(made) if m is r and _is_array(r)), -1) for r in results
    ]
    outcome.views = [_viewed(r, made) for r in results]
    outcome.result = _kept(result)
    outcome.arguments = [_kept(m) for m in made]
    outcome.stray = tuple(str(k) for k, m in enumerate(made) if _strayed(m))
    return outcome


def _viewed(result: Any, made: Sequence[Any]) -> int | None:
    """The number of the host argument that a result on the host is a part of, or -1."""
    if not isinstance(result, np.ndarray):
        return None
    parts = (k for k, m in enumerate(made) if isinstance(m, np.ndarray))
    return next((k for k in parts if np.may_share_memory(result, made[k])), -1)


def _is_array(value: Any) -> bool:
    marks = ("copy_to_host", "__cuda_array_interface__")
    return isinstance(value, np.ndarray) or any(hasattr(value, mark) for mark in marks)


def _kept(value: Any) -> Any:
    """A copy that later calls cannot change; device arrays stay recognisable.

    Of a random generator nothing is compared: the module takes a seed of it, and no numbers.
    """
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return None
    if isinstance(value, tuple):
        return tuple(_kept(v) for v in value)
    if isinstance(value, list):
        return [_kept(v) for v in value]
    if isinstance(value, dict):
        # compared as its keys in order, and its values one by one
        return type(value).__name__, tuple(value), tuple(_kept(v) for v in value.values())
    if isinstance(value, np.ndarray):
        return np.array(value)
    if hasattr(value, "copy_to_host"):
        return OnDevice(np.array(value.copy_to_host()))
    if hasattr(value, "__cuda_array_interface__"):
        return OnDevice(value.get())  # CuPy's
    return value


class OnDevice:
    """The contents of a device array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array


def fetched(outcome: Outcome, form: str) -> tuple[Outcome, str]:
    """The outcome with host copies, and where device arrays were missing or unwanted."""
    complaints: list[str] = []
    wanted = form.startswith("device")
    result = _fetch(outcome.result, wanted, complaints)
    arguments = [_fetch(a, wanted, []) for a in outcome.arguments]
    host = Outcome(
        outcome.error, result, arguments, outcome.aliases, outcome.stray, outcome.line,
        views=outcome.views,
    )  # fmt: skip
    return host, complaints[0] if complaints else ""


def _fetch(value: Any, wanted: bool, complaints: list[str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_fetch(v, wanted, complaints) for v in value)
    if isinstance(value, list):
        return [_fetch(v, wanted, complaints) for v in value]
    if isinstance(value, OnDevice):
        if not wanted:
            complaints.append("a result is a device array although no argument was one")
        return value.array
    if wanted and isinstance(value, np.ndarray) and value.ndim:
        complaints.append("a result is a host array although the arguments are device arrays")
    return value


def _strayed(made: Any) -> bool:
    """Whether the memory between the elements of a view has changed."""
    if not isinstance(made, np.ndarray) or made.base is None or not made.flags.writeable:
        return False
    kept = made.copy()
    made[...] = GAP
    strayed = bool((np.asarray(made.base) != np.array(GAP).astype(made.dtype)).any())
    made[...] = kept
    return strayed


def _listed(argument: Argument) -> Any:
    value = argument.value
    return value.tolist() if isinstance(value, np.ndarray) else host(argument)


def _device(argument: Argument) -> Any:
    value = argument.value
    if not isinstance(value, np.ndarray):
        return host(argument)
    return cuda.to_device(np.array(value, order="F" if argument.layout == "F" else "C"))


def _device_view(argument: Argument) -> Any:
    value = argument.value
    if not isinstance(value, np.ndarray) or not value.ndim:
        return _device(argument)
    base = cuda.to_device(np.asarray(lay_out(value, "strided").base))
    return base[tuple(slice(1, None, 2) for _ in value.shape)]


def _line(error: BaseException, function: Callable[..., Any]) -> int | None:
    """The last line of the function's own file in the traceback."""
    code = getattr(function, "__code__", None)
    found, trace = None, error.__traceback__
    while trace is not None and code is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block after some seconds, where the system has such alarms.

    A limit around another one holds on when the inner one is over.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong(f"the original takes over {seconds:.2g} s")

    before, begun = signal.signal(signal.SIGALRM, ring), time.monotonic()
    # again and again: a bare `except` catches the first
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:
            left = max(0.01, outer - (time.monotonic() - begun))
            signal.setitimer(signal.ITIMER_REAL, left, 1.0)


def has_special(inputs: Inputs) -> bool:
    """Whether any argument holds NaN or an infinity."""
    arrays = [a.value for a in inputs.arguments if isinstance(a.value, np.ndarray)]
    return any(a.dtype.kind in "fc" and not np.isfinite(a).all() for a in arrays)


def equals_an_input(outcome: Outcome, inputs: Inputs) -> bool:
    """Whether a result is a plain copy of one of the array arguments."""
    result = outcome.result
    if kind_of(result) != "array" or not result.size:
        return False
    given = [a.value for a in inputs.arguments if isinstance(a.value, np.ndarray)]
    return any(
        g.shape == result.shape and g.dtype == result.dtype and bool((g == result).all())
        for g in given
    )
