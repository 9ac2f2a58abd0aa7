"""Arguments for one case: values by domain, then laid out in memory as the case wants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from porter.dtypes.signatures import ArgType
from porter.verify.inputs import events
from porter.verify.inputs.cases import CaseSpec, choose_sizes
from porter.verify.inputs.shapes import evaluate, symbols

Array = np.ndarray[Any, Any]
#: between the elements of a strided view, where nothing may be written
GAP = 77
#: bytes that all arrays of a case may take, the gaps of strided ones included
MOST_GIVEN = 250e6
#: special floats, among them denormal numbers of double and of single precision
_ODD = (math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -1e-310, 1e-42)


class TooLarge(MemoryError):
    """The arrays of a case would take too much memory: they are not made."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: its type, its dimensions, whether it looks like an index, numbers that
    its values are compared with somewhere (`marks`), and what is passed if it is omitted."""

    name: str
    type: ArgType
    dims: tuple[str, ...] = ()
    index: bool = False
    marks: tuple[float, ...] = ()
    default: Any = None


@dataclass(frozen=True)
class Seeded:
    """A random generator of one of NumPy's classes, made anew for each call."""

    kind: str
    seed: int

    def made(self) -> Any:
        """The generator; whoever wants others in each call replaces NumPy's functions."""
        return np.random.default_rng(self.seed) if self.kind == "Generator" else (
            np.random.RandomState(self.seed)
        )  # fmt: skip

    def __repr__(self) -> str:
        name = "default_rng" if self.kind == "Generator" else self.kind
        return f"np.random.{name}({self.seed})"


@dataclass(frozen=True)
class Argument:
    """An argument before it is laid out: `like` names the argument that it is identical to."""

    name: str
    value: Any
    layout: str = "C"
    like: str = ""

    def describe(self) -> str:
        """One line for messages: name, dtype, shape and layout, or the value."""
        if self.like and self.layout == "overlap":
            return f"{self.name} is {self.like}, one element further"
        if self.like:
            return f"{self.name} is {self.like}"
        if not isinstance(self.value, np.ndarray):
            return f"{self.name} = {self.value!r}"
        shape = "x".join(str(n) for n in self.value.shape) or "0-d"
        layout = "" if self.layout == "C" else f", {self.layout}"
        return f"{self.name}: {self.value.dtype} {shape}{layout}"


class Sums(NamedTuple):
    """The longest axis of any array, which a reduction may run over, and the unit of the last
    place of 1.0 in the coarsest floats among them."""

    longest: int
    eps: float


@dataclass(frozen=True)
class Inputs:
    """All arguments of one call, in order; `form` says how arrays are handed over.

    What was `found` by trying need not be what the function is meant for.
    """

    arguments: tuple[Argument, ...]
    form: str = "host"
    sizes: dict[str, int] = field(default_factory=dict)
    found: bool = False

    def make(self, convert: Callable[[Argument], Any] | None = None) -> list[Any]:
        """Fresh objects for one call; `convert` makes something else than host arrays."""
        made: dict[str, Any] = {}
        for argument in self.arguments:
            if argument.like and argument.layout == "overlap":
                pair = overlapping(made[argument.like], argument.value)
                made[argument.like], made[argument.name] = pair
            elif argument.like:
                made[argument.name] = made[argument.like]
            else:
                made[argument.name] = (convert or host)(argument)
        return list(made.values())

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(getattr(a.value, "nbytes", 0) for a in self.arguments)

    def counts_few(self, most: int) -> bool:
        """Whether an integer is so small that what it counts may be broadcast."""
        values = (a.value for a in self.arguments)
        return any(type(v) is int and abs(v) <= most for v in values)

    def describe(self) -> tuple[str, ...]:
        """One line per argument."""
        lines = tuple(a.describe() for a in self.arguments)
        return lines if self.form == "host" else (*lines, f"arrays passed as: {self.form}")

    @property
    def sums(self) -> Sums:
        """How far the sums of a call may be off."""
        kept = [a.value.dtype for a in self.arguments if isinstance(a.value, np.ndarray)]
        eps = [float(np.finfo(d).eps) for d in kept if d.kind in "fc"]
        return Sums(max(self._axes, default=0), max(eps, default=0.0))

    @property
    def smallest(self) -> int:
        """The shortest axis of any array; 0 when there is an array without elements."""
        return min(self._axes, default=1)

    @property
    def _axes(self) -> list[int]:
        return [n for a in self.arguments if isinstance(a.value, np.ndarray) for n in a.value.shape]


