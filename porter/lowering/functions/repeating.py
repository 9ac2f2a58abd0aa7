"""Elements that occur several times or elsewhere: repeat, tile, roll, fftshift, rot90."""

from __future__ import annotations

from typing import Any

from porter.lowering.arrays.calculus import ONE, normal_axis, transpose
from porter.lowering.arrays.rearrange import along, flat, raised, reshape, settled
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.shaping import flipped
from porter.numpy_functions import Rank
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly


def count(call: Call, value: Any) -> Poly:
    """A number of times. NumPy raises ValueError for a negative one."""
    (n,) = shape_of(call, value)
    if n.constant is not None and n.constant < 0:
        raise call.refuse(
            "PRT903", "the `repeats` of `repeat` are negative", "pass a count of 0 or more"
        )
    return n


@function("numpy.repeat", "a repeats axis=None")
def _repeat(call: Call) -> Value:
    """Element k is the one at k // repeats."""
    array, times = call.array("a"), call.value("repeats")
    if isinstance(times, tuple) and len(times) == 1:
        (times,) = times
    if isinstance(times, (tuple, Array)):
        raise call.refuse(
            "PRT906",
            "the shape of `repeat` with an array of counts depends on the data",
            "repeat every element the same number of times",
        )
    n = count(call, times)
    axes = call.axes()
    array = settled(call.b, flat(call.b, array) if axes is None or not array.ndim else array)
    d = normal_axis(call.b, (axes or [0])[0], array.ndim, "`repeat`")
    return along(array, d, array.shape[d] * n, lambda k: k // n)


@function("numpy.tile", "A reps")
def _tile(call: Call) -> Value:
    """Element k is the one at k modulo the size."""
    array, given = call.array("A"), call.value("reps")
    times = [count(call, v) for v in (given if isinstance(given, tuple) else (given,))]
    array = raised(settled(call.b, array), len(times))
    times = [ONE] * (array.ndim - len(times)) + times
    for d, n in enumerate(times):
        size = array.shape[d]
        if n == ONE:
            continue
        start = (lambda _: Poly()) if size == ONE else (lambda k, size=size: k % size)
        array = along(array, d, size * n, start)
    # a copy, also where nothing is repeated
    return Array(array.shape, array.dtype, array.at)


@function("numpy.roll", "a shift axis=None")
def _roll(call: Call) -> Value:
    """Element i is the one at (i - shift) mod n; without an axis, of all elements in a row."""
    whole = call.array("a")
    axes, shifts = call.axes(), call.value("shift")
    array = settled(call.b, flat(call.b, whole) if axes is None else whole)
    places = [0] if axes is None else axes
    if isinstance(shifts, tuple) and len(places) == 1:
        places = places * len(shifts)
    shifts = shifts if isinstance(shifts, tuple) else (shifts,) * len(places)
    if len(shifts) != len(places):
        raise call.refuse("PRT903", "`roll` requires one shift, or as many shifts as axes")
    for axis, shift in zip(places, shifts, strict=True):
        d = normal_axis(call.b, axis, array.ndim, "`roll`")
        array = _rolled(array, d, call.ev.size(shift, call.node))
    return reshape(call.b, array, whole.shape) if axes is None and whole.ndim != 1 else array


def _rolled(array: Array, d: int, shift: Poly) -> Array:
    n = array.shape[d]
    return along(array, d, n, lambda i: (i - shift) % n)


@function("numpy.fft.fftshift", "x axes=None", rank=Rank.LIKE, axes=1)
def _fftshift(call: Call) -> Value:
    """The frequency 0 in the middle: every axis is rolled by half its size."""
    return _half_rolled(call, 1)


@function("numpy.fft.ifftshift", "x axes=None", rank=Rank.LIKE, axes=1)
def _ifftshift(call: Call) -> Value:
    """The middle back at the start; for an odd size the halves are not equal."""
    return _half_rolled(call, -1)


def _half_rolled(call: Call, sign: int) -> Array:
    array = settled(call.b, call.array("x"))
    axes = call.axes("axes")
    for axis in range(array.ndim) if axes is None else axes:
        d = normal_axis(call.b, axis, array.ndim, f"`{call.name}`")
        array = _rolled(array, d, array.shape[d] // 2 * sign)
    # a copy, also where there is no axis to roll
    return Array(array.shape, array.dtype, array.at)


@function("numpy.rot90", "m k=1 axes=None")
def _rot90(call: Call) -> Value:
    """Turned by k right angles from the first axis to the second: a view."""
    array, k = call.array("m"), int(call.constant("k")) % 4
    given = call.axes("axes") or [0, 1]
    a, b = (normal_axis(call.b, x, array.ndim, "`rot90`") for x in given)
    if k in (1, 3):
        order = list(range(array.ndim))
        order[a], order[b] = b, a
        array = transpose(array, order)
    return flipped(array, {1: [a], 2: [a, b], 3: [b]}.get(k, []))
