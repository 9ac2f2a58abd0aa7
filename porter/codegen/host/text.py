"""Expressions as the host evaluates them: Python's and NumPy's own semantics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from porter import ir
from porter.codegen.kernel.state import Needs
from porter.codegen.polys import host_atom, poly_parts
from porter.codegen.spell import (
    ATOM,
    COMPARE,
    INFIX,
    MATH,
    NOT,
    POWER,
    TERNARY,
    UNARY,
    parenthesised,
)
from porter.dtypes.dtype import DType
from porter.ir.ops import OF_MATH, OPS
from porter.sizes.polynomial import Apply, Data, Poly

#: Python's own math, apart from the `math` that kernels see on the simulator
HOST_MATH = "_math"


def _has_bound(p: Poly) -> bool:
    """Whether it depends on where a slice ends."""
    return any(isinstance(a, Apply) and a.op == "bound" for a in p.atoms())


class HostText:
    """Spells scalar expressions for the host function."""

    def __init__(self, needs: Needs, types: Callable[[str], str], names: dict[str, str]) -> None:
        self.needs = needs
        self.types = types
        self.names = names
        self.on_host: Callable[[str], str] = self._from_device
        self._spell = host_atom(self.name, lambda d: self.text(d.expr))

    def _from_device(self, name: str) -> str:
        """An array of no dimensions on the host; `HostBase` knows which are arguments."""
        self.needs.helpers.add("_to_host")
        return f"_to_host({name}, stream)"

    @contextmanager
    def renamed(self, names: Mapping[str, str]) -> Iterator[None]:
        """Other names for some symbols."""
        before = dict(self.names)
        self.names.update(names)
        yield
        self.names.clear()
        self.names.update(before)

    def name(self, name: str) -> str:
        """The host's name of a symbol."""
        return self.names.get(name, name)

    def poly(self, p: Poly, outer: int = 0) -> str:
        """A size."""
        return parenthesised(*self._poly(p), outer)

    def _poly(self, p: Poly) -> tuple[str, int]:
        if _has_bound(p):
            self.needs.helpers.add("_slice_bound")
        return poly_parts(p, self._spell)

    def found(self, *sizes: Poly) -> str:
        """The values of sizes, for an f-string: `x.shape[0] is 3 and 4`.

        Only the numbers, `lengths 3 and 4`, if the end of a slice is among them: a helper of the
        module computes it, whose name means nothing to a caller.
        """
        unnamed = any(map(_has_bound, sizes))
        values = (
            text if text.lstrip("-").isdigit() else f"{'' if unnamed else f'{text} is '}{{{text}}}"
            for text in map(self.poly, sizes)
        )
        return ("lengths " if unnamed else "") + " and ".join(values)

    def text(self, e: ir.Expr, outer: int = 0) -> str:
        """An expression."""
        body, binds = self._text(e)
        return parenthesised(body, binds, outer)

    def dtype(self, dtype: DType) -> str:
        """A dtype as an expression: `T` or `np.float64`."""
        if dtype.var is not None:
            return self.types(dtype.var)
        self.needs.numpy = True
        return f"np.{'bool_' if dtype.name == 'bool' else dtype.name}"

    def _text(self, e: ir.Expr) -> tuple[str, int]:
        match e:
            case ir.Const():
                return self._constant(e)
            case ir.Value(poly=poly, dtype=dtype):
                if dtype.weak:
                    return self._poly(poly)
                return f"{self.dtype(dtype)}({self.poly(poly)})", ATOM
            case ir.Scalar(name=name) | ir.Local(name=name):
                self.needs.constants.add(name)
                return self.names.get(name, name), ATOM
            case ir.Load(buffer=name):
                scalar = f"{self.on_host(name)}[()]"
                return (f"{scalar}.item()" if e.dtype.weak else scalar), ATOM
            case ir.Cast(arg, dtype):
                return self._cast(arg, dtype)
            case ir.Select(cond, then, other, _):
                return (
                    f"{self.text(then, 1)} if {self.text(cond, 1)} else {self.text(other)}",
                    TERNARY,
                )
            case ir.Op():
                return self._op(e)
            case ir.Object(name=name):
                return name, ATOM
            case ir.Reduce():
                raise AssertionError("a reduction on the host")

    def _constant(self, e: ir.Const) -> tuple[str, int]:
        value = e.value
        text = repr(value)
        if isinstance(value, float):
            names = {
                math.pi: "math.pi",
                math.e: "math.e",
                math.inf: "math.inf",
                -math.inf: "-math.inf",
            }
            if value in names or math.isnan(value):
                self.needs.math.add("inf")
                text = names.get(value, "math.nan")
        if e.dtype.weak:
            return text, UNARY if text.startswith("-") else ATOM
        return f"{self.dtype(e.dtype)}({text})", ATOM

    def _cast(self, arg: ir.Expr, dtype: DType) -> tuple[str, int]:
        if dtype.weak:
            kind = {"f": "float", "i": "int", "b": "bool", "c": "complex"}[dtype.kind]
            if arg.dtype == dtype or (arg.dtype.weak and dtype.kind in "fc"):
                return self._text(arg)
            return f"{kind}({self.text(arg)})", ATOM
        return f"{self.dtype(replace(dtype, weak=False))}({self.text(arg)})", ATOM

    def _op(self, e: ir.Op) -> tuple[str, int]:
        text, binds = self._operated(e)
        if e.dtype.weak or not all(a.dtype.weak for a in e.args) or text.startswith("np."):
            return text, binds
        # `np.square(0.5)` is NumPy's number though its operand is Python's
        return f"{self.dtype(e.dtype)}({text})", ATOM

    def _operated(self, e: ir.Op) -> tuple[str, int]:
        weak = e.dtype.weak and all(a.dtype.weak for a in e.args)
        if e.op in INFIX:
            symbol, binds = INFIX[e.op]
            left, right = e.args
            if e.op == "pow":
                return f"{self.text(left, POWER + 1)}**{self.text(right, POWER)}", POWER
            edge = COMPARE + 1 if binds == COMPARE else binds
            return f"{self.text(left, edge)} {symbol} {self.text(right, binds + 1)}", binds
        if e.op == "neg":
            return f"-{self.text(e.args[0], UNARY)}", UNARY
        if e.op == "not":
            return f"not {self.text(e.args[0], NOT)}", NOT
        if e.op == "invert" and e.dtype.kind == "b":
            return f"not {self.text(e.args[0], NOT)}", NOT
        if e.op == "abs":
            return f"abs({self.text(e.args[0])})", ATOM
        if e.op == "pos":
            return self._text(e.args[0])
        args = ", ".join(map(self.text, e.args))
        if (weak and e.op in MATH) or e.op in OF_MATH:
            self.needs.math.add("host")
            text = f"{HOST_MATH}.{MATH[e.op]}({args})"
            return (text if e.dtype.weak else f"{self.dtype(e.dtype)}({text})"), ATOM
        self.needs.numpy = True
        return f"np.{OPS[e.op].numpy}({args})", ATOM


__all__ = ["Data", "HostText"]
