"""Which files are the user's, their text, and the moment at which Numba has been imported."""

from __future__ import annotations

import importlib.util
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: the modules whose classes are wrapped
MODULES = ("numba.core.compiler", "numba.core.dispatcher", "numba.cuda.core.compiler")


@lru_cache(maxsize=1)
def _libraries() -> tuple[str, ...]:
    known = {os.path.realpath(p) for p in sysconfig.get_paths().values()}
    return tuple(p + os.sep for p in known)


@lru_cache(maxsize=4096)
def is_own(filename: str) -> bool:
    """Whether a file is neither of the standard library nor an installed package."""
    path = os.path.realpath(filename)
    return os.path.isfile(path) and not path.startswith(_libraries())


def text_of(filename: str) -> str:
    """The source of a file as Numba's annotation sees it."""
    return "".join(linecache.getlines(filename))


class AfterImport:
    """An import hook that calls back after each of `MODULES` was imported.

    Scripts may set Numba's environment variables before they import it, so it must not be
    imported earlier than the script does.
    """

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._asking = False

    def install(self) -> None:
        """Come before all other finders."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders give, its loader followed by the callback."""
        if name not in MODULES or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            self._callback()

        loader.exec_module = exec_module
