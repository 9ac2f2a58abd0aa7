"""Which of the names that the CUDA target's registries know really compile in a kernel.

A kernel is compiled as far as LLVM, for which neither a GPU nor the CUDA toolkit is needed.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numba.cuda.dispatcher
import numpy as np
from numba import cuda, types
from numba.core.target_extension import target_override
from numba.cuda.compiler import compile_cuda
from numba.cuda.descriptor import cuda_target

Asked = dict[str, dict[str, Any]]
CC = (9, 0)
# functions that Numba implements by calling a compiled helper ask which device there is
numba.cuda.dispatcher.get_current_device = lambda: type("Device", (), {"compute_capability": CC})

F8, I8, B1 = types.float64, types.int64, types.boolean
VECTOR, MATRIX = types.Array(F8, 1, "C"), types.Array(F8, 2, "C")
BOOLS = types.Array(B1, 1, "C")
SCALARS = [(F8,), (I8,), (F8, F8), (I8, I8), (F8, I8), (F8, F8, F8), ()]
ARRAYS = [(VECTOR,), (MATRIX,), (BOOLS,), (VECTOR, F8), (VECTOR, VECTOR), (VECTOR, I8)]
CALLS = ("()", "(0)", "(x)", "(np.int64)", "(0, 1)")
#: calls that need arguments of their own
SPECIAL = {
    "isinstance": "isinstance(x, float)",
    "hasattr": "hasattr(x, 'real')",
    "getattr": "getattr(x, 'real')",
    "sorted": "sorted((x, x))",
    "reversed": "reversed((x, x))",
    "all": "all((x, x))",
    "any": "any((x, x))",
    "ord": "ord('a')",
    "chr": "chr(65)",
    "list": "list((1, 2))",
    "set": "set((1, 2))",
    "dict": "dict(a=1)",
    "map": "map(abs, (1, 2))",
    "filter": "filter(abs, (1, 2))",
    "next": "next(iter((1, 2)))",
}
USED = (VECTOR, MATRIX, BOOLS)
#: parameters that the registries know and that do not compile everywhere
DOUBTFUL = {"axis": "0", "out": "x"}
HOMES = {"numpy": "np.", "math": "math.", "builtins": ""}


def compiles(expression: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a kernel that evaluates the expression of x, y, z compiles."""
    text = f"def kernel({', '.join('xyz'[: len(arguments)])}):\n    {expression}\n"
    scope: dict[str, Any] = {"np": np, "math": math, "cuda": cuda}
    exec(text, scope)
    try:
        compile_cuda(scope["kernel"], types.void, arguments, cc=CC)
    except Exception:
        return False
    return True


def typed(value: object, arguments: tuple[Any, ...]) -> bool:
    """Whether the registries know the call: quicker than compiling, and never narrower,
    except for `max` and `min` of an array, which the compiler rewrites."""
    if value in (max, min):
        return True
    tc, xc = cuda_target.typing_context, cuda_target.target_context
    try:
        found = tc.resolve_value_type(value)
        with target_override("cuda"):
            signature = tc.resolve_function_type(found, arguments, {})
        if signature is not None and isinstance(value, np.ufunc):
            xc.get_ufunc_info(value)
    except Exception:
        return False
    return signature is not None


def fitting(specs: list[str], forms: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The argument lists of a length that one of the parameter lists takes."""
    if not specs or any("*" in s for s in specs):
        return forms
    bounds = [(sum(not w.endswith("?") for w in s.split()), len(s.split())) for s in specs]
    return [f for f in forms if any(low <= len(f) <= high for low, high in bounds)]


def form(group: str, name: str, forms: list[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """The first of these argument lists with which a call compiles."""
    if group == "builtins" and name in SPECIAL:
        return (F8,) if compiles(SPECIAL[name], (F8,)) else None
    value: Any = {"numpy": np, "math": math, "builtins": builtins}[group]
    for part in name.split("."):
        value = getattr(value, part)
    for arguments in forms:
        call = f"{HOMES[group]}{name}({', '.join('xyz'[: len(arguments)])})"
        if typed(value, arguments) and compiles(call, arguments):
            return arguments
    return None


def narrowed(prefix: str, arguments: tuple[Any, ...], specs: list[str]) -> list[str]:
    """The parameter lists without the optional parameters that do not compile."""
    out = []
    for spec in specs:
        kept = []
        for word in spec.split():
            name = word.rstrip("?/")
            given = ", ".join([*"xyz"[: len(arguments)], f"{name}={DOUBTFUL.get(name)}"])
            doubted = word.endswith("?") and name in DOUBTFUL and len(kept) >= len(arguments)
            if not doubted or compiles(f"{prefix}({given})", arguments):
                kept.append(word)
        out.append(" ".join(kept))
    return sorted(set(out))


def compiled(asked: Asked) -> tuple[Asked, dict[str, list[str]]]:
    """What compiles, and of that the functions that take no scalars."""
    arrays_only: dict[str, list[str]] = {}
    for group in HOMES:
        arrays_only[group] = []
        for name, specs in asked[group].items():
            if specs is None:
                continue
            scalars = form(group, name, fitting(specs, SCALARS))
            arrays = fitting(specs, ARRAYS)
            arguments = form(group, name, arrays) if scalars is None else scalars
            if arguments is None:
                asked[group][name] = None
                continue
            asked[group][name] = narrowed(f"{HOMES[group]}{name}", arguments, specs)
            if scalars is None:
                arrays_only[group].append(name)
    for kind, uses in (("methods", CALLS), ("attributes", ("",))):
        asked[kind] = {
            name: specs
            if specs is not None and any(compiles(f"x.{name}{u}", (a,)) for a in USED for u in uses)
            else None
            for name, specs in asked[kind].items()
        }
    return asked, arrays_only
