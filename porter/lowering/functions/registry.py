"""How a NumPy function is declared: its dotted names and its parameters as NumPy has them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from porter.dtypes.dtype import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from porter.ir.scalars import constant_of
from porter.lowering.arrays.calculus import Operand, as_array, strong
from porter.lowering.evaluation import Evaluator
from porter.numpy_functions import MISSING, Dotted, declare, known
from porter.resolve.globals import dtype_named, dtype_of_text
from porter.resolve.values import NONE, Array, DTypeName, Function, Text, Value


class Call:
    """The bound arguments of one call, with readers that refuse what they cannot use."""

    def __init__(self, ev: Evaluator, name: str, arguments: dict[str, Any], node: Any) -> None:
        self.ev = ev
        self.b = ev.b
        self.name = Dotted(name)
        self.arguments = arguments
        self.node = node

    def value(self, name: str) -> Any:
        """The raw value of an argument; its default if it was not given."""
        return self.arguments[name]

    def operand(self, name: str) -> Operand:
        """An array or a scalar."""
        return self.ev.as_numeric(self.arguments[name], self.node)

    def array(self, name: str) -> Array:
        """An array; a scalar counts as 0-d, of NumPy's dtype: no longer Python's number."""
        return as_array(strong(self.operand(name)))

    def constant(self, name: str) -> Any:
        """A literal (or None, or a string)."""
        value = self.arguments[name]
        if value is NONE or value is None:
            return None
        if isinstance(value, Text):
            return value.value
        if isinstance(value, (int, float, bool, str)):
            return value
        known = constant_of(value)
        if known is None:
            self.b.restarts.must_be_known(value)
            raise self.refuse(
                "PRT903",
                f"`{name}` of `{self.name}` must be a constant",
                "write it as a literal, or give the parameter a default",
            )
        return known

    def axes(self, name: str = "axis") -> list[int] | None:
        """The `axis` argument as a list, None for all axes."""
        value = self.arguments[name]
        if isinstance(value, tuple):
            for v in value:
                self.b.restarts.must_be_known(v)
            axes = [constant_of(v) for v in value]
            if not all(isinstance(a, int) for a in axes):
                raise self.refuse(
                    "PRT903",
                    f"the `{name}` of `{self.name}` must be a constant",
                    "write it as a literal, or give the parameter a default",
                )
            return [int(a) for a in axes if isinstance(a, int)]
        axis = self.constant(name)
        return None if axis is None else [int(axis)]

    def dtype(self, name: str = "dtype") -> DType | None:
        """The `dtype` argument, None if it was not given."""
        value = self.arguments[name]
        if value is NONE or value is None:
            return None
        return self.ev_dtype(value)

    def ev_dtype(self, value: Value) -> DType:
        """A dtype given as `np.float32`, `x.dtype`, `float` or a string."""
        found = dtype_of(value)
        if found is None:
            raise self.refuse(
                "PRT907",
                f"the dtype given to `{self.name}` is not known at conversion",
                "pass a constant dtype such as `np.float64`",
            )
        return found

    def as_function(self, name: str, **arguments: Any) -> Value:
        """The value of another function at this call; arguments not given are its defaults."""
        spec = known(name)
        bound = dict(spec.parameters) | arguments
        result: Value = spec.convert(Call(self.ev, self.name, bound, self.node))
        return result

    def refuse(self, code: str, message: str, help: str = "") -> Exception:
        """A refusal at the call."""
        self.b.place.node = self.node
        return self.b.refuse(code, message, help)


_DEFAULTS: dict[str, Any] = {"None": NONE, "True": True, "False": False}


def _default(text: str) -> Any:
    if text in _DEFAULTS:
        return _DEFAULTS[text]
    if text.lstrip("-").isdigit():
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    return text


def function(
    names: str, parameters: str, **facts: Any
) -> Callable[[Callable[[Call], Value]], Callable[[Call], Value]]:
    """Declare a function: dotted names separated by spaces, parameters as NumPy names them.

    Facts (see `FunctionSpec`) are given here where the table does not have them.
    """
    parsed = []
    for part in parameters.split():
        name, _, default = part.partition("=")
        parsed.append((name.lstrip("*"), _default(default) if default else MISSING))

    def declared(body: Callable[[Call], Value]) -> Callable[[Call], Value]:
        for name in names.split():
            declare(name, parameters=tuple(parsed), body=body,
                    variadic=parameters.startswith("*"), **facts)  # fmt: skip
        return body

    return declared


def dtype_of(value: Value) -> DType | None:
    """The dtype that a value names, or None."""
    if isinstance(value, DTypeName):
        return value.dtype
    if isinstance(value, Text):
        return dtype_of_text(value.value)
    if isinstance(value, Function) and value.full.library == "builtins":
        return dtype_named(value.full.path)
    return None


PYTHON_TYPES = {"int": WEAK_INT, "float": WEAK_FLOAT, "bool": WEAK_BOOL, "complex": WEAK_COMPLEX}
