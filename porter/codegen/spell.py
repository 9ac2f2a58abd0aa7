"""How operations are spelled in a kernel: operators, `math` functions, device helpers.

Only what numba.cuda, numba-cuda and the simulator all take is used; what they compute
differently from NumPy has a helper in `templates/helpers_device.py.j2`.
"""

from __future__ import annotations

TERNARY, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = (
    range(14)
)

#: op -> (symbol, precedence)
INFIX: dict[str, tuple[str, int]] = {
    "add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "truediv": ("/", PRODUCT),
    "floordiv": ("//", PRODUCT), "mod": ("%", PRODUCT), "pow": ("**", POWER),
    "lt": ("<", COMPARE), "le": ("<=", COMPARE), "gt": (">", COMPARE), "ge": (">=", COMPARE),
    "eq": ("==", COMPARE), "ne": ("!=", COMPARE), "and": ("and", AND), "or": ("or", OR),
    "band": ("&", BITAND), "bor": ("|", BITOR), "bxor": ("^", BITXOR), "lshift": ("<<", SHIFT),
    "rshift": (">>", SHIFT), "xor": ("!=", COMPARE),
}  # fmt: skip

#: op -> function of Python's math module
MATH: dict[str, str] = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "fmod": "fmod",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma",
}  # fmt: skip
#: math functions whose result must be given its dtype again (they may return an int)
WHOLE = {"floor", "ceil", "trunc"}

#: operations that are a device helper of the same name
HELPERS = {
    "maximum", "minimum", "fmax", "fmin", "sign", "rint", "logaddexp", "heaviside", "rounded",
}  # fmt: skip
#: the constant of the operand's own type that a helper is given as its last argument
EXTRA = {"sign": 1.0, "rint": 0.5, "logaddexp": 0.0, "heaviside": 1.0, "rounded": 0.0}


#: how stores combine whose threads may meet in an element: each target spells these updates
UPDATES = {"add", "max", "min", "band", "bor", "bxor"}


def parenthesised(text: str, inner: int, outer: int) -> str:
    """The text in parentheses if its operator binds less tightly than its place needs."""
    return f"({text})" if inner < outer else text
