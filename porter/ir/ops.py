"""The operations of the scalar IR: one row each, with what NumPy calls them.

`numpy` names the ufunc that defines the operation (the reference interpreter calls it).
How a kernel spells an operation is `codegen/spell.py`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpInfo:
    """`rule` says how the result's dtype follows from the operands' (see `dtype_of`)."""

    numpy: str
    arity: int
    rule: str


_ROWS = """
add add 2 arith | sub subtract 2 arith | mul multiply 2 arith | truediv true_divide 2 divide
floordiv floor_divide 2 arith | mod remainder 2 arith | fmod fmod 2 arith | pow power 2 arith
neg negative 1 keep | pos positive 1 keep | abs absolute 1 real | sign sign 1 keep
lt less 2 compare | le less_equal 2 compare | gt greater 2 compare | ge greater_equal 2 compare
eq equal 2 compare | ne not_equal 2 compare
and logical_and 2 logic | or logical_or 2 logic | xor logical_xor 2 logic | not logical_not 1 logic
band bitwise_and 2 bits | bor bitwise_or 2 bits | bxor bitwise_xor 2 bits | invert invert 1 bits
lshift left_shift 2 bits | rshift right_shift 2 bits
maximum maximum 2 order | minimum minimum 2 order | fmax fmax 2 order | fmin fmin 2 order
sqrt sqrt 1 float | cbrt cbrt 1 real_float | exp exp 1 float | exp2 exp2 1 real_float
expm1 expm1 1 real_float | log log 1 float | log2 log2 1 real_float | log10 log10 1 real_float
log1p log1p 1 real_float | sin sin 1 float | cos cos 1 float | tan tan 1 float
arcsin arcsin 1 real_float | arccos arccos 1 real_float | arctan arctan 1 real_float
sinh sinh 1 float | cosh cosh 1 float | tanh tanh 1 float | arcsinh arcsinh 1 real_float
arccosh arccosh 1 real_float | arctanh arctanh 1 real_float | arctan2 arctan2 2 real_float
hypot hypot 2 real_float | copysign copysign 2 real_float | logaddexp logaddexp 2 real_float
deg2rad deg2rad 1 real_float | rad2deg rad2deg 1 real_float
floor floor 1 whole | ceil ceil 1 whole | trunc trunc 1 whole | rint rint 1 real_float
isnan isnan 1 test | isinf isinf 1 test | isfinite isfinite 1 test | signbit signbit 1 test
heaviside heaviside 2 real_float | rounded positive 1 keep | sound absolute 1 logic
real real 1 part | imag imag 1 part | conj conjugate 1 keep
erf erf 1 real_float | erfc erfc 1 real_float | gamma gamma 1 real_float
lgamma lgamma 1 real_float
"""

OPS: dict[str, OpInfo] = {}
for _row in _ROWS.replace("\n", "|").split("|"):
    if _row.strip():
        _op, _numpy, _arity, _rule = _row.split()
        OPS[_op] = OpInfo(_numpy, int(_arity), _rule)

#: Python's operators, by libcst node name
BINARY = {
    "Add": "add", "Subtract": "sub", "Multiply": "mul", "Divide": "truediv",
    "FloorDivide": "floordiv", "Modulo": "mod", "Power": "pow", "BitAnd": "band",
    "BitOr": "bor", "BitXor": "bxor", "LeftShift": "lshift", "RightShift": "rshift",
}  # fmt: skip
COMPARE = {
    "LessThan": "lt", "LessThanEqual": "le", "GreaterThan": "gt", "GreaterThanEqual": "ge",
    "Equal": "eq", "NotEqual": "ne",
}  # fmt: skip

#: operations that `math` has, and NumPy has not
OF_MATH = {"erf", "erfc", "gamma", "lgamma"}
#: what porter itself asks of a value: to be rounded, and to count only while no thread set an error
MARKS = {"rounded", "sound"}

#: how stores of several threads into one element combine, in any order.  `max` and `min` keep
#: the element where the comparison with a NaN fails, as Python's; `same` promises that
#: all store one value, `once` that there is only one
COMBINES = {"add", "max", "min", "band", "bor", "bxor", "same", "once"}
#: those of them that read the element
UPDATES = COMBINES - {"same", "once"}

#: reductions by NumPy's names, and what a result of one is called where it has no name
RESULT_NAMES = {"sum": "total", "prod": "product", "max": "largest", "min": "smallest",
                "any": "found", "all": "holds", "linear": "value",
                "bounded": "value", "quotient": "value", "states": "leads"}  # fmt: skip
REDUCTIONS = set(RESULT_NAMES)

#: how Python writes the operations that have a sign
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "neg": "-", "pos": "+", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "band": "&", "bor": "|", "bxor": "^", "invert": "~", "lshift": "<<", "rshift": ">>",
}  # fmt: skip


def sign(op: str) -> str:
    """The operation as a message shows it: Python's sign, or NumPy's name."""
    return SIGNS.get(op) or (OPS[op].numpy if op in OPS else op)


#: every operation as messages show it
SHOWN = frozenset(map(sign, OPS))
