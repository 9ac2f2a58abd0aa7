"""Recording calls while the user's script runs: `sys.setprofile`, in the child process."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from porter.trace.record import Size, Sizes, TracedFunction, TracedSignature
from porter.trace.samples import Samples
from porter.trace.values import key_of, type_name

#: calls of a function whose arguments are looked at, then every so many of the others
LOOKED_AT, STRIDE = 1000, 64
#: distinct types and sizes that are kept of a function
KEPT = 64

_clock = time.perf_counter
# flags of code: *args and **kwargs, local variables in slots (a class body has none)
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_FUNCTION = inspect.CO_OPTIMIZED


class _Calls:
    """Calls of one function with equal types and sizes."""

    __slots__ = ("calls", "inputs", "seconds")

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0
        self.inputs = ""


class _Function:
    """What is counted of one function."""

    __slots__ = ("calls", "code", "depth", "kinds", "more", "own", "parameters", "path", "seconds")

    def __init__(self, code: CodeType, path: str) -> None:
        self.path, self.code = path, code
        self.parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.calls = self.depth = self.more = 0
        self.seconds = self.own = 0.0
        self.kinds: dict[tuple[Any, ...], _Calls] = {}

    @property
    def name(self) -> str:
        """As the analyzer names it."""
        return self.code.co_qualname.replace(".<locals>", "")

    def kind(self, frame: FrameType, samples: Samples | None) -> _Calls | None:
        """Where to count a call with such arguments; None if there are too many kinds."""
        values = frame.f_locals
        key = tuple(key_of(values.get(name)) for name in self.parameters)
        kind = self.kinds.get(key)
        if kind is None:
            if len(self.kinds) >= KEPT:
                self.more += 1
                return None
            kind = self.kinds[key] = _Calls()
            if samples is not None and self.parameters:
                kind.inputs = samples.keep({n: values.get(n) for n in self.parameters})
        kind.calls += 1
        return kind


class _Activation:
    """A call that has not returned."""

    __slots__ = ("begun", "entering", "frame", "function", "inside", "kind", "lost")

    def __init__(self, frame: FrameType, function: _Function, kind: _Calls | None) -> None:
        self.frame = frame
        self.function = function
        self.kind = kind
        self.inside = 0.0  # seconds in recorded functions that it called
        self.lost = 0.0  # seconds that the recording took since `begun`
        self.entering = 0.0  # those that it took before
        self.begun = 0.0


class Recorder:
    """Counts calls of functions whose file `own_path` accepts, giving the path to record.

    Times are wall-clock times without what the recording itself took for other functions.
    """

    def __init__(
        self, own_path: Callable[[str], str | None], samples: Samples | None = None
    ) -> None:
        self.own_path = own_path
        self.samples = samples
        self.codes: dict[CodeType, _Function | None] = {}
        self.files: dict[str, str | None] = {}
        self.local = threading.local()
        self.stacks: list[list[_Activation]] = []
        self.overhead = 0.0
        self.others = 0  # events of functions that are not recorded
        self.closed = False  # the result was taken, though the script may still run

    def start(self) -> None:
        """Record from here on, in new threads too."""
        threading.setprofile(self)
        sys.setprofile(self)

    def stop(self) -> None:
        """Record no more in this thread."""
        sys.setprofile(None)
        threading.setprofile(None)

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """The profile function: Python's calls and returns count, those of C do not."""
        if self.closed:
            return
        if event == "call":
            self._enter(frame)
        elif event == "return":
            self._leave(frame)
        else:
            self.others += 1

    def _enter(self, frame: FrameType) -> None:
        arrived = _clock()
        code = frame.f_code
        function = self.codes[code] if code in self.codes else self._new(code)
        if function is None:
            self.others += 1
            return
        function.calls += 1
        function.depth += 1
        looked_at = function.calls <= LOOKED_AT or function.calls % STRIDE == 0
        activation = _Activation(frame, function, None)
        if looked_at:
            activation.kind = function.kind(frame, self.samples)
        self._stack().append(activation)
        activation.begun = _clock()
        activation.entering = activation.begun - arrived
        self.overhead += activation.entering

    def _leave(self, frame: FrameType) -> None:
        ended = _clock()
        if self.codes.get(frame.f_code) is None:
            self.others += 1
            return
        stack = self._stack()
        # a greenlet may never return: the calls it was in are given up
        while stack and stack[-1].frame is not frame:
            stack.pop().function.depth -= 1
        if stack:
            self._count(stack.pop(), ended, stack)

    def _count(self, done: _Activation, ended: float, stack: list[_Activation]) -> None:
        function = done.function
        spent = ended - done.begun - done.lost
        function.depth -= 1
        function.own += spent - done.inside
        if function.depth == 0:
            function.seconds += spent
        if done.kind is not None:
            done.kind.seconds += spent
        took = _clock() - ended
        self.overhead += took
        if stack:
            stack[-1].inside += spent
            stack[-1].lost += done.lost + done.entering + took

    def _stack(self) -> list[_Activation]:
        stack: list[_Activation] | None = getattr(self.local, "stack", None)
        if stack is None:
            stack = self.local.stack = []
            self.stacks.append(stack)
        return stack

    def _new(self, code: CodeType) -> _Function | None:
        """What to count for code that is seen for the first time, if anything."""
        name = code.co_filename
        if name not in self.files:
            self.files[name] = self.own_path(name)
        path = self.files[name]
        # the time of a comprehension, a lambda or a class body is that of what is around it
        counts = code.co_name == "<module>" or (
            not code.co_name.startswith("<") and code.co_flags & _FUNCTION
        )
        function = _Function(code, path) if path is not None and counts else None
        self.codes[code] = function
        return function

    def functions(self) -> tuple[TracedFunction, ...]:
        """What was recorded, the slowest function first; calls that go on count as ended now."""
        now = _clock()
        self.closed = True
        for stack in self.stacks:
            while stack:
                self._count(stack.pop(), now, stack)
        found = [_traced(f) for f in list(self.codes.values()) if f is not None]
        return tuple(sorted(found, key=lambda f: -f.seconds))


def _traced(function: _Function) -> TracedFunction:
    return TracedFunction(
        function.path,
        function.name,
        function.code.co_firstlineno,
        function.parameters,
        function.calls,
        function.seconds,
        function.own,
        # with *args it is not known which value is whose
        ()
        if function.code.co_flags & _VARIADIC or function.name == "<module>"
        else tuple(_signatures(function)),
    )


def _signatures(function: _Function) -> Iterator[TracedSignature]:
    """The distinct types, the most frequent first, each with its sizes."""
    found: dict[str, list[Sizes]] = {}
    for key, kind in list(function.kinds.items()):
        names = ", ".join(type_name(k, size) for k, size in key)
        sizes: tuple[Size, ...] = tuple(size for _, size in key)
        found.setdefault(names, []).append(Sizes(sizes, kind.calls, kind.seconds, kind.inputs))
    made = [
        TracedSignature(
            names,
            sum(s.calls for s in shapes),
            tuple(sorted(shapes, key=lambda s: -s.seconds)),
        )
        for names, shapes in found.items()
    ]
    made.sort(key=lambda s: -s.calls)
    for number, signature in enumerate(made):
        yield TracedSignature(
            signature.types, signature.calls, signature.shapes, 0 if number else function.more
        )
