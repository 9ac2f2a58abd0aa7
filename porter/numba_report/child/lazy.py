"""Numba's decorators in a file, made lazy, so that loading it compiles nothing yet.

An eager signature compiles at definition: a failure would leave the name undefined, and on the
CUDA target it needs a GPU.
"""

from __future__ import annotations

import ast

from porter.rules.model import Kind, PyFile

#: what the signature may be called when it is passed by name
_KEYWORDS = ("signature", "func_or_sig", "signature_or_function", "ftylist")
_JITTED = (Kind.NOPYTHON, Kind.OBJECT, Kind.KERNEL, Kind.DEVICE)


def lazy(text: str, path: str) -> tuple[ast.Module, dict[int, list[ast.expr]]]:
    """The file's tree without eager signatures, and the signatures by the functions' lines.

    Ufuncs for the GPU lose their decorator; raises `SyntaxError`.
    """
    file = PyFile(text, path)
    signatures: dict[int, list[ast.expr]] = {}
    for function in file.functions:
        signatures[function.node.lineno] = list(function.signatures)
        for decorator in list(function.node.decorator_list):
            if decorator is not function.decorator or not isinstance(decorator, ast.Call):
                continue
            if function.kind in _JITTED:
                decorator.args = []
                decorator.keywords = [k for k in decorator.keywords if k.arg not in _KEYWORDS]
            elif function.on_device:
                function.node.decorator_list.remove(decorator)
    # the simulator takes the place of the compiler, and here the compiler is asked
    file.tree.body = [s for s in file.tree.body if not _chooses_simulator(s)]
    return file.tree, signatures


def _chooses_simulator(statement: ast.stmt) -> bool:
    if not isinstance(statement, (ast.Assign, ast.Expr)):
        return False
    constants = (n.value for n in ast.walk(statement) if isinstance(n, ast.Constant))
    return "NUMBA_ENABLE_CUDASIM" in constants
