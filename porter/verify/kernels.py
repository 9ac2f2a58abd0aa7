"""Which functions of a generated module a host function reaches, and which are kernels."""

from __future__ import annotations

import ast

from porter.support.parsing import tree_of


def kernels_of(text: str, host: str) -> list[str]:
    """The kernels that a host function can launch, and those that bear its name, in order.

    What it calls is followed; a kernel that an edit cut off from its host function counts by
    its name, `host_...`.
    """
    functions = _functions(text)
    within = reached(text, host)
    plain = [functions[n] for n in within if n in functions and not functions[n].decorator_list]
    called = {n.id for f in plain for n in ast.walk(f) if isinstance(n, ast.Name)}
    return [
        name
        for name, node in functions.items()
        if (name in within or name.startswith(f"{host}_"))
        and (_is_kernel(node) or (name in called and any(map(is_compiler, node.decorator_list))))
    ]


def reached(text: str, host: str) -> set[str]:
    """The functions of a module that a host function may call or launch, itself among them."""
    functions = _functions(text)
    found, pending = {host}, [n for n in (host,) if n in functions]
    while pending:
        nodes = [n for n in ast.walk(functions[pending.pop()]) if isinstance(n, ast.Name)]
        local = {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
        new = {n.id for n in nodes} & functions.keys() - found - local
        found |= new
        pending += new
    return found


def constants_of_kernels(text: str) -> set[str]:
    """All names that occur in what is compiled for a device."""
    compiled = [node for node in _functions(text).values() if node.decorator_list]
    return {n.id for node in compiled for n in ast.walk(node) if isinstance(n, ast.Name)}


def _functions(text: str) -> dict[str, ast.FunctionDef]:
    return {f.name: f for f in tree_of(text).body if isinstance(f, ast.FunctionDef)}


def _is_kernel(function: ast.FunctionDef) -> bool:
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        node = call.func if call else decorator
        device = any(k.arg == "device" for k in call.keywords) if call else False
        if ast.unparse(node).endswith("cuda.jit") and not device:
            return True
    return False


def is_compiler(decorator: ast.expr) -> bool:
    """Whether a decorator compiles a function for the CPU."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(node, "attr", getattr(node, "id", "")) in ("njit", "vectorize", "guvectorize")
