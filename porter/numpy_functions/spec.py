"""The record of a function, and the register that records are looked up in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

#: the default of a parameter that must be given
MISSING = object()


class Dotted(str):
    """The full name of something in a library: `numpy.linalg.inv`; the only reader of its parts."""

    @property
    def library(self) -> str:
        """`numpy`; nothing else is Python's own (`builtins`) or NumPy's."""
        return self.partition(".")[0]

    @property
    def path(self) -> str:
        """`linalg.inv`: what stands after the library."""
        return self.partition(".")[2]

    @property
    def short(self) -> str:
        """`inv`."""
        return self.rpartition(".")[2]


class Rank(Enum):
    """How many dimensions the result has."""

    BROADCAST = auto()  # as many as the argument that has most
    LIKE = auto()  # those of the first argument
    SHAPE = auto()  # as many as the first argument, a shape, has numbers
    LINE = auto()  # one
    FLAT = auto()  # one, all of the first argument's made one
    SQUARE = auto()  # two
    PRODUCT = auto()  # those of a matrix product
    REDUCED = auto()  # those that `axis` leaves
    RESHAPED = auto()  # as many as the second argument, a shape, has numbers
    JOINED = auto()  # not to be told from the arguments


@dataclass(frozen=True)
class FunctionSpec:
    """What is known of one function, method (`ndarray.sort`) or builtin.

    The defaults are those of a function of arrays that reads its arguments and gives a new
    array; all but a name are facts about NumPy, down to `parameters`, which is about porter.
    """

    name: str
    rank: Rank = Rank.BROADCAST
    axes: int = 0  # the first argument is an array, of at least so many axes
    sizes: tuple[int, ...] = ()  # the arguments that are sizes or shapes
    numbers: bool = False  # the arguments are numbers, not arrays
    positions: int | None = None  # the argument that holds positions in an array
    inputs: int | None = None  # of a ufunc: the arguments after these are stored into
    changes: bool = False  # it changes its first argument
    view: bool = False  # the result may be an argument, or share its elements
    creates: bool = False  # what it makes is surely an array, whatever it is given
    rounds: bool = False  # floating results are rounded
    solves: bool = False  # they are those of other arguments, rounded (a stable elimination)
    method: int | None = None  # a method of the same name is this function, of which argument
    cupy: bool = False  # CuPy has it, with the same arguments
    lazy: bool = False  # takes a selection by a mask as it is, a condition beside the elements

    parameters: tuple[tuple[str, Any], ...] = ()  # as NumPy names them, with their defaults
    body: Callable[[Any], Any] | None = None  # what it becomes; None: it is not converted
    variadic: bool = False
    ufunc: bool = False  # `body` stores into `out` itself

    @property
    def short(self) -> str:
        """The name after the module."""
        return Dotted(self.name).short

    def convert(self, call: Any) -> Any:
        """What a call becomes."""
        assert self.body is not None
        return self.body(call)


SPECS: dict[str, FunctionSpec] = {}
#: full names by the last part, for code that sees `np.f`, `x.f` and `f` alike
_CALLED: dict[str, str] = {}


def declare(name: str, **facts: Any) -> FunctionSpec:
    """Add what is known of a function to its record."""
    SPECS[name] = replace(SPECS.get(name) or FunctionSpec(name), **facts)
    short = SPECS[name].short
    if name == f"numpy.{short}" or short not in _CALLED:
        _CALLED[short] = name
    return SPECS[name]


def known(name: str) -> FunctionSpec:
    """The record of a function by its full name; the defaults where nothing is known of it."""
    return SPECS.get(name) or FunctionSpec(name)


def spec_of(short: str) -> FunctionSpec:
    """What a call by this name means where the owner is unknown: the function of `numpy` first."""
    return known(_CALLED.get(short, short))


def converted(name: str) -> bool:
    """Whether a handler is declared for a function."""
    return known(name).body is not None


def method_of(short: str) -> FunctionSpec | None:
    """A method of arrays: its own record, or that of the function which it is."""
    own = SPECS.get(f"ndarray.{short}")
    function = SPECS.get(f"numpy.{short}")
    return own or (function if function is not None and function.method is not None else None)


def methods() -> Iterator[str]:
    """The names of all methods of arrays."""
    for spec in SPECS.values():
        if spec.name.startswith("ndarray.") or (spec.method is not None):
            yield spec.short
