"""Compiles the kernels of generated modules to PTX for the types the simulator saw."""

from __future__ import annotations

import json
import re
from types import ModuleType, SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba import cuda, types
from numba.cuda import dispatcher

#: Numba's own range reduction of these is in double precision, even for float32
USES_F64 = re.compile(r"math\.(sin|cos|tan)\b")
SCALARS = {"int": "int64", "float": "float64", "bool": "bool", "complex": "complex128"}


def stand_in_device() -> None:
    """Let kernels that call device functions compile without a GPU."""
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))


def numba_type(described: Any) -> Any:
    """The Numba type of what `simulator.describe` wrote."""
    if isinstance(described, str):
        return numba.from_dtype(np.dtype(SCALARS.get(described, described)))
    if described[0] == "tuple":
        return types.Tuple([numba_type(d) for d in described[1:]])
    dtype, ndim, layout = described
    return types.Array(numba.from_dtype(np.dtype(dtype)), ndim, layout)


def problems(module: ModuleType, source: str, launches: list[list[str]]) -> list[str]:
    """What does not compile, and float32 programs that compute in float64."""
    found: dict[str, str] = {}
    # the same types come from many inputs; the float32 ones say so in the context
    for context, name, described in {(c if c == "float32" else "", n, d) for c, n, d in launches}:
        arguments = json.loads(described)
        try:
            ptx, _ = cuda.compile_ptx(
                getattr(module, name).py_func, tuple(map(numba_type, arguments)), cc=(9, 0)
            )
        except Exception as error:
            reason = " ".join(str(error).split())[-160:]
            found[name] = f"{name}({described}) does not compile: {type(error).__name__} {reason}"
            continue
        dtypes = {d[0] for d in arguments if isinstance(d, list)}
        if context == "float32" and "float32" in dtypes and "float64" not in dtypes:
            count = len(re.findall(r"\.f64\b", ptx))
            if count and not USES_F64.search(source):
                found.setdefault(name, f"{name} has {count} .f64 for float32 arrays")
    return sorted(found.values())
