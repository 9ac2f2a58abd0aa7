"""PRT501: data that goes to the host and back between launches."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Scope, own_nodes, scopes
from porter.rules.model import PyFile, uses_of
from porter.rules.transfers.repeated import only_reads
from porter.rules.transfers.scopes import (
    argument_names,
    assigned,
    cuda_ufunc,
    device_arrays,
    host_arrays,
    loads,
    scope_launches,
)


class RoundTrip(Rule):
    """
    ## What it does

    Finds data that is copied from the device to the host and back without being used on the
    host: a host array passed to several launches in a row or in a loop, `copy_to_host` followed
    by `to_device`, the result of a CUDA ufunc passed to the next one.

    ## Why is this bad?

    A launch that is given a host array copies it to the device, and back when it is done.
    Over PCIe that takes longer than most kernels.

    ## Example

    ```python
    x = np.ones(n)
    scale[blocks, threads](x)
    shift[blocks, threads](x)  # PRT501: copied back and forth twice
    ```

    Copy once:

    ```python
    d_x = cuda.to_device(x)
    scale[blocks, threads](d_x)
    shift[blocks, threads](d_x)
    x = d_x.copy_to_host()
    ```

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT501"
    name = "host-round-trip"
    VALID = """
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        x = np.ones(9)
        k[1, 32](x)
        print(x)
        k[1, 32](x)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        x = cuda.to_device(np.ones(9))
        k[1, 32](x)
        k[1, 32](x)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        def run(x):
            k[1, 32](x)
            k[1, 32](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d):
            h = d.copy_to_host()
            h += 1
            return cuda.to_device(h)
        ---
        from numba import cuda, vectorize
        import numpy as np

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return x

        d = cuda.to_device(np.ones(9))
        y = f(d)
        z = f(y)
        """
    INVALID = """
        --- 10:10
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        x = np.ones(9)
        k[1, 32](x)
        k[1, 32](x)
        --- 10:14
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            pass

        x = np.ones(9)
        for step in range(10):
            k[1, 32](x)
        --- 10:24
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d):
            k[1, 32](d)
            h = d.copy_to_host()
            e = cuda.to_device(h)
            k[1, 32](e)
        --- 10:7
        from numba import vectorize
        import numpy as np

        @vectorize(['f4(f4)'], target='cuda')
        def f(x):
            return x

        x = np.ones(9)
        y = f(x)
        z = f(y)
        """

    def check(self, file: PyFile) -> Findings:
        """Every round trip of every scope that is not compiled."""
        if "cuda" not in file.text:
            return
        for scope in scopes(file):
            yield from self._launches(file, scope)
            yield from self._copies(file, scope)
            yield from self._ufuncs(file, scope)

    def _launches(self, file: PyFile, scope: Scope) -> Findings:
        hosts = host_arrays(file, scope)
        loops = [n for n in own_nodes(scope) if isinstance(n, (ast.For, ast.While))]
        last: dict[str, ast.Call] = {}
        for launch in scope_launches(file, scope):
            call = launch.call
            for argument in call.args:
                if not (isinstance(argument, ast.Name) and argument.id in hosts):
                    continue
                name = argument.id
                # PRT502 speaks of what the kernels only read
                if only_reads(launch, name):
                    continue
                again = name in last and not _used_between(scope, name, last[name], call)
                if again or _alone_in_loop(scope, loops, name, call):
                    yield self._found(argument, f"host array `{name}` is copied to the"
                                      " device and back for every launch")  # fmt: skip
                last[name] = call

    def _copies(self, file: PyFile, scope: Scope) -> Findings:
        for name, value, _ in assigned(scope):
            if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
                continue
            uses = loads(scope, name)
            if value.func.attr != "copy_to_host" or value.args or not _once(scope, name):
                continue
            for node in own_nodes(scope):
                if file.callee(node) != "numba.cuda.to_device" or not isinstance(node, ast.Call):
                    continue
                if node.args and node.args[0] is uses[0]:
                    yield self._found(uses[0], f"`{name}` comes from the device and goes"
                                      " back unchanged")  # fmt: skip

    def _ufuncs(self, file: PyFile, scope: Scope) -> Findings:
        devices = device_arrays(file, scope)
        hosts = host_arrays(file, scope)
        for name, value, _ in assigned(scope):
            if not isinstance(value, ast.Call) or cuda_ufunc(file, value) is None:
                continue
            names = argument_names(value)
            if any(k.arg == "out" for k in value.keywords) or set(names) & devices:
                continue
            uses = loads(scope, name)
            if not set(names) & hosts or not _once(scope, name):
                continue
            for node in own_nodes(scope):
                if isinstance(node, ast.Call) and uses[0] in node.args and cuda_ufunc(file, node):
                    yield self._found(uses[0], f"`{name}` was copied to the host, and is"
                                      " copied to the device again")  # fmt: skip

    def _found(self, node: ast.AST, message: str) -> Finding:
        cure = "keep it on the device: cuda.to_device before, copy_to_host after the last use"
        return Finding(node, message, cure)


def _once(scope: Scope, name: str) -> bool:
    """Whether a name is bound once, read once, and nothing else."""
    uses = uses_of(name, own_nodes(scope))
    return sorted(type(n.ctx).__name__ for n in uses) == ["Load", "Store"]


def _used_between(scope: Scope, name: str, first: ast.Call, second: ast.Call) -> bool:
    inside = {id(n) for c in (first, second) for n in ast.walk(c)}
    return any(
        id(n) not in inside and first.lineno <= n.lineno <= second.lineno
        for n in uses_of(name, own_nodes(scope))
    )


def _alone_in_loop(
    scope: Scope, loops: list[ast.For | ast.While], name: str, call: ast.Call
) -> bool:
    """Whether a loop around the call uses the array for nothing else on the host."""
    for loop in loops:
        nodes = [n for s in loop.body for n in ast.walk(s)]
        if call not in nodes:
            continue
        launched = {
            id(n)
            for c in nodes
            if isinstance(c, ast.Call) and isinstance(c.func, ast.Subscript)
            for n in ast.walk(c)
        }
        return all(id(n) in launched for n in uses_of(name, nodes))
    return False
