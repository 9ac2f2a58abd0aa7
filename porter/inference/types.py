"""The types of parameters, and Numba's syntax for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter.diagnostics import UsageError
from porter.dtypes.dtype import KINDS, WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from porter.dtypes.signatures import GENERATORS
from porter.resolve.globals import dtype_named
from porter.support.parsing import expression_of, literal_value

#: Numba's short names of types
SHORT = {
    "b1": "bool", "boolean": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "intc": "int32",
    "long_": "int64", "uintp": "uint64", "float_": "float32",
}  # fmt: skip
WEAK = {"i": WEAK_INT, "u": WEAK_INT, "f": WEAK_FLOAT, "c": WEAK_COMPLEX, "b": WEAK_BOOL}


@dataclass(frozen=True)
class ParameterType:
    """A parameter's dtype and `ndim` (None: a Python scalar); `given` if not assumed.

    `omitted`: it keeps its default, which the kernels are made for (Numba's name for it);
    `traced`: a recorded run showed it; `items`: it is a tuple of Python scalars of these types;
    `source`: the call or the docstring that it is taken from; `literal`: the value, as Python
    writes it, that the kernels are made for; `generator`: NumPy's class of random
    generators that it is an object of; `numpys`: the scalar is one of NumPy's, which has its
    dtype (for questions about programs: kernels take Python's).
    """

    dtype: DType
    ndim: int | None
    given: bool = False
    omitted: bool = False
    traced: bool = False
    items: tuple[ParameterType, ...] = ()
    source: str = ""
    literal: str = ""
    generator: str = ""
    numpys: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a Python scalar of any value."""
        other = self.omitted or self.items or self.literal or self.generator
        return self.ndim is None and not other

    def __str__(self) -> str:
        if self.omitted:
            return "omitted"
        if self.generator:
            return self.generator
        if self.literal:
            value = literal_value(self.literal)
            plain = isinstance(value, str) and value.isidentifier()
            return f"Literal[{type(value).__name__}]({value if plain else self.literal})"
        if len(set(self.items)) == 1:
            return f"UniTuple({self.items[0]}, {len(self.items)})"
        if self.items:
            return f"Tuple(({', '.join(map(str, self.items))}))"
        name = self.dtype.name if self.dtype.name != "bool" else "boolean"
        if self.ndim is None:
            return name
        return f"{name}[{', '.join(':' * max(self.ndim, 1))}]" if self.ndim else f"{name}[()]"


OMITTED = ParameterType(WEAK_FLOAT, None, omitted=True)
#: types of arguments that have no place in a kernel: the default is taken
_OMITTED = ("omitted", "none", "None", "unicode_type", "types.unicode_type", "str")


def parse_signature(text: str) -> list[ParameterType]:
    """Numba's signature syntax, argument types only; a return type is ignored.

    Raises UsageError on anything else.
    """
    source = text.strip().strip("\"'")
    try:
        tree = expression_of(f"({source},)" if source else "()")
    except SyntaxError:
        raise UsageError(f"`{text}` is not a signature such as `float64[:, :], float64`") from None
    assert isinstance(tree, ast.Tuple)
    items = tree.elts
    if len(items) == 1 and isinstance(items[0], ast.Call) and not _is_value(items[0]):
        items = list(items[0].args)
    elif len(items) == 1 and isinstance(items[0], ast.Tuple):
        items = items[0].elts
    return [_parse_type(item, text) for item in items]


def _is_value(node: ast.expr) -> bool:
    """A call that is a type itself, not a signature with its return type."""
    return _is_tuple(node) or _is_literal(node)


def _is_literal(node: ast.expr) -> bool:
    """`Literal[int](3)`, `Literal[str](a)`."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)
    return named and ast.unparse(node.func).startswith(("Literal[", "types.Literal["))  # type: ignore[attr-defined]


def generator_of(name: str, source: str = "") -> ParameterType:
    """The type of a random generator of this class of NumPy's."""
    return ParameterType(WEAK_FLOAT, None, source=source, generator=name)


def literal_of(value: object, source: str = "") -> ParameterType:
    """The type of an argument that is this very value."""
    return ParameterType(WEAK_FLOAT, None, source=source, literal=repr(value))


def _parse_literal(node: ast.Call, text: str) -> ParameterType:
    # the type of a NumPy number is spelled as the error of a module spells it: `int64`, `str_`
    kind = ast.unparse(node.func).partition("[")[2].rstrip("]")
    kind = kind.rstrip("_0123456789").removeprefix("u")
    known = {"int": int, "str": str, "bool": bool, "float": float, "NoneType": type(None)}
    try:
        (one,) = node.args
        if kind == "str" and isinstance(one, ast.Name):
            value: object = one.id
        else:
            value = literal_value(one)
        if type(value) is not known[kind]:
            raise ValueError
    except (ValueError, KeyError):
        shown = ast.unparse(node)
        raise UsageError(f"`{shown}` in a signature: write `Literal[int](3)`") from None
    return replace(literal_of(value), given=True)


def _is_tuple(node: ast.expr) -> bool:
    """`UniTuple(int64, 2)` or `Tuple((int64, float64))`."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Tuple")


def tuple_of(items: Sequence[ParameterType]) -> ParameterType:
    """A tuple of Python scalars."""
    given = all(t.given for t in items)
    return ParameterType(items[0].dtype, None, given, items=tuple(items))


def _parse_tuple(node: ast.Call, text: str) -> ParameterType:
    match node.args:
        case [item, ast.Constant(value=int(n))] if n > 0:
            items = [_parse_type(item, text)] * n
        case [ast.Tuple(elts=parts) | ast.List(elts=parts)] if parts:
            items = [_parse_type(part, text) for part in parts]
        case _:
            raise UsageError(f"`{ast.unparse(node)}` in a signature: write `UniTuple(int64, 2)`")
    if not all(t.is_number or t.literal for t in items):
        raise UsageError(
            f"`{ast.unparse(node)}` in a signature: only tuples of numbers can be read"
        )
    return tuple_of(items)


def _parse_type(node: ast.expr, text: str) -> ParameterType:
    if isinstance(node, ast.Call) and _is_tuple(node):
        return _parse_tuple(node, text)
    if isinstance(node, ast.Call) and _is_literal(node):
        return _parse_literal(node, text)
    if isinstance(node, ast.Subscript):
        base = _parse_type(node.value, text)
        dims = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not all(isinstance(d, ast.Slice) for d in dims):
            raise UsageError(f"`{ast.unparse(node)}` in a signature: write `[:]` for an array")
        return ParameterType(DType(base.dtype.name), len(dims), True)
    if ast.unparse(node).partition("(")[0] in _OMITTED:
        return OMITTED
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if name in GENERATORS or name == "NumPyRandomGeneratorType":
        return replace(generator_of(name if name in GENERATORS else "Generator"), given=True)
    name = SHORT.get(name, name)
    dtype = dtype_named(name)
    if dtype is None or dtype.name not in KINDS:
        shown = ast.unparse(node)
        raise UsageError(f"`{shown}` in the signature `{text}` is not a type porter knows")
    return ParameterType(DType(dtype.name, weak=True), None, True)
