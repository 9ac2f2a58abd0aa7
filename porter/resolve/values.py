"""What an expression of the user's function evaluates to, symbolically."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from porter import ir
from porter.dtypes.dtype import DType
from porter.numpy_functions import Dotted
from porter.sizes.polynomial import Poly

At = Callable[[Sequence[Poly]], ir.Expr]


@dataclass(frozen=True)
class View:
    """Where the elements of an array live: element `idx` is `buffer[index(idx)]`.

    `readonly` says why nothing may be stored through it, if NumPy forbids that or makes a
    copy.  `only` is set when this is the argument itself for one dtype and a copy for others,
    `contiguous` when that holds for contiguous arguments (`x.ravel()`).
    """

    buffer: str
    index: Callable[[Sequence[Poly]], tuple[Poly, ...]]
    readonly: str = ""
    only: DType | None = None
    contiguous: bool = False


@dataclass(frozen=True, eq=False)
class Array:
    """An array as a function of its indices.

    `view` is set when the array is (part of) a stored buffer, so that a store through it
    reaches the buffer.  `mask` is set for `x[mask]`: the elements where the mask holds, in
    the shape of the mask, which covers the first `lead` axes (NumPy sees them as one); only
    elementwise operations and reductions may use such an array, all else `compaction.whole`.
    `shown_of` names the buffers that NumPy may show here by a view which has no form in the IR:
    a slice that is reshaped (the memory layout decides), `z.real`, one of two views. Once it has
    a name, neither it nor the buffers may be stored into. `chosen` when a condition decides
    whether it is theirs, or it surely is: then it cannot be returned, because a copy would be.
    """

    shape: tuple[Poly, ...]
    dtype: DType
    at: At
    view: View | None = None
    mask: At | None = None
    lead: int = 0
    shown_of: str = ""
    chosen: bool = False

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_buffer(self) -> bool:
        """Whether this is exactly one stored buffer."""
        return self.view is not None and self.view.index is tuple

    @staticmethod
    def of(buffer: ir.Buffer) -> Array:
        """A buffer as an array that reads and writes through."""
        name, dtype = buffer.name, buffer.dtype

        def at(idx: Sequence[Poly]) -> ir.Expr:
            return ir.Load(name, tuple(idx), dtype)

        return Array(buffer.shape, dtype, at, View(name, tuple))


@dataclass(frozen=True, eq=False)
class Relative:
    """An array that a stencil reads: its subscripts count from the element at `index`."""

    array: Array
    index: tuple[Poly, ...]


@dataclass(frozen=True)
class Module:
    """An imported module, by its real dotted name."""

    name: str


@dataclass(frozen=True, eq=False)
class ProjectFile:
    """Another file of the project, imported as a module; `scope` has its names."""

    scope: Any


@dataclass(frozen=True)
class Function:
    """A function by dotted name (`numpy.exp`), or of the user's file when `node` is set.

    A lambda or nested function keeps the names around it in `env`.
    """

    name: str
    node: Any = None
    env: Any = field(default=None, compare=False)
    scope: Any = field(default=None, compare=False)  # the names of its file, if it is another

    @property
    def full(self) -> Dotted:
        """Its name; that of a function of the user's is in no library."""
        return Dotted(self.name if self.node is None else "")


@dataclass(frozen=True)
class Reducer:
    """What `cuda.reduce` makes of a function of two: it folds the elements of an array."""

    function: Function


@dataclass(frozen=True)
class Method:
    """A method looked up on a value: `x.sum`."""

    owner: Any
    name: str


@dataclass(frozen=True)
class DTypeName:
    """A dtype used as a value: `np.float32`, `x.dtype`, `float`."""

    dtype: DType


@dataclass(frozen=True)
class Slice:
    """`start:stop:step`; each part None or an integer expression."""

    start: Poly | None
    stop: Poly | None
    step: Poly | None


@dataclass(frozen=True)
class Range:
    """`range(start, stop, step)`."""

    start: Poly
    stop: Poly
    step: int


@dataclass(frozen=True)
class Iteration:
    """What a `for` runs over: for each k in the range, the target takes `item(k)`."""

    range: Range
    item: Callable[[Poly], Value]


@dataclass(frozen=True)
class Grid:
    """What `np.ndindex` runs over: every tuple of positions of a shape; the item at each."""

    shape: tuple[Poly, ...]
    item: Callable[[Sequence[Poly]], Value]


@dataclass(frozen=True)
class Record:
    """A value of which only attributes are used: `np.finfo(np.float32)`."""

    name: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Generator:
    """A generator of random numbers: `np.random.default_rng()`.

    Its methods have the full names `methods.normal`, `methods.random` ...
    """

    methods: str


@dataclass(frozen=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True, eq=False)
class Table:
    """A dictionary of the module level: Python's keys, the expression at each, who reads them."""

    keys: tuple[Any, ...]
    nodes: tuple[cst.BaseExpression, ...]
    ev: Any


@dataclass(frozen=True, eq=False)
class Said:
    """A text that is made of values, such as an f-string, and what its names meant there."""

    node: cst.BaseExpression
    env: dict[str, Value]


@dataclass(frozen=True, eq=False)
class Stride:
    """The stride of an axis of an array, whatever its bytes are: a step along the axis."""

    array: Array
    axis: int


@dataclass(frozen=True)
class Special:
    """`None`, `...` or `np.newaxis`."""

    name: str


@dataclass(frozen=True)
class Unsettled:
    """What a name means depends on which branch ran: it must not be read."""

    name: str
    why: str = "has a different type in each branch"


class Listed(tuple[Any, ...]):
    """The items of a list: as a tuple, except that it is a list that is returned."""


NONE, ELLIPSIS = Special("None"), Special("...")

Value = (
    Array | ir.Expr | Relative | Module | Function | Reducer | Method | DTypeName | Slice | Range
    | Iteration | Grid | Record | Generator | ProjectFile | Text | Table | Said | Stride | Special
    | ir.Object | Unsettled | tuple[Any, ...]
)  # fmt: skip


def known_truth(value: Value) -> bool | None:
    """Whether a text, a tuple or None is true; None for what the run decides."""
    if isinstance(value, Text):
        return bool(value.value)
    return len(value) > 0 if isinstance(value, tuple) else False if value is NONE else None


def arrays_in(value: Value) -> Iterator[Array]:
    """The arrays that a value is or has among its items."""
    if isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)
    elif isinstance(value, Array):
        yield value


def shows_buffer(values: Iterable[Value], buffer: str) -> bool:
    """Whether one of the values is the array, a view of it, or goes over it later."""
    return any(
        isinstance(v, Iteration)
        or any(a.view is not None and a.view.buffer == buffer for a in arrays_in(v))
        for v in values
    )
