"""A generated module, loaded with block sizes of the verifier's choice."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from numba import config

from porter.emulate.source.scope import TEXT
from porter.support.parsing import tree_of
from porter.verify.engines import compiled, mlir_stand_in
from porter.verify.engines.cupy import stand_in
from porter.verify.engines.device_arithmetic import NAMES, rewrite_kernels
from porter.verify.oracle.original import targets, wanted

#: what constants of a generated module may be made with, beyond those of a source file
_CALLS = frozenset({"cuda", "SimpleNamespace", "threading", "vectorize", "guvectorize"})
#: what a module has where warps are those of a GPU, and on the simulator, which has no shuffles
OF_A_GPU, OF_THE_SIMULATOR = {"WARP": 32}, {"WARP": 1}
#: the name of the values of constants that are replaced
_BLOCKS = "_porter_blocks"
_CHOICES = ("config.ENABLE_CUDASIM", "not config.ENABLE_CUDASIM")


def block_sizes(text: str, names: Mapping[str, int]) -> dict[str, int]:
    """Which of the named integer constants a module defines at its top, and their values."""
    found: dict[str, int] = {}
    for statement in tree_of(text).body:
        name, value = _constant(statement)
        if name in names and isinstance(value, int) and value > 0:
            found[name] = value
    return found


def _constant(statement: ast.stmt) -> tuple[str, object]:
    if isinstance(statement, ast.AnnAssign):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        return "", None
    value = statement.value
    if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
        return target.id, value.value
    return "", None


def definitions(text: str, path: Path) -> tuple[ast.Module, dict[str, int]]:
    """A module without the statements that do more than import, define or make constants.

    Also the names that go with them, each with the line of its statement.
    """
    tree = tree_of(text, str(path))
    kept: list[ast.stmt] = []
    left_out: dict[str, int] = {}
    for statement in tree.body:
        if _is_choice(statement) or wanted(statement, _CALLS):
            kept.append(statement)
        else:
            left_out |= dict.fromkeys(targets(statement), statement.lineno)
    tree.body = kept
    return tree, left_out


def _is_choice(statement: ast.stmt) -> bool:
    """`if config.ENABLE_CUDASIM:` with constants under it, as generated modules have it."""
    if not isinstance(statement, ast.If) or ast.unparse(statement.test) not in _CHOICES:
        return False
    return all(wanted(s, _CALLS) for s in (*statement.body, *statement.orelse))


def load(
    path: Path,
    text: str,
    blocks: Mapping[str, int],
    change: Callable[[ast.Module], None] | None = None,
    names: Mapping[str, object] = MappingProxyType({}),
) -> types.ModuleType:
    """Import a module's text with some constants replaced.

    They are replaced where they are assigned, so that constants computed from them follow.
    Arithmetic in kernels that run as Python gets the device's meaning (see `device_arithmetic`).
    Whatever the module raises on import is passed on; only `definitions` are executed.
    `change` may alter the tree before, and `names` are what it needs among the globals.
    """
    if stand_in.needed(text) and config.ENABLE_CUDASIM:  # on a GPU, CuPy is CuPy
        stand_in.install()
    if mlir_stand_in.needed(text):
        mlir_stand_in.install()
    asked = path, text, frozenset(blocks)
    statements = _remembered(*asked) if change is None else _statements(*asked, change)
    suffix = "".join(f"_{name}{value}" for name, value in blocks.items())
    module = types.ModuleType(path.stem + suffix)
    module.__file__ = str(path)
    module.__dict__.update(NAMES | compiled.NAMES, **{_BLOCKS: blocks}, **names)
    # the emulator reads kernels as they were written
    module.__dict__[TEXT] = text
    sys.modules[module.__name__] = module
    for code, is_import in statements:
        try:
            exec(code, module.__dict__)
        except Exception:
            # a package of the user's that is not here: only what needs the name is unverified
            if not is_import:
                raise
    return module


def _statements(
    path: Path,
    text: str,
    names: frozenset[str],
    change: Callable[[ast.Module], None] | None = None,
) -> list[tuple[types.CodeType, bool]]:
    """What `load` executes, compiled, and which of it are imports; `names` have other values."""
    tree, _ = definitions(text, path)
    choices = [s for c in tree.body if isinstance(c, ast.If) for s in c.body]
    for statement in (*tree.body, *choices):
        name, _ = _constant(statement)
        if name in names and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            chosen = ast.Subscript(ast.Name(_BLOCKS, ast.Load()), ast.Constant(name), ast.Load())
            statement.value = ast.copy_location(chosen, statement)
    if change is not None:
        change(tree)
    if config.ENABLE_CUDASIM:  # compiled kernels have the device's arithmetic
        rewrite_kernels(tree)
    compiled.rewrite(tree)
    ast.fix_missing_locations(tree)
    return [
        (
            compile(ast.Module([statement], []), str(path), "exec", dont_inherit=True),
            isinstance(statement, (ast.Import, ast.ImportFrom)),
        )
        for statement in tree.body
    ]


#: a module is loaded with several sizes of its blocks
_remembered = lru_cache(maxsize=8)(_statements)
