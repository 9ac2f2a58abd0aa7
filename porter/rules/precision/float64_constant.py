"""PRT701: a float64 constant that promotes a float32 function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.diagnostics import Diagnostic, Fix, Severity
from porter.rules.base import Bad, Rule
from porter.rules.model import Function, PyFile
from porter.rules.words import words

_TYPE = re.compile(r"[A-Za-z_]\w*")
_FLOAT32 = words("float32 f4")
_WIDER = words("float64 f8 double complex64 complex128 c8 c16")
_CONSTANTS = words("math.pi math.e math.tau numpy.pi numpy.e")
#: a type of a signature, with its subscript if it is an array
_ARRAY = re.compile(r"[A-Za-z_][\w.]*(?:\[[^]]*\])?")
_FLOAT32_ARRAY = re.compile(r"(float32|f4)\[")
#: an operation whose result is rounded to float32 at once costs nothing: the compiler narrows it
_NARROWED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Float64Constant(Rule):
    """
    ## What it does

    Finds Python float constants, `math.pi` among them, in arithmetic, `min` and `max` of device
    functions whose signature has no floating type but float32.

    ## Why is this bad?

    Numba gives a Python float the type float64, and float32 with float64 is float64. The rest
    of the expression, calls such as `math.exp` included, then runs in double precision, which
    most GPUs do at a small fraction of the speed.

    A constant in the last operation before the result is stored as float32 is not reported:
    the compiler narrows that one by itself.

    ## Example

    ```python
    @vectorize(['float32(float32, float32)'], target='cuda')
    def density(x, sigma):
        return math.exp(-0.5 * (x / sigma) ** 2)  # PRT701
    ```

    Make a float32 constant once, at module level: `HALF = np.float32(0.5)`; or write
    `np.float32(0.5)` in place. In a kernel that takes an array `x`, `x.dtype.type(0.5)` has the
    right type for every dtype.

    ## Fix safety

    The fix writes `x.dtype.type(c)` in kernels with a float32 array `x`, and `np.float32(c)` in
    scalar functions, if the file imports numpy. It is unsafe: results change in the last digits.
    """

    code = "PRT701"
    name = "float64-constant"
    severity = Severity.ADVICE
    VALID = (
        """
        from numba import vectorize

        @vectorize(['f8(f8)'], target='cuda')
        def f(x):
            return (0.5 * x) ** 2
        """,
        """
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return 2.0 * x
        """,
        """
        import numpy as np
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return (np.float32(0.5) * x) ** 2
        """,
        """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = (0.5 * x[i]) ** 2
        """,
        """
        from numba import vectorize

        @vectorize(['f4(f4)'])
        def f(x):
            return (0.5 * x) ** 2
        """,
    )
    INVALID = (
        Bad(
            """
            import math
            from numba import vectorize

            @vectorize(['float32(float32)'], target='cuda')
            def f(x):
                return math.exp(-0.5 * x)
            """,
            "6:21",
        ),
        Bad(
            """
            import numpy as np
            from numba import vectorize

            @vectorize(['float32(float32)'], target='cuda')
            def f(x):
                return max(x, 0.0)  # not below
            """,
            "6:19",
            """
            import numpy as np
            from numba import vectorize

            @vectorize(['float32(float32)'], target='cuda')
            def f(x):
                return max(x, np.float32(0.0))  # not below
            """,
        ),
        Bad(
            """
            from numba import cuda

            @cuda.jit('void(float32[:])')
            def k(x):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = (x[i] + 1.0) ** 0.5
            """,
            "7:24",
        ),
        Bad(
            """
            import math
            from numba import cuda, float32, void, int32

            @cuda.jit(void(int32[:], float32[:]))
            def k(n, x):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = math.cos(-math.pi * x[i])
            """,
            "8:25",
            """
            import math
            from numba import cuda, float32, void, int32

            @cuda.jit(void(int32[:], float32[:]))
            def k(n, x):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = math.cos(x.dtype.type(-math.pi) * x[i])
            """,
        ),
    )

    def check_function(self, file: PyFile, function: Function) -> Iterator[Diagnostic]:
        """Every such constant of a float32 function."""
        if not function.on_device or not _float32_only(file, function):
            return
        narrowed = _narrowed(function)
        for node in function.nodes:
            if id(node) in narrowed:
                continue
            for operand in _operands(node):
                if _is_float(file, function, operand):
                    text = file.code(operand)
                    yield self.report(
                        file,
                        operand,
                        f"float64 constant `{text}` promotes the float32 `{function.name}`",
                        f"write `np.float32({text})`, or name such a constant at module level",
                        function=function,
                        fix=_fix(file, function, operand),
                    )


def _operands(node: ast.AST) -> list[ast.expr]:
    """What an operation computes with, if not all of it is constant."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        found = node.args if node.func.id in ("min", "max") else []
        return found if any(not isinstance(a, (ast.Constant, ast.UnaryOp)) for a in found) else []
    return []


def _fix(file: PyFile, function: Function, constant: ast.expr) -> Fix | None:
    text, span = file.code(constant), file.span(constant)
    array = _array(file, function)
    if array is not None and array not in _rebound(function):
        return Fix(span, f"{array}.dtype.type({text})", safe=False)
    numpy = file.alias("numpy")
    if numpy is None or numpy in function.local_names:
        return None
    return Fix(span, f"{numpy}.float32({text})", safe=False)


def _array(file: PyFile, function: Function) -> str | None:
    """The first parameter that is a float32 array in every signature."""
    rows = [_ARRAY.findall(file.code(s).partition("(")[2]) for s in function.signatures]
    for n, name in enumerate(function.parameters):
        if all(n < len(row) and _FLOAT32_ARRAY.match(row[n]) for row in rows):
            return name
    return None


def _rebound(function: Function) -> set[str]:
    return {
        n.id for n in function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _float32_only(file: PyFile, function: Function) -> bool:
    names = {n for s in function.signatures for n in _TYPE.findall(file.code(s))}
    return bool(names & _FLOAT32) and not names & _WIDER


def _is_float(file: PyFile, function: Function, node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_float(file, function, node.operand)
    if isinstance(node, ast.Attribute):
        return file.qualified(node, function) in _CONSTANTS
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _narrowed(function: Function) -> set[int]:
    """The operations whose result is returned or stored right away."""
    values = [
        n.value for n in function.nodes if isinstance(n, ast.Return) and n.value is not None
    ] + [
        n.value
        for n in function.nodes
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript)
    ]
    return {id(v) for v in values if isinstance(v, ast.BinOp) and isinstance(v.op, _NARROWED)}
