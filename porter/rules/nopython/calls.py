"""Which calls are certain to stop Numba's nopython compiler."""

from __future__ import annotations

import ast
from functools import lru_cache

from porter.rules.model import COMPILED, Function, PyFile
from porter.rules.words import words
from porter.support.tables import table

#: modules with nothing that Numba compiles; modules that may hold jitted functions are not here
MODULES = words(
    "PIL argparse bs4 collections copy csv cupy cv2 dask datetime decimal fractions functools "
    "glob gzip hashlib hmac http importlib inspect io itertools jax json keras logging "
    "matplotlib multiprocessing netCDF4 networkx os pandas pathlib pickle polars queue re "
    "requests seaborn shutil skimage sklearn socket sqlite3 statistics struct subprocess sympy "
    "sys tempfile tensorflow threading time torch tqdm urllib uuid warnings xarray yaml zlib"
)
#: parts of scipy without Numba support; numba-scipy adds scipy.special
SCIPY = "scipy."
SCIPY_KNOWN = "scipy.special"
#: Python's own functions that take part in no other way than being called
NOT_CALLED = words("property staticmethod classmethod super object exit quit help license")
#: attributes of the modules above that Numba does know
KNOWN = frozenset({"collections.namedtuple", "functools.reduce", "sys.maxsize"})


def uncompilable(file: PyFile, function: Function, call: ast.Call) -> str | None:
    """The name of the called function when Numba is certain not to compile it."""
    if isinstance(call.func, ast.Name) and not function.on_device and _builtin(call.func.id):
        name = call.func.id
        shadowed = name in function.local_names or name in file.by_name
        return None if shadowed or file.imported(name, call.lineno) else name
    name = file.callee(call, function)
    root = name.split(".")[0]
    if name in KNOWN or name in overloaded(file):
        return None
    if root in MODULES or (name.startswith(SCIPY) and not name.startswith(SCIPY_KNOWN)):
        return name
    return None


def _builtin(name: str) -> bool:
    return table("cpu").lacks("builtins", name) and name not in NOT_CALLED


def calls_on_cpu(file: PyFile, function: Function) -> list[ast.Call]:
    """The calls that Numba compiles for the CPU: none of another function, nor in objmode."""
    if function.kind not in COMPILED or function.on_device:
        return []
    inside = in_objmode(file, function)
    return [c for c in function.calls if id(c) not in inside]


@lru_cache(maxsize=4)
def overloaded(file: PyFile) -> frozenset[str]:
    """What this file teaches Numba to compile: the functions it hands to `@overload`."""
    decorators = [d for f in file.functions for d in f.node.decorator_list]
    return frozenset(
        file.qualified(d.args[0]) or ""
        for d in decorators
        if isinstance(d, ast.Call) and d.args
        if (file.qualified(d.func) or "").endswith("extending.overload")
    )


def uncompilable_calls(
    file: PyFile, function: Function, within: list[ast.AST] | None = None
) -> list[tuple[ast.Call, str]]:
    """Every such call of the function (or among the nodes `within`) outside `with objmode`."""
    calls = function.calls if within is None else [n for n in within if isinstance(n, ast.Call)]
    inside = in_objmode(file, function)
    named = [(c, uncompilable(file, function, c)) for c in calls if id(c) not in inside]
    return [(call, name) for call, name in named if name is not None]


def in_objmode(file: PyFile, function: Function) -> set[int]:
    """The ids of the nodes that Numba hands to the interpreter."""
    inside: set[int] = set()
    for node in function.nodes:
        if isinstance(node, ast.With) and any(is_objmode(file, i) for i in node.items):
            inside |= {id(n) for s in node.body for n in ast.walk(s)}
    return inside


def is_objmode(file: PyFile, item: ast.withitem) -> bool:
    """Whether a `with` item is one of Numba's own, such as objmode or parallel_chunksize."""
    expr = item.context_expr
    name = file.qualified(expr.func if isinstance(expr, ast.Call) else expr) or ""
    return name.startswith("numba.")
