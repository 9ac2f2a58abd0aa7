"""PRT502: a host array copied to the device again for every launch that only reads it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Launch, Scope, own_nodes, scopes
from porter.rules.launches.uses import parameter, uses
from porter.rules.model import PyFile, uses_of
from porter.rules.transfers.scopes import asked_for_facts, host_arrays, scope_launches

_FOLDS = ("sum", "mean", "max", "min")
_LOOKING = ("print", "len", "numpy.allclose", "numpy.array_equal", "numpy.testing")


class RepeatedCopy(Rule):
    """
    ## What it does

    Finds host arrays that are passed to a launch in a loop, or to one launch after another,
    by kernels that only read them, while the host does not change them either.

    ## Why is this bad?

    Numba copies every NumPy argument to the device before the launch, waits for the kernel, and
    copies it back, each time the same data. PRT501 finds such arrays that the kernels write.

    ## Example

    ```python
    for step in range(steps):
        move[blocks, threads](forces, d_x)  # PRT502: `forces` is copied for every step
    ```

    Copy it once:

    ```python
    d_forces = cuda.to_device(forces)
    for step in range(steps):
        move[blocks, threads](d_forces, d_x)
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT502"
    name = "host-array-copied-for-every-launch"
    VALID = """
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        x = cuda.to_device(np.ones(9))
        out = cuda.device_array_like(x)
        for step in range(10):
            k[1, 32](x, out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        x = np.ones(9)
        out = cuda.device_array(9)
        for step in range(10):
            x[0] = step
            k[1, 32](x, out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        for step in range(10):
            x = np.ones(step)
            out = cuda.device_array(step)
            k[1, 32](x, out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        x = np.ones(9)
        k[1, 32](x, cuda.device_array(9))
        """
    INVALID = """
        --- 13:14
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] += x[i]

        x = np.ones(9)
        out = cuda.device_array(9)
        for step in range(10):
            k[1, 32](x, out)
        --- 15:10
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, a, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = a * x[i]

        x = np.ones(9)
        d = cuda.device_array(9)
        e = cuda.device_array(9)
        k[1, 32](x, 2.0, d)
        print(x.sum())
        k[1, 32](x, 3.0, e)
        """

    def check(self, file: PyFile) -> Findings:
        """Each array once, where it is first copied without need."""
        if "cuda" not in file.text:
            return
        for scope in scopes(file):
            found = scope_launches(file, scope)
            hosts = host_arrays(file, scope) if found else set()
            for name in sorted(hosts):
                at = _again(file, scope, found, name)
                if at is not None:
                    yield Finding(
                        at,
                        f"`{name}`, which the kernel only reads, is copied for every launch",
                        f"copy it once: `d_{name} = cuda.to_device({name})`, and pass that",
                    )


def only_reads(launch: Launch, name: str) -> bool:
    """Whether a launch takes a name for arrays that its kernel only reads."""
    known = uses(launch.kernel)
    places = [n for n, a in enumerate(launch.call.args) if isinstance(a, ast.Name) and a.id == name]
    names = [parameter(launch.kernel, n) for n in places]
    return bool(names) and all(n is not None and known[n].only_read for n in names)


def _again(file: PyFile, scope: Scope, found: list[Launch], name: str) -> ast.expr | None:
    """The argument of the launch that copies an unchanged array again."""
    taking = [x for x in found if _argument(x, name) is not None]
    if not taking or not all(only_reads(x, name) for x in taking):
        return None
    for loop in (n for n in own_nodes(scope) if isinstance(n, (ast.For, ast.While))):
        inside = [n for s in loop.body for n in ast.walk(s)]
        for launch in taking:
            if launch.call in inside and _unchanged(file, inside, name):
                return _argument(launch, name)
    for first, second in pairwise(taking):
        between = [
            n
            for n in own_nodes(scope)
            if first.call.lineno <= getattr(n, "lineno", 0) <= second.call.lineno
        ]
        if _unchanged(file, between, name):
            return _argument(second, name)
    return None


def _argument(launch: Launch, name: str) -> ast.expr | None:
    return next((a for a in launch.call.args if isinstance(a, ast.Name) and a.id == name), None)


def _unchanged(file: PyFile, nodes: Sequence[ast.AST], name: str) -> bool:
    """Whether the host does nothing here that might change an array: it is only looked at."""
    fine = asked_for_facts(nodes)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _FOLDS:
            fine.add(id(node.value))
        elif isinstance(node, ast.Call):
            called = file.qualified(node.func) or file.code(node.func)
            if isinstance(node.func, ast.Subscript) or called.startswith(_LOOKING):
                fine |= {id(a) for a in node.args}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            fine.add(id(node.value))
    return all(id(n) in fine for n in uses_of(name, nodes))
