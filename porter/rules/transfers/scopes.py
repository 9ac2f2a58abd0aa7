"""What happens to arrays on the host, in the order of the source: launches, copies, uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from porter.rules.launches.sites import Launch, Scope, launches, own_nodes
from porter.rules.launches.uses import FACTS
from porter.rules.model import Function, Kind, PyFile, uses_of
from porter.rules.words import words

#: what certainly makes an array: `np.floor(x)` may be a number
_HOST = {
    *(
        f"numpy.{n}"
        for n in words(
            "zeros ones empty full arange linspace array asarray ascontiguousarray asfortranarray "
            "zeros_like ones_like empty_like full_like eye identity fromfile load loadtxt "
            "random.rand random.randn random.random random.uniform random.normal random.randint "
            "random.random_sample random.permutation concatenate stack tile repeat meshgrid"
        )
    ),
    "numba.cuda.pinned_array",
}
_DEVICE = (
    "numba.cuda.to_device",
    "numba.cuda.device_array",
    "numba.cuda.as_cuda_array",
    "numba.cuda.managed_array",
    "numba.cuda.mapped_array",
    "cupy.",
)


def assigned(scope: Scope) -> Iterator[tuple[str, ast.expr, int]]:
    """Name, value and line of each plain assignment to a name."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                yield target.id, node.value, node.lineno


def host_arrays(file: PyFile, scope: Scope) -> set[str]:
    """Names that only ever stand for NumPy arrays made in this scope."""
    made: dict[str, set[bool]] = {}
    for name, value, _ in assigned(scope):
        made.setdefault(name, set()).add(_is_host(file, value))
    return {name for name, kinds in made.items() if kinds == {True}}


def device_arrays(file: PyFile, scope: Scope) -> set[str]:
    """Names that at some point stand for arrays on the device."""
    return {n for n, v, _ in assigned(scope) if file.callee(v).startswith(_DEVICE)}


def _is_host(file: PyFile, value: ast.expr) -> bool:
    method = value.func if isinstance(value, ast.Call) else None
    if isinstance(method, ast.Attribute) and method.attr in ("astype", "reshape", "copy"):
        return _is_host(file, method.value)
    return file.callee(value) in _HOST and _has_size(value)


def _has_size(value: ast.expr) -> bool:
    # np.random.normal() without a size is a number
    return isinstance(value, ast.Call) and bool(value.args or value.keywords)


def loads(scope: Scope, name: str) -> list[ast.Name]:
    """Every place of a scope that reads a name."""
    return [n for n in uses_of(name, own_nodes(scope)) if isinstance(n.ctx, ast.Load)]


def asked_for_facts(nodes: Iterable[ast.AST]) -> set[int]:
    """What is asked for its shape or type there, and not for its elements, by `id`."""
    return {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr in FACTS}


def scope_launches(file: PyFile, scope: Scope) -> list[Launch]:
    """The launches of one scope, of kernels of this file only, in source order."""
    return [x for x in launches(file) if x.scope is scope]


def cuda_ufunc(file: PyFile, call: ast.Call) -> Function | None:
    """The @vectorize(target="cuda") function that a call is of."""
    if not isinstance(call.func, ast.Name):
        return None
    function = file.defined(call.func.id, call.lineno)
    if function is None or function.kind not in (Kind.VECTORIZE, Kind.GUVECTORIZE):
        return None
    return function if function.target == "cuda" else None


def argument_names(call: ast.Call) -> list[str]:
    """The names among the positional arguments of a call."""
    return [a.id for a in call.args if isinstance(a, ast.Name)]
