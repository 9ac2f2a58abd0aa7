"""Where a module imports something, and where a fix may add an import."""

from __future__ import annotations

import ast

from porter.rules.model import PyFile


def module_name(file: PyFile, full: str) -> str | None:
    """The name that the module's own imports give to `math` or `numba.njit`."""
    for statement in file.tree.body:
        if isinstance(statement, ast.Import):
            for a in statement.names:
                if a.name == full:
                    return a.asname or a.name
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            for a in statement.names:
                if f"{statement.module}.{a.name}" == full:
                    return a.asname or a.name
    return None


def import_place(file: PyFile) -> int | None:
    """The line of the first import, after the docstring and `from __future__`."""
    for statement in file.tree.body:
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and not future:
            return statement.lineno if statement.col_offset == 0 else None
    return None


def place_behind(file: PyFile, module: str) -> int | None:
    """The line after the module's last import of a package, or else after the last of the
    imports at its top."""
    top = [
        s
        for s in file.tree.body
        if isinstance(s, (ast.Import, ast.ImportFrom)) and not s.col_offset
    ]
    own = [s for s in top if isinstance(s, ast.ImportFrom) and s.module == module]
    chosen = (own or top)[-1:]
    if not chosen or any(
        s.lineno == chosen[0].end_lineno for s in file.tree.body if s != chosen[0]
    ):
        return None
    return (chosen[0].end_lineno or chosen[0].lineno) + 1
