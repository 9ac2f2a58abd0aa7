"""Argument types in Numba's syntax, read without Numba."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from porter.support.parsing import expression_of, literal_value

_ALIASES = {
    "boolean": "bool", "bool_": "bool", "intp": "int64", "uintp": "uint64", "byte": "uint8",
    "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16",
    "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "u8": "uint64", "c8": "complex64", "c16": "complex128", "b1": "bool",
}  # fmt: skip
_SCALARS = re.compile(r"(bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128))$")

#: NumPy's classes of random generators, which are types of arguments
GENERATORS = ("Generator", "RandomState")


@dataclass(frozen=True)
class ArgType:
    """One argument's type: `kind` is array, scalar, none, omitted (the default), tuple, literal
    (`value`, and nothing else), generator (of random numbers, `value` names its
    class) or other.

    `dtype` is NumPy's name; a scalar's int64, float64, complex128 and bool are Python's own.
    """

    kind: str
    dtype: str = ""
    ndim: int = 0
    items: tuple[ArgType, ...] = ()
    value: int | float | str | None = None

    @property
    def letter(self) -> str:
        """The dtype's kind as in NumPy: b, i, u, f or c; empty when there is no dtype."""
        return self.dtype[:1]


def parse_types(text: str) -> tuple[ArgType, ...]:
    """The types of `float64[:, :], float64`; raises `ValueError` when they cannot be read."""
    text = re.sub(r"\b(\d)d\b", r"\1", text.strip())
    if not text:
        return ()
    try:
        tree = expression_of(f"({text.rstrip(',')},)")
    except SyntaxError as error:
        raise ValueError(f"`{text}` is not a list of Numba types") from error
    return tuple(_type(node) for node in tree.elts) if isinstance(tree, ast.Tuple) else ()


def _type(node: ast.expr) -> ArgType:
    if isinstance(node, ast.Subscript):
        return ArgType("array", _dtype(node.value), len(_axes(node.slice)))
    if isinstance(node, ast.Call):
        return _call(node)
    name = _name(node)
    if name in ("none", "None", "NoneType"):
        return ArgType("none")
    if name == "omitted":
        return ArgType("omitted")
    if name in GENERATORS:
        return ArgType("generator", value=name)
    if _SCALARS.match(_ALIASES.get(name, name)):
        return ArgType("scalar", _ALIASES.get(name, name))
    return ArgType("other", name)


def _call(node: ast.Call) -> ArgType:
    name, args = _name(node.func), node.args
    if name.startswith("Literal[") and len(args) == 1:
        text = args[0].id if isinstance(args[0], ast.Name) else literal_value(args[0])
        return ArgType("literal", value=text)
    if name == "array" and len(args) >= 2:
        return ArgType("array", _dtype(args[0]), _count(args[1]))
    if name == "UniTuple" and len(args) == 2:
        return ArgType("tuple", items=(_type(args[0]),) * _count(args[1]))
    if name == "Tuple" and len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)):
        return ArgType("tuple", items=tuple(_type(a) for a in args[0].elts))
    if name in ("optional", "Optional") and len(args) == 1:
        return _type(args[0])
    return ArgType("other", ast.unparse(node))


def _axes(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _count(node: ast.expr) -> int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else 0


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and node.value is None:
        return "none"
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def _dtype(node: ast.expr) -> str:
    name = _name(node)
    name = _ALIASES.get(name, name)
    if not _SCALARS.match(name):
        raise ValueError(f"`{name}` is not a dtype that the verifier can make arrays of")
    return name