def host(argument: Argument) -> Any:
    """A host array with the argument's layout, or the value itself."""
    if isinstance(argument.value, Seeded):
        return argument.value.made()
    if not isinstance(argument.value, np.ndarray):
        return argument.value
    return lay_out(argument.value, argument.layout)


def lay_out(values: Array, layout: str) -> Array:
    """A fresh array with these values: C, F, strided, reversed, offset, broadcast or readonly.

    Of a broadcast array, whose rows are one and the same in memory, the first row counts.
    """
    if layout == "F" and values.ndim > 1:
        return np.array(values, order="F")
    if layout in ("strided", "F") and values.ndim:
        base = np.full([2 * n + 1 for n in values.shape], GAP, values.dtype)
        view = base[tuple(slice(1, None, 2) for _ in values.shape)]
    elif layout == "reversed" and values.ndim:
        base = np.full(values.shape, GAP, values.dtype)
        view = base[tuple(slice(None, None, -1) for _ in values.shape)]
    elif layout == "offset" and values.ndim:
        base = np.full([n + 3 for n in values.shape], GAP, values.dtype)
        view = base[tuple(slice(2, n + 2) for n in values.shape)]
    elif layout == "broadcast" and values.ndim and len(values):
        return np.broadcast_to(values[:1].copy(), values.shape)
    else:
        copy = np.array(values, order="C")
        copy.setflags(write=layout != "readonly")
        return copy
    view[...] = values
    return view


def overlapping(first: Any, moved: Array) -> tuple[Any, Any]:
    """Two views of one array: the second begins one element after the first."""
    if not isinstance(first, np.ndarray):
        return first, first  # no views are made of lists and device arrays
    base = np.concatenate([first, moved[-1:]])
    return base[:-1], base[1:]


def build(
    parameters: list[Parameter],
    spec: CaseSpec,
    blocks: dict[str, int],
    rng: np.random.Generator,
    extents: Mapping[str, tuple[int, int]] | None = None,
) -> Inputs:
    """The arguments of one case; `extents` bounds dimensions from below and above.

    Raises `TooLarge` before any array is made that the memory may not hold.
    """
    names = symbols(entry for p in parameters for entry in p.dims)
    sizes = choose_sizes(names, spec, blocks, _least(parameters, names))
    for name, (least, most) in (extents or {}).items():
        sizes[name] = min(max(sizes[name], least), most)
    if (size := _bytes(parameters, sizes, spec)) > MOST_GIVEN:
        raise TooLarge(f"arrays of {size / 1e6:.0f} MB")
    smallest = min((n for n in sizes.values() if n), default=4)
    arguments: list[Argument] = []
    of_slices = pointers(parameters) if spec.below else set()
    for parameter in parameters:
        if parameter.name in of_slices:
            value: Any = _below(parameter, sizes, rng)
        else:
            # beside pointers beyond their array, what is read there has to be in range
            tame = replace(spec, ints="wrap") if of_slices else spec
            value = _value(parameter, tame, sizes, smallest, rng)
        layout = spec.layout if parameter.type.kind == "array" else "C"
        if layout == "broadcast" and value.ndim and len(value):
            value = np.repeat(value[:1], len(value), axis=0)
        if spec.event and parameter.type.kind == "array" and value.size:
            # pointers that stay in order let what they point to be read
            if not (parameter.index and any(map(_counts_ends, parameter.dims))):
                events.put(value, spec.event, index=parameter.index)
        arguments.append(Argument(parameter.name, value, layout))
    if spec.form == "alias":
        arguments = _alias(parameters, arguments)
    if spec.form == "overlap":
        arguments = _overlap(parameters, arguments)
    arrays = any(isinstance(a.value, np.ndarray) for a in arguments)
    form = spec.form if arrays and spec.form not in ("alias", "overlap") else "host"
    return Inputs(tuple(arguments), form, sizes)


def _bytes(parameters: list[Parameter], sizes: dict[str, int], spec: CaseSpec) -> float:
    """What the arrays of a case take."""
    gaps = 2 if spec.layout == "strided" or spec.form == "device-view" else 1
    total = 0.0
    for p in parameters:
        if p.type.kind == "array":
            lengths = (gaps * float(max(0, evaluate(entry, sizes))) for entry in p.dims)
            total += np.dtype(p.type.dtype).itemsize * math.prod(lengths)
    return total


