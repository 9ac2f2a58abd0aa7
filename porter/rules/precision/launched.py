"""The dtypes that a file's launches give to a kernel's parameters."""

from __future__ import annotations

import ast

from porter.rules.launches.sites import Launch, Values, launches_of
from porter.rules.model import Function, PyFile, keyword
from porter.rules.words import words

_NAMES = {"f4": "float32", "single": "float32", "f8": "float64", "double": "float64"}
_KNOWN = words("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_")
_MAKERS = words("zeros ones empty full device_array pinned_array mapped_array managed_array")
_LIKE = words("zeros_like ones_like empty_like full_like to_device device_array_like copy")
_SAME = words("copy reshape ravel flatten")


def float32_parameters(file: PyFile, function: Function) -> list[str]:
    """The parameters that every launch gives a float32 array; empty unless all that any launch
    passes is known and no other floating type is among it."""
    rows = [_row(file, launch) for launch in launches_of(file, function)]
    if not rows or any(None in row or set(row) & {"float16", "float64"} for row in rows):
        return []
    named = zip(function.parameters, *rows, strict=False)
    return [name for name, *dtypes in named if set(dtypes) == {"float32"}]


def _row(file: PyFile, launch: Launch) -> list[str | None]:
    """The dtype of each argument: `int` for integers, None when it is not known."""
    values = Values(file, launch.scope)
    if launch.call.keywords:
        return [None]
    return [
        "int" if values.integer(a) is not None and not _real(a) else _dtype(file, values, a)
        for a in launch.call.args
    ]


def _real(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))


def _dtype(file: PyFile, values: Values, node: ast.expr | None, depth: int = 0) -> str | None:
    if isinstance(node, ast.Name):
        found = values.definition(node)
        return _dtype(file, values, found, depth + 1) if depth < 8 else None
    if not isinstance(node, ast.Call) or depth > 8:
        return None
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    full = file.qualified(node.func) or ""
    name = full.removeprefix("numpy.").removeprefix("numba.cuda.").removeprefix("cupy.")
    given = keyword(node, "dtype")
    if method == "astype" and not full:
        return _named(file, node.args[0] if node.args else given)
    if method in _SAME and not full and isinstance(node.func, ast.Attribute):
        return _dtype(file, values, node.func.value, depth + 1)
    if name == full:
        return None
    if given is None and name in _MAKERS:
        place = 2 if name == "full" else 1
        given = node.args[place] if len(node.args) > place else None
    if given is not None or name in ("zeros", "ones", "empty"):
        return _named(file, given) if given is not None else "float64"
    if name in _LIKE and node.args:
        return _dtype(file, values, node.args[0], depth + 1)
    return None


def _named(file: PyFile, node: ast.expr | None) -> str | None:
    """`np.float32`, `"float32"` and `"f4"` as float32, and so on."""
    text = (file.qualified(node) or "") if node is not None else ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    short = text.rpartition(".")[2]
    short = _NAMES.get(short, short)
    return short if short in _KNOWN else None
