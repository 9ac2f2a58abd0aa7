"""Python's own types as functions: int, float, bool, complex."""

from __future__ import annotations

from porter import ir
from porter.dtypes.dtype import WEAK_BOOL
from porter.ir.scalars import cast, integer, number, operate, poly_of, truth
from porter.lowering.functions.registry import PYTHON_TYPES, Call, function
from porter.lowering.state.ambiguous import candidates_of, is_ambiguous
from porter.resolve.values import Array, Text, Value
from porter.sizes.polynomial import Poly


def _python_type(name: str) -> None:
    @function(f"builtins.{name}", "x=0")
    def body(call: Call) -> Value:
        if isinstance(call.value("x"), Text):
            text = call.constant("x")
            try:
                return number({"int": int, "float": float, "bool": bool}[name](text))
            except ValueError as error:
                raise call.refuse("PRT901", f"`{name}` of this string raises ValueError") from error
        x = call.operand("x")
        if isinstance(x, Array):
            x = _single(call, x)
        call.b.dtypes.made_pythons(x)
        if name == "bool":
            return cast(truth(x), WEAK_BOOL)
        if name == "int" and poly_of(x) is not None and x.dtype.kind in "iu":
            return integer(poly_of(x) or Poly())
        if is_ambiguous(candidates_of(call.b.dtypes, x)):
            # of Python's or NumPy's, as the data decides: Python's from here on
            return ir.Cast(x, PYTHON_TYPES[name])
        return cast(x, PYTHON_TYPES[name])


for _name in PYTHON_TYPES:
    if _name != "complex":
        _python_type(_name)


def _single(call: Call, array: Array) -> ir.Expr:
    if array.ndim:
        raise call.refuse("PRT903", f"`{call.name}` does not take a {array.ndim}-D array")
    return array.at(())


@function("builtins.complex", "real imag=0")
def _complex(call: Call) -> Value:
    real, imag = (call.operand(n) if not isinstance(call.value(n), int) else integer(call.value(n))
                  for n in ("real", "imag"))  # fmt: skip
    real, imag = (_single(call, v) if isinstance(v, Array) else v for v in (real, imag))
    return cast(operate("add", real, operate("mul", imag, number(1j))), PYTHON_TYPES["complex"])