def pointers(parameters: list[Parameter], kinds: str = "i") -> set[str]:
    """Arrays of indices with a size of their own, beside others: bounds of slices, most likely."""
    arrays = [p for p in parameters if p.type.kind == "array" and p.dims]
    indices = [p for p in arrays if p.index and p.type.letter in kinds]
    own = {
        p.name
        for p in indices
        if not any(q is not p and set(symbols(q.dims)) & set(symbols(p.dims)) for q in arrays)
    }
    return own if len(own) < len(indices) else set()


def _below(parameter: Parameter, sizes: dict[str, int], rng: np.random.Generator) -> Array:
    """Bounds of slices of some axis, many of them its last element or one below its start."""
    shape = tuple(max(0, evaluate(e, sizes)) for e in parameter.dims)
    most = rng.choice(list(sizes.values()) or [1], shape)
    kinds = rng.random(shape)
    values = rng.integers(-most, most + 2)
    values = np.where(kinds < 0.5, -1, values)
    return np.where(kinds < 0.3, -most - 1, values).astype(parameter.type.dtype)


def _least(parameters: list[Parameter], names: list[str]) -> dict[str, int]:
    """The smallest sizes for which no dimension is negative (`n-2` needs n >= 2)."""
    least = dict.fromkeys(names, 0)
    for entry in {e for p in parameters for e in p.dims}:
        for name in symbols([entry]):
            while least[name] < 16 and evaluate(entry, dict.fromkeys(names, 16) | least) < 0:
                least[name] += 1
    return least


def _alias(parameters: list[Parameter], arguments: list[Argument]) -> list[Argument]:
    """The same array for the last two parameters of the same type and shape."""
    for second in reversed(range(len(parameters))):
        for first in range(second):
            p, q = parameters[first], parameters[second]
            given, other = arguments[first].value, arguments[second].value
            # sizes that nothing ties together may be equal all the same
            if p.type.kind == "array" and p.type == q.type and given.shape == other.shape:
                alias = Argument(q.name, given, "C", p.name)
                return [*arguments[:second], alias, *arguments[second + 1 :]]
    return arguments


def _overlap(parameters: list[Parameter], arguments: list[Argument]) -> list[Argument]:
    """Two parameters of the same type and shape get views of one array, an element apart."""
    made = _alias(parameters, arguments)
    for k, argument in enumerate(made):
        value = argument.value
        if argument.like and value.ndim and len(value) > 1:
            moved = np.concatenate([value[1:], value[:1]])
            made[k] = replace(argument, value=moved, layout="overlap")
    return made


def _value(
    parameter: Parameter,
    spec: CaseSpec,
    sizes: dict[str, int],
    smallest: int,
    rng: np.random.Generator,
) -> Any:
    type_ = parameter.type
    if type_.kind == "array":
        shape = tuple(max(0, evaluate(e, sizes)) for e in parameter.dims)
        return _array(parameter, shape, spec, smallest, rng)
    if type_.kind == "tuple":
        parts = [replace(parameter, type=t) for t in type_.items]
        return tuple(_value(p, spec, sizes, smallest, rng) for p in parts)
    if type_.kind == "none":
        return None
    if type_.kind == "omitted":
        return parameter.default
    if type_.kind == "generator":
        return Seeded(str(type_.value), int(rng.integers(2**31)))
    if type_.kind == "literal":
        return type_.value
    return _scalar(parameter, spec, sizes, rng)


def _scalar(
    parameter: Parameter, spec: CaseSpec, sizes: dict[str, int], rng: np.random.Generator
) -> Any:
    dtype, letter = parameter.type.dtype, parameter.type.letter
    if letter == "b":
        return bool(rng.integers(0, 2))
    if letter in "iu":
        if parameter.name in sizes and (spec.exact or rng.random() < 0.8):
            return sizes[parameter.name]
        if spec.count and spec.count <= np.iinfo(dtype).max:
            return spec.count if dtype == "int64" else np.dtype(dtype).type(spec.count)
        if parameter.index and sizes and spec.number % 4 == 3:
            return max(*sizes.values(), 2) - 2  # what lies inside of a border
        least = 1 if spec.ints == "ones" else spec.most // 4
        number = int(rng.integers(least, max(least, spec.most) + 1))
        return number if dtype == "int64" else np.dtype(dtype).type(number)
    if spec.domain == "round" and letter == "f":
        real = float(_round(parameter.marks, (), rng))
        real = -abs(real) if spec.negative else real
        return real if dtype == "float64" else np.dtype(dtype).type(real)
    sign = -1 if spec.domain in ("normal", "special") and rng.random() < 0.3 else 1
    real = sign * float(rng.uniform(0.1, 2.0))
    if letter == "c":
        number_c = complex(real, float(rng.normal()))
        return number_c if dtype == "complex128" else np.complex64(number_c)
    return real if dtype == "float64" else np.dtype(dtype).type(real)


