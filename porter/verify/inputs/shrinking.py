"""Making an input on which two functions differ smaller, as long as they still do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.resizing import resized, sizes_of

#: inputs that are tried, and seconds for them: whichever is over first
TRIES, SECONDS = 250, 5.0
#: sizes that are tried before halves: blocks have eight threads or four in most cases
_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9)
#: arrays up to this size are tried one element at a time
_SINGLE = 64


@dataclass
class Shrinker:
    """Greedy: what still differs is gone on with. `differs` tells of an input whether it does."""

    parameters: list[Parameter]
    differs: Callable[[Inputs], bool]
    left: int = TRIES
    until: float = 0.0

    def smallest(self, inputs: Inputs) -> Inputs:
        """The smallest input that was found; the one given, if no smaller one differs."""
        self.until = time.monotonic() + SECONDS
        while True:
            before = inputs
            for step in (self._plain, self._sizes, self._values):
                inputs = step(inputs)
            if inputs is before or self._over():
                return inputs

    def _over(self) -> bool:
        return self.left <= 0 or time.monotonic() > self.until

    def _try(self, inputs: Inputs | None) -> bool:
        if inputs is None or self._over():
            return False
        self.left -= 1
        return self.differs(inputs)

    def _plain(self, inputs: Inputs) -> Inputs:
        """Host arrays, contiguous, none of them twice."""
        changes: list[Callable[[Argument], Argument]] = [
            lambda a: replace(a, layout="C"),
            lambda a: replace(a, like=""),
        ]
        if inputs.form != "host" and self._try(host := replace(inputs, form="host")):
            inputs = host
        for change in changes:
            arguments = tuple(map(change, inputs.arguments))
            changed = replace(inputs, arguments=arguments)
            if arguments != inputs.arguments and self._try(changed):
                inputs = changed
        return inputs

    def _sizes(self, inputs: Inputs) -> Inputs:
        sizes = sizes_of(inputs, self.parameters) or {}
        for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
            for smaller, last in _smaller(sizes[name]):
                changed = resized(inputs, self.parameters, sizes | {name: smaller}, last=last)
                if self._try(changed):
                    assert changed is not None
                    inputs, sizes = changed, sizes | {name: smaller}
                    break
        return inputs

    def _values(self, inputs: Inputs) -> Inputs:
        for k, argument in enumerate(inputs.arguments):
            if argument.like:
                continue
            for value in _simpler(argument.value):
                changed = _with(inputs, k, value)
                if self._try(changed):
                    inputs = changed
                    break
            inputs = self._zeros(inputs, k)
        return inputs

    def _zeros(self, inputs: Inputs, k: int) -> Inputs:
        """Zeros in place of as many elements as possible, in halves, quarters and so on."""
        value = inputs.arguments[k].value
        if not isinstance(value, np.ndarray):
            return inputs
        size = value.size
        while size > 1:
            size = (size + 1) // 2
            if value.size // size > _SINGLE:
                return inputs
            for start in range(0, value.size, size):
                zeroed = inputs.arguments[k].value.copy()
                part = zeroed.reshape(-1)[start : start + size]
                if not part.any():
                    continue
                part[...] = 0
                if self._try(changed := _with(inputs, k, zeroed)):
                    inputs = changed
        return inputs


def _smaller(size: int) -> Iterator[tuple[int, bool]]:
    """Smaller sizes than one, each of the beginning of an array and of its end."""
    for smaller in dict.fromkeys((*_SIZES, size // 2, size - size // 4, size - 1)):
        if 0 <= smaller < size:
            yield smaller, False
            if smaller:
                yield smaller, True


def _with(inputs: Inputs, k: int, value: Any) -> Inputs:
    """The inputs with another value for one argument, and for those that are the same array."""
    name = inputs.arguments[k].name
    arguments = tuple(
        replace(a, value=value) if n == k or a.like == name else a
        for n, a in enumerate(inputs.arguments)
    )
    return replace(inputs, arguments=arguments)


def _simpler(value: Any) -> Iterator[Any]:
    """Simpler values of the same type, the simplest first."""
    if isinstance(value, (bool, np.bool_)) or value is None:
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc" or not value.size:
            return
        if not value.any() or value.dtype.kind == "b":
            return
        yield np.zeros_like(value)
        if (value == 1).all():
            return
        if (value != 0).all():
            yield np.ones_like(value)
        if value.dtype.kind in "fc":
            finite = np.where(np.isfinite(value), value, 1).astype(value.dtype)
            rounded = np.round(finite)
            if (rounded != value).any():
                yield rounded
        return
    if isinstance(value, (int, float, complex, np.number)):
        yield from _simpler_numbers(value)


def _simpler_numbers(value: Any) -> Iterator[Any]:
    for number in (0, 1, 2):
        if value == number or abs(value) <= number:
            return
        yield type(value)(number)
    if isinstance(value, (float, np.floating)) and np.isfinite(value) and value != round(value):
        yield type(value)(round(value))


def values_of(inputs: Inputs) -> tuple[str, ...]:
    """One line for each argument, small arrays with all of their values."""
    lines = []
    for argument, line in zip(inputs.arguments, inputs.describe(), strict=False):
        value = argument.value
        if isinstance(value, np.ndarray) and 0 < value.size <= 9 and not argument.like:
            line += " = " + " ".join(np.array2string(value, separator=", ").split())
        lines.append(line)
    return (*lines, *inputs.describe()[len(lines) :])
