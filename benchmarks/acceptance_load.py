"""Loads one function of a checkout whose dependencies may be missing.

Where a file cannot be imported as it is, a package whose `__init__` fails keeps what it has
defined until then, and a module that is not installed is a stand-in: names can be taken from it
while modules load, `isinstance` of its classes is false, and a function that calls one of them
afterwards raises `MissingModule`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Function = Callable[..., Any]
Spec = importlib.machinery.ModuleSpec


class MissingModule(RuntimeError):
    """The original called something of a package that is not installed."""


class _Absent(type):
    """The class of all that stands for something of a missing module."""

    loading = False

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(name, (), {})

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not _Absent.loading:
            raise MissingModule(cls.__name__)
        return _Absent(cls.__name__, (), {})


class _StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last: finds what the files of a checkout import and nothing else finds."""

    def __init__(self, root: Path, package: str) -> None:
        self.root, self.package = str(root), package

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Spec | None:
        """A stand-in, unless a module of the checkout is meant or a library asks."""
        if name.partition(".")[0] == self.package or not _asker().startswith(self.root):
            return None
        return Spec(name, self, is_package=True)

    def create_module(self, spec: Spec) -> types.ModuleType:
        """A module whose every name is absent."""
        return _AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


class _AbsentModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(name, (), {})


class _Tolerant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked first: a package of a checkout keeps what its `__init__` defined before it failed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Spec | None:
        """The usual one of a package, with this loader around its own."""
        if name.partition(".")[0] != self.package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.submodule_search_locations is None or spec.loader is None:
            return spec
        spec.loader_state, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: Spec) -> types.ModuleType | None:
        """The usual one."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the `__init__` as far as it goes."""
        assert module.__spec__ is not None
        with contextlib.suppress(Exception):
            module.__spec__.loader_state.exec_module(module)


def _asker() -> str:
    """The file whose import statement is being run."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename


def package_of(path: Path) -> tuple[Path, str]:
    """The folder that `sys.path` needs, and the module's full name."""
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(part for part in parts if part != "__init__")


@contextlib.contextmanager
def _standing_in(root: Path, package: str) -> Iterator[None]:
    """What is imported within may miss what is not installed."""
    for loaded in [m for m in sys.modules if m.partition(".")[0] == package]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, _Tolerant(package))
    sys.meta_path.append(_StandIn(root, package))
    _Absent.loading = True
    try:
        yield
    finally:
        _Absent.loading = False


def _module(path: Path) -> types.ModuleType:
    root, name = package_of(path.resolve())
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(name)
    except Exception:
        with _standing_in(root, name.partition(".")[0]):
            return importlib.import_module(name)


def load(path: Path, name: str) -> Function:
    """The plain function `name` of the file.

    Raises LookupError where the file has no such function once it is loaded, or has wrapped it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(_module(path), name, None)
    own = inspect.isfunction(found) and not hasattr(found, "__wrapped__")
    if not own or Path(found.__code__.co_filename).resolve() != path.resolve():
        raise LookupError(f"{path} has no plain function {name}")
    return found