def _array(
    parameter: Parameter,
    shape: tuple[int, ...],
    spec: CaseSpec,
    smallest: int,
    rng: np.random.Generator,
) -> Array:
    dtype, letter = np.dtype(parameter.type.dtype), parameter.type.letter
    if letter == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if letter in "iu":
        return _integers(parameter, dtype, shape, spec, smallest, rng)
    values = np.empty(shape, np.complex128 if letter == "c" else np.float64)
    values.real = _reals(parameter.marks, shape, spec.domain, rng)
    if letter == "c":
        values.imag = _reals(parameter.marks, shape, spec.domain, rng)
    elif spec.ends and values.size:
        _put_at_ends(values, spec.ends)
    return values.astype(dtype)


def _put_at_ends(values: Array, which: str) -> None:
    """Make the last element along every axis the largest or the smallest one."""
    ends = np.zeros(values.shape, bool)
    for axis in range(values.ndim):
        np.moveaxis(ends, axis, 0)[-1] = True
    values[ends] += (1 if which == "largest" else -1) * (np.ptp(values) + 1)


def _integers(
    parameter: Parameter,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    spec: CaseSpec,
    smallest: int,
    rng: np.random.Generator,
) -> Array:
    top = max(1, smallest)
    kind = "index" if parameter.index and spec.ints in ("any", "extreme") else spec.ints
    if kind == "extreme":
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        # the least one by -1 is past the type
        limits = [info.min, info.max, 0, *([-1] if dtype.kind == "i" else [])]
        odd = rng.choice(np.array(limits, dtype=dtype), shape)
        return np.asarray(np.where(rng.random(shape) < 0.4, odd, values), dtype=dtype)
    if kind == "any":
        low = -9 if dtype.kind == "i" else 0
        return rng.integers(low, 10, shape).astype(dtype)
    if kind == "ones":
        return rng.integers(1, 4, shape).astype(dtype)
    low, high = {"wrap": (-top, top), "beyond": (-top - 1, top + 1)}.get(kind, (0, top))
    values = rng.integers(low if dtype.kind == "i" else 0, high, shape)
    if kind == "sorted" and shape and shape[-1]:
        values = np.sort(rng.integers(0, top + 1, shape), axis=-1)
        values[..., 0] = 0
        if any(_counts_ends(e) for e in parameter.dims):
            values[..., -1] = top
        else:
            values = np.minimum(values, top - 1)
    values = np.asarray(values)
    if kind == "index" and parameter.index and values.size > 1:
        # the first position and the last one, at the ends of the array
        values.reshape(-1)[[0, -1]] = 0, top - 1
    return values.astype(dtype)


def _counts_ends(entry: str) -> bool:
    """Whether an extent is one more than something: row pointers of a sparse matrix are."""
    return entry.replace(" ", "").endswith("+1")


def _round(marks: tuple[float, ...], shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Halves, most of them whole, and the marks: there are ties and values on the thresholds."""
    halves = rng.integers(-4, 5, shape) / 2
    halves = np.where(rng.random(shape) < 0.5, np.trunc(halves), halves)
    if not marks:
        return np.asarray(halves)
    return np.asarray(np.where(rng.random(shape) < 0.4, rng.choice(marks, shape), halves))


def _reals(
    marks: tuple[float, ...], shape: tuple[int, ...], domain: str, rng: np.random.Generator
) -> Array:
    if domain == "round":
        return _round(marks, shape, rng)
    if domain == "positive":
        return rng.uniform(0.1, 3.0, shape)
    if domain == "negative":
        return rng.uniform(-3000.0, -800.0, shape)
    values = np.asarray(rng.normal(0.0, 300.0 if domain == "wide" else 1.5, shape))
    if domain == "special":
        odd = rng.choice(_ODD, shape)
        values = np.where(rng.random(shape) < 0.3, odd, values)
        if values.size > 1 and rng.random() < 0.6:
            # alone at its place, as a rule: a minimum that loses NaN shows nowhere else
            values.reshape(-1)[rng.integers(values.size)] = math.nan
    return values
