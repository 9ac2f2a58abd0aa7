"""What functions of NumPy, methods of arrays and random numbers give, by their arguments."""

from __future__ import annotations

from typing import Protocol

from porter.dtypes.dtype import KINDS, DType, promote
from porter.inference.values import Value, array, as_array
from porter.numpy_functions import Rank, known
from porter.resolve.globals import dtype_named


class Arguments(Protocol):
    """The arguments of a call, evaluated when they are asked for."""

    @property
    def count(self) -> int:
        """How many are given by position."""

    def given(self, position: int, *names: str) -> bool:
        """Whether an argument is passed."""

    def value(self, position: int, *names: str) -> Value | None:
        """An argument by its position (below 0: only by name) or one of its names."""

    def dtype(self, position: int, default: str) -> str:
        """The dtype that an argument names; empty where it cannot be told."""

    def ndim(self, position: int, *names: str) -> int | None:
        """The number of dimensions that a shape stands for."""


def numpy_call(name: str, call: Arguments) -> Value | None:
    """What a function of NumPy gives."""
    if name.startswith("random."):
        return random_call(name.removeprefix("random."), call)
    if (dtype := dtype_named(name)) is not None:
        value = call.value(0)
        return None if value is None or value.kind != "scalar" else Value("scalar", dtype.name)
    for rule in (_made, _joined, _ruled):
        found = rule(name, call)
        if found is not None:
            return found
    return None


def _made(name: str, call: Arguments) -> Value | None:
    """Arrays that are made of shapes and numbers."""
    match name:
        case "zeros" | "ones" | "empty":
            return _shaped(call, 0, call.dtype(1, "float64"))
        case "full":
            filled = call.value(1, "fill_value")
            own = filled.dtype if filled is not None else ""
            return _shaped(call, 0, call.dtype(2, own))
        case "eye" | "identity":
            return array(call.dtype(3 if name == "eye" else 1, "float64"), 2)
        case "linspace" | "logspace" | "geomspace":
            return array(call.dtype(-1, "float64"), 1)
        case "arange":
            return _arange(call)
        case "array" | "asarray" | "asanyarray" | "ascontiguousarray":
            value = as_array(call.value(0, "object", "a"))
            return None if value is None else array(call.dtype(1, value.dtype), value.ndim)
        case "hanning" | "hamming" | "blackman" | "bartlett" | "kaiser":
            return array("float64", 1)
    return None


def _joined(name: str, call: Arguments) -> Value | None:
    """Arrays that are made of others."""
    first = as_array(call.value(0, "arrays", "tup"))
    if name == "where":
        return _where([as_array(call.value(k)) for k in range(3)])
    if first is None:
        return None
    match name:
        case "stack":
            return first
        case "concatenate":
            return array(first.dtype, first.ndim - 1)
        case "vstack" | "column_stack":
            return array(first.dtype, max(first.ndim - 1, 2))
        case "hstack":
            return array(first.dtype, max(first.ndim - 1, 1))
        case "atleast_1d" | "atleast_2d" | "atleast_3d":
            return array(first.dtype, max(first.ndim, int(name[-2])))
    return None


def _where(parts: list[Value | None]) -> Value | None:
    known = [p for p in parts if p is not None]
    if len(known) < 3:
        return None
    return array(promote(known[1].type, known[2].type).name, max(p.ndim for p in known))


def _ruled(name: str, call: Arguments) -> Value | None:
    """Functions that NumPy's table of facts tells enough of."""
    spec = known(f"numpy.{name}")
    first = as_array(call.value(0, "a", "x", "ary"))
    if first is None or (spec.inputs is None and spec.rank is Rank.BROADCAST and not spec.method
                         and name not in ("round", "around", "clip", "copy")):  # fmt: skip
        return None
    if spec.rank is Rank.LIKE:
        return array(call.dtype(1, first.dtype), first.ndim)
    if spec.rank is Rank.REDUCED:
        return reduced(first, name, call, 1)
    if spec.rank is Rank.FLAT:
        return array(first.dtype, 1)
    if spec.rank is Rank.RESHAPED:
        ndim = call.ndim(1, "newshape", "shape")
        return None if ndim is None else array(first.dtype, ndim)
    if spec.inputs is None:
        return first if name in ("round", "around", "clip", "copy", "cumsum", "diff") else None
    arrays = [as_array(call.value(k)) for k in range(spec.inputs)]
    dtype, ndim = first.dtype, first.ndim
    for other in arrays[1:]:
        if other is None:
            return None
        dtype, ndim = promote(DType(dtype), DType(other.dtype)).name, max(ndim, other.ndim)
    if spec.rounds and KINDS[dtype] in "biu":
        dtype = "float64"
    made = array(dtype, ndim)
    return Value("scalar", dtype) if made is not None and not ndim else made


