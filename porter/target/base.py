"""What a target decides: the packages that a module imports, its templates, how it launches."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from porter.schedule.base import Schedule
from porter.schedule.nodes import Plan
from porter.support.extras import Extras


class Call(NamedTuple):
    """A piece of a host function, and the helpers of the module that it calls."""

    text: str
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target(ABC):
    """One kind of module; a subclass overrides what it spells in another way.

    `folders` are searched for templates before porter's own, the first one first; with
    `overridden` the user's templates are among them.  `extras` are what a module has beside its
    functions.
    """

    folders: tuple[Path, ...] = ()
    overridden: bool = False
    extras: Extras = Extras()  # noqa: RUF009 (immutable)

    #: what `--target` takes
    name: ClassVar[str] = ""
    #: what the docstring of a module begins with
    title: ClassVar[str] = ""
    #: sizes of blocks and grids that kernels mention: name -> (value, what it is)
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {}
    #: constants that set how libraries work: name -> (the helper whose users need it, value, note)
    settings: ClassVar[Mapping[str, tuple[str, str, str]]] = {}
    #: the schedules that its kernels may have, the preferred one first; empty for all
    schedules: ClassVar[Sequence[Schedule]] = ()
    #: what may decorate a function of the module, as dotted names
    decorators: ClassVar[Set[str]] = frozenset()
    #: the folder of porter's templates that is searched before them; empty for none
    templates: ClassVar[str] = ""
    #: whether arrays are moved to a device, on a stream that the host function is given
    device: ClassVar[bool] = True
    #: begins the names of arguments as the kernels get them
    prefix: ClassVar[str] = "d_"
    #: the decorator of functions that kernels call
    helper: ClassVar[str] = "@cuda.jit(device=True)"
    #: the subscript of an array of no dimensions in a kernel
    scalar: ClassVar[str] = "()"
    #: whether no index was out of bounds so far, as the condition of a loop asks
    sound: ClassVar[str] = "{error}[0] == 0"
    #: what messages call that which was made
    kernels: ClassVar[str] = "kernels"
    #: whether a loop that can only run in order is ordinary work
    serial: ClassVar[bool] = False
    #: whether nothing of the target's own multiplies matrices as fast as NumPy's BLAS
    host_products: ClassVar[bool] = False
    #: whether kernels of the target's own solve systems of equations
    solvers: ClassVar[bool] = False
    #: whether a loop of the host around nothing but launches is a compiled function of its own
    compiles_loops: ClassVar[bool] = False
    #: the engines that verify its modules, as `porter verify` asks for them
    engines: ClassVar[Sequence[str]] = ("simulator", "emulator", "ptx", "gpu")
    #: whether Numba calls its functions for each element: those of numbers are converted too, and
    #: all dtypes are listed
    elements: ClassVar[bool] = False
    #: the decorators that compile at once, for types that they are given
    eager: ClassVar[Set[str]] = frozenset()
    #: the keywords of such a decorator
    options: ClassVar[str] = ""
    #: functions that its compiler has, but not in Python's `math`
    math: ClassVar[Mapping[str, str]] = {}
    #: helpers for functions of `math` on float32 and float64: compilers do several at a time then
    vectors: ClassVar[Mapping[str, str]] = {}
    #: the helper that gives the absolute value of a complex number; empty for Python's `abs`
    magnitude: ClassVar[str] = ""
    #: whether the source is rewritten, and kernels are for its loops alone
    rewrites: ClassVar[bool] = False
    #: whether arrays are in chunks: kernels see blocks, and the host function is lazy
    chunked: ClassVar[bool] = False
    #: the schedule of kernels that see blocks
    block: ClassVar[Schedule]
    #: what its templates may import of the package beside the types
    packages: ClassVar[Set[str]] = frozenset()
    #: the functions that fold floats in any order, by the fold: several at a time
    folds: ClassVar[Mapping[str, str]] = {}
    #: the functions that updates of elements call, by the operation
    updates: ClassVar[Mapping[str, str]] = {}

    @property
    def full_name(self) -> str:
        """What the header of a module says: `target_named` has it by these words."""
        return self.name

    def with_templates(self, folder: Path | None) -> Self:
        """The same target with the user's templates before all others."""
        if folder is None:
            return self
        own = folder / self.templates if self.templates else folder
        return replace(self, folders=(own, *self.folders), overridden=True)

    def with_extras(self, extras: Extras) -> Self:
        """The same with what modules are asked to have beside."""
        return replace(self, extras=extras)

    def with_backend(self, backend: str) -> Self:
        """The same target importing from another package, where it knows more than one."""
        return self

    @abstractmethod
    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        """Import lines of the packages that kernels need; `types` are dtypes used by name.

        With `on_simulator` the module has a part for the simulator (see `simulated_math`).
        """

    def simulated_math(self, tree: ast.Module) -> str:
        """The functions that stand in for Python's `math` on a simulator; empty for none."""
        return ""

    def shuffles(self) -> bool:
        """Whether the lanes of a warp can give each other numbers of 32 and 64 bits."""
        return True

    def replays(self) -> bool:
        """Whether a loop around launches that are the same in each turn becomes a graph."""
        return False

    def counts_blocks(self, *, repeated: bool) -> bool:
        """Whether the block of a launch that is done last can fold what the others have stored.

        What counts them is 0 before: a copy to the device, but for a launch that is `repeated`.
        """
        return repeated

    def simulated_warps(self, used: Collection[str]) -> bool:
        """Whether a warp of the simulator is one thread, by the names that the module uses."""
        return False

    def check(self, plan: Plan) -> None:  # noqa: B027 (most targets express every plan)
        """Raise Refusal with the reason where it cannot express a plan."""

    # -- statements of a kernel ------------------------------------------------------------

    @abstractmethod
    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        """The update of an element that several threads may meet in."""

    # -- statements of the host function ---------------------------------------------------

    @abstractmethod
    def empty(self, shape: str, dtype: str) -> str:
        """A new array on the device."""

    def new(self, shape: str, dtype: str) -> Call:
        """A new array that the caller gets."""
        return Call(self.empty(shape, dtype))

    @abstractmethod
    def copied(self, array: str) -> str:
        """A copy on the device of an array of the host."""

    def workspace(self, name: str, shape: str, dtype: str, *, zero: bool = False) -> Call:
        """An array that a call uses and no caller sees; of zeros, or with anything in it."""
        made = self.copied(f"np.zeros({shape}, {dtype})") if zero else self.empty(shape, dtype)
        return Call(made)

    def counter(self, groups: str = "") -> Call:
        """What counts the blocks of a launch that are done, in groups if given; 0 before each."""
        return self.workspace("done", groups or "1", "np.uint32", zero=True)

    @abstractmethod
    def launch(
        self, kernel: str, grid: str, block: str, arguments: Sequence[str], room: str = ""
    ) -> str:
        """The statement that runs a kernel on a grid of blocks, which have so many more bytes of
        shared memory."""

    @property
    def tells_dtypes(self) -> bool:
        """Whether elementwise functions have forms for dtypes that their first kernels do not take.

        A ufunc lists its dtypes, and those of chunks and of rewritten sources are not known.
        """
        return not (self.elements or self.chunked or self.rewrites)

    def for_all(self, kernel: str, elements: str, arguments: Sequence[str]) -> str:
        """The launch with a thread for each element, on a grid that Numba chooses."""
        return f"{kernel}.forall({elements}, stream=stream)({', '.join(arguments)})"

    def called(
        self, kernel: str, grid: str, block: str, given: Sequence[str], made: Sequence[str],
        stored: Sequence[str],
    ) -> str:  # fmt: skip
        """The launch, told which arrays are new and which arguments are stored into."""
        return self.launch(kernel, grid, block, [*given, *made])

    def moved(self, array: str) -> Call:
        """An argument as the kernels take it."""
        return Call(f"_to_device({array}, stream)", ("_to_device", "_on_device"))

    def made(self, array: str, read: Sequence[str]) -> Call:
        """What the host made, from these arrays among others, as the kernels take it."""
        return self.moved(array)

    def no_dimensions(self, array: str) -> str:
        """An array of no dimensions as a kernel takes it."""
        return array

    def fetched(self, array: str) -> Call:
        """An array of the device on the host."""
        return Call(f"_to_host({array}, stream)", ("_to_host",))

    def host_copy(self, array: str) -> Call:
        """An argument on the host, wherever it is."""
        helpers = ("_host_copy", "_to_host", "_on_device")
        return Call(f"_host_copy({array}, stream)", helpers)

    def apart(self, array: str, written: str) -> Call:
        """An array that a kernel reads, which may be the one that it writes."""
        return Call(f"_apart({array}, {written}, stream)", ("_apart",))

    def copied_back(self, array: str, host: str) -> Call:
        """What was stored into an argument, on the host again."""
        return Call(f"_copy_back({array}, {host}, stream)", ("_copy_back", "_on_device"))

    def result(self, array: str, where: str, options: str = "", *, scalar: bool = False) -> Call:
        """What the function returns of an array, or of a `scalar` in one of no dimensions.

        `where` says whether it stays on the device.
        """
        return Call(f"_result({array}, {where}, stream{options})", ("_result",))

    def as_given(self, value: str, where: str) -> Call:
        """A result that the host has, where the arguments are."""
        helpers = ("_as_given", "_to_device", "_on_device")
        return Call(f"_as_given({value}, {where}, stream)", helpers)
