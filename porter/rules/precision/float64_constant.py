"""PRT701: a float64 constant that promotes a float32 function."""

from __future__ import annotations

import ast
import re

from porter.diagnostics import Fix, Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.imports import module_name
from porter.rules.model import Function, Kind, PyFile, stored
from porter.rules.precision.launched import float32_parameters
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
    functions whose only floating type is float32, according to their signature or, for kernels
    without one, to all launches in the file.

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
    VALID = """
        from numba import vectorize

        @vectorize(['f8(f8)'], target='cuda')
        def f(x):
            return (0.5 * x) ** 2
        ---
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return 2.0 * x
        ---
        import numpy as np
        from numba import vectorize

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return (np.float32(0.5) * x) ** 2
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = (0.5 * x[i]) ** 2
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = (0.5 * x[i]) ** 2

        def run(y):
            x = np.zeros(9, dtype=np.float32)
            k[1, 32](x, y)
            k[1, 32](x, x)
        ---
        from numba import vectorize

        @vectorize(['f4(f4)'])
        def f(x):
            return (0.5 * x) ** 2
        """
    INVALID = """
        --- 6:21
        import math
        from numba import vectorize

        @vectorize(['float32(float32)'], target='cuda')
        def f(x):
            return math.exp(-0.5 * x)
        --- 6:19
        import numpy as np
        from numba import vectorize

        @vectorize(['float32(float32)'], target='cuda')
        def f(x):
            return max(x, 0.0)  # not below
        +++
        import numpy as np
        from numba import vectorize

        @vectorize(['float32(float32)'], target='cuda')
        def f(x):
            return max(x, np.float32(0.0))  # not below
        --- 7:24
        from numba import cuda

        @cuda.jit('void(float32[:])')
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = (x[i] + 1.0) ** 0.5
        --- 8:17
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(n, x):
            i = cuda.grid(1)
            if i < n:
                x[i] = (0.5 * x[i]) ** 2

        n = 1000
        d = cuda.to_device(np.arange(n).astype(np.float32))
        k[8, 128](n, d)
        +++
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(n, x):
            i = cuda.grid(1)
            if i < n:
                x[i] = (x.dtype.type(0.5) * x[i]) ** 2

        n = 1000
        d = cuda.to_device(np.arange(n).astype(np.float32))
        k[8, 128](n, d)
        --- 8:25
        import math
        from numba import cuda, float32, void, int32

        @cuda.jit(void(int32[:], float32[:]))
        def k(n, x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.cos(2 * math.pi * x[i])
        +++
        import math
        from numba import cuda, float32, void, int32

        @cuda.jit(void(int32[:], float32[:]))
        def k(n, x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.cos(x.dtype.type(2 * math.pi) * x[i])
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such constant of a float32 function."""
        if not function.on_device or not _float32_only(file, function):
            return
        array = _array(file, function)
        narrowed = _narrowed(function)
        for node in function.nodes:
            if id(node) in narrowed:
                continue
            for operand in _promoting(file, function, node):
                text = file.code(operand)
                yield Finding(
                    operand,
                    f"float64 constant `{text}` promotes the float32 `{function.name}`",
                    f"write `np.float32({text})`, or define the constant at module level",
                    fix=_fix(file, function, array, operand),
                )


def _promoting(file: PyFile, function: Function, node: ast.AST) -> list[ast.expr]:
    """The float64 constants of an operation that also computes with something float32."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("min", "max"):
        parts = node.args
    others = [p for p in parts if not _is_constant(file, function, p)]
    # without a signature only elements of arrays are known to be float32
    known = bool(function.signatures) or any(
        isinstance(n, (ast.Subscript, ast.Call)) for o in others for n in ast.walk(o)
    )
    return [p for p in parts if _is_float(file, function, p)] if others and known else []


def _fix(file: PyFile, function: Function, array: str | None, constant: ast.expr) -> Fix | None:
    text, span = file.code(constant), file.span(constant)
    if array is not None and array not in stored(function.nodes):
        return Fix(span, f"{array}.dtype.type({text})", safe=False)
    numpy = module_name(file, "numpy")
    if numpy is None or numpy in function.local_names:
        return None
    return Fix(span, f"{numpy}.float32({text})", safe=False)


def _array(file: PyFile, function: Function) -> str | None:
    """The first parameter that is a float32 array in every signature."""
    if not function.signatures:
        return next(iter(float32_parameters(file, function)), None)
    rows = [_ARRAY.findall(file.code(s).partition("(")[2]) for s in function.signatures]
    for n, name in enumerate(function.parameters):
        if all(n < len(row) and _FLOAT32_ARRAY.match(row[n]) for row in rows):
            return name
    return None


def _float32_only(file: PyFile, function: Function) -> bool:
    if not function.signatures and function.kind is Kind.KERNEL:
        return bool(float32_parameters(file, function))
    names = {n for s in function.signatures for n in _TYPE.findall(file.code(s))}
    return bool(names & _FLOAT32) and not names & _WIDER


def _is_float(file: PyFile, function: Function, node: ast.expr) -> bool:
    """Whether an expression is a constant, and a float among its parts makes it one."""
    return _is_constant(file, function, node) and any(
        isinstance(n, ast.Attribute) or (isinstance(n, ast.Constant) and isinstance(n.value, float))
        for n in ast.walk(node)
    )


def _is_constant(file: PyFile, function: Function, node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_constant(file, function, node.operand)
    if isinstance(node, ast.BinOp):
        return all(_is_constant(file, function, n) for n in (node.left, node.right))
    if isinstance(node, ast.Attribute):
        return file.qualified(node, function) in _CONSTANTS
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


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