def _shaped(call: Arguments, position: int, dtype: str) -> Value | None:
    ndim = call.ndim(position, "shape")
    return None if ndim is None else array(dtype, ndim)


def _arange(call: Arguments) -> Value | None:
    given = [call.value(k) for k in range(min(call.count, 3))]
    if any(v is None or v.kind != "scalar" for v in given):
        # the dtype is not known then, but whole numbers are what it is called with
        return array(call.dtype(3, ""), 1)
    dtype = "int64"
    for v in given:
        dtype = promote(DType(dtype), DType(v.dtype)).name if v else dtype
    return array(call.dtype(3, dtype), 1)


def reduced(value: Value, name: str, call: Arguments, at: int) -> Value | None:
    """What is left of an array that is reduced along `axis`."""
    axis, keep = call.value(at, "axis"), call.value(-1, "keepdims")
    dtype = value.dtype
    if name in ("any", "all"):
        dtype = "bool"
    elif name in ("argmax", "argmin", "count_nonzero"):
        dtype = "int64"
    elif name in ("mean", "std", "var", "median", "average", "norm") and KINDS[dtype] in "biu":
        dtype = "float64"
    if keep is not None and keep.constant is True:
        return array(dtype, value.ndim)
    if not call.given(at, "axis") or (axis is not None and axis.kind == "none"):
        return Value("scalar", dtype)
    if axis is None:
        return None
    gone = len(axis.items) if axis.kind == "sequence" else 1
    return array(dtype, value.ndim - gone) if value.ndim > gone else Value("scalar", dtype)


def method_call(owner: Value, name: str, call: Arguments) -> Value | None:
    """What a method of an array gives."""
    match name:
        case "astype" | "view":
            return array(call.dtype(0, ""), owner.ndim)
        case "copy" | "conj" | "conjugate" | "round" | "clip" | "transpose" | "cumsum":
            return owner
        case "swapaxes" | "sort":
            return owner
        case "ravel" | "flatten":
            return array(owner.dtype, 1)
        case "reshape":
            ndim = call.ndim(0, "shape") if call.count == 1 else call.count
            return None if ndim is None else array(owner.dtype, ndim)
        case "item":
            return Value("scalar", owner.dtype, weak=True)
        case "dot":
            return None
    spec = known(f"numpy.{name}")
    return reduced(owner, name, call, 0) if spec.rank is Rank.REDUCED and spec.method == 0 else None


#: where the shape stands among the arguments of a random function, and the dtype of its numbers
_RANDOM = {
    "random": (0, "float64"), "random_sample": (0, "float64"), "uniform": (2, "float64"),
    "normal": (2, "float64"), "standard_normal": (0, "float64"), "integers": (2, "int64"),
    "randint": (2, "int64"), "exponential": (1, "float64"), "poisson": (1, "int64"),
    "lognormal": (2, "float64"), "gamma": (2, "float64"), "beta": (2, "float64"),
    "binomial": (2, "int64"), "laplace": (2, "float64"), "rayleigh": (1, "float64"),
}  # fmt: skip


def random_call(name: str, call: Arguments) -> Value | None:
    """What a function of `np.random`, or a method of a generator, gives."""
    if name in ("default_rng", "RandomState", "Generator"):
        return Value("generator")
    if name in ("rand", "randn"):
        count = call.count
        return array("float64", count) if count else Value("scalar", "float64", weak=True)
    if name not in _RANDOM:
        return None
    position, dtype = _RANDOM[name]
    if not call.given(position, "size"):
        parameters = [as_array(call.value(k)) for k in range(min(position, call.count))]
        if any(p is None or p.ndim for p in parameters):
            return None
        return Value("scalar", dtype, weak=True)
    ndim = call.ndim(position, "size")
    return None if ndim is None else array(call.dtype(-1, dtype), ndim)
