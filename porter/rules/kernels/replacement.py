"""What stands in for a NumPy function on scalars that the CUDA target lacks."""

from __future__ import annotations

import ast

from porter.diagnostics import Edit, Fix, Span
from porter.rules.imports import import_place, module_name
from porter.rules.model import Function, PyFile
from porter.rules.words import words
from porter.support.tables import table

#: the function of the same name in math gives the same on the device
_SAME = words("sqrt exp exp2 expm1 log1p copysign isinf isfinite fmod nextafter fabs")
#: on the device they give a float, as NumPy's do; the simulator gives Python's integer
_ROUNDED = words("floor ceil trunc")
_ABSOLUTE = words("abs absolute")
CURES = {
    **{n: f"`math.{n}`" for n in (*sorted(_SAME | _ROUNDED), "frexp", "modf", "ldexp")},
    "abs": "`abs(x)`", "absolute": "`abs(x)`", "add": "`a + b`",
    "subtract": "`a - b`", "multiply": "`a * b`", "power": "`a ** b`", "square": "`x * x`",
    "negative": "`-x`", "positive": "`x`", "reciprocal": "`1 / x`", "mod": "`a % b`",
    "remainder": "`a % b`", "floor_divide": "`a // b`", "divmod": "`divmod(a, b)`",
    "cbrt": "`cuda.cbrt(x)`", "rint": "`round(x)`", "float_power": "`a ** b`",
    "sign": "`(x > 0) - (x < 0)`", "where": "`a if c else b`",
    "clip": "a conditional expression", "heaviside": "a conditional expression",
    "matmul": "loops",
}  # fmt: skip


def replacement(file: PyFile, function: Function, call: ast.Call, name: str) -> Fix | None:
    """The fix that calls math's (or Python's) function of the same meaning instead of
    `numpy.name`, with the import of math where it is missing."""
    if call.keywords or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    span = file.span(call.func)
    if name in _ABSOLUTE:
        taken = "abs" in function.local_names or "abs" in _bound(file)
        return None if taken else Fix(span, "abs")
    if name not in _SAME | _ROUNDED or name not in table("builtin").supported["math"]:
        return None
    safe = name in _SAME
    module = module_name(file, "math")
    if module is not None:
        return None if module in function.local_names else Fix(span, f"{module}.{name}", safe)
    at = import_place(file)
    if at is None or "math" in function.local_names or "math" in _bound(file):
        return None
    line = Edit(Span(at, 1, at, 1), "import math\n")
    return Fix(span, f"math.{name}", safe, (line,))


def _bound(file: PyFile) -> set[str]:
    """Every name that the file binds anywhere: a new import must not clash with any."""
    nodes = list(ast.walk(file.tree))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    imported = {
        (a.asname or a.name).split(".")[0]
        for n in nodes
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for a in n.names
    }
    return names | imported | set(file.by_name)
