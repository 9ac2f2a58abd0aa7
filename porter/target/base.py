"""What a target decides: the packages that a module imports, its templates, how it launches."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from porter.schedule.base import Schedule


@dataclass(frozen=True)
class Target(ABC):
    """One kind of module; a subclass overrides what it spells in another way.

    `folders` are searched for templates before porter's own, the first one first; with
    `overridden` the user's templates are among them.
    """

    folders: tuple[Path, ...] = ()
    overridden: bool = False

    #: what `--target` takes
    name: ClassVar[str] = ""
    #: what the docstring of a module begins with
    title: ClassVar[str] = ""
    #: sizes of blocks and grids that kernels mention: name -> (value, what it is)
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {}
    #: the schedules that its kernels may have, the preferred one first; empty for all
    schedules: ClassVar[Sequence[Schedule]] = ()
    #: what may decorate a function of the module, as dotted names
    decorators: ClassVar[Set[str]] = frozenset()

    def with_templates(self, folder: Path | None) -> Self:
        """The same target with the user's templates before all others."""
        if folder is None:
            return self
        return replace(self, folders=(folder, *self.folders), overridden=True)

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

    # -- statements of a kernel ------------------------------------------------------------

    @abstractmethod
    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        """The update of an element that several threads may meet in."""

    # -- statements of the host function ---------------------------------------------------

    @abstractmethod
    def empty(self, shape: str, dtype: str) -> str:
        """A new array on the device."""

    @abstractmethod
    def copied(self, array: str) -> str:
        """A copy on the device of an array of the host."""

    @abstractmethod
    def launch(self, kernel: str, grid: str, block: str, arguments: Sequence[str]) -> str:
        """The statement that runs a kernel on a grid of blocks."""
