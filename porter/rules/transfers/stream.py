"""PRT503: a copy outside the stream that the work runs on."""

from __future__ import annotations

import ast

from porter.diagnostics import Fix, Span
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Scope, own_nodes, scopes
from porter.rules.model import PyFile
from porter.rules.transfers.scopes import assigned, scope_launches

_COPIES = ("copy_to_host", "copy_to_device")
#: methods of streams, events and devices that wait; `sync` is cuda.core's
_WAITS = ("synchronize", "sync")


class CopyOutsideStream(Rule):
    """
    ## What it does

    Finds `copy_to_host` and `copy_to_device` without `stream=`, of an array that a kernel uses
    in a stream, with no synchronization in between.

    ## Why is this bad?

    The copy runs in the default stream. That makes the host wait, so the work is not
    asynchronous any more; and with per-thread default streams nothing orders the copy after
    the kernel, so it may copy half-written data.

    ## Example

    ```python
    kernel[blocks, threads, stream](d_a)
    d_a.copy_to_host(a)  # PRT503
    ```

    Name the stream: `d_a.copy_to_host(a, stream=stream)`.

    ## Fix safety

    The fix adds `stream=`. It is unsafe: the copy then returns before it is done, so that the
    stream must be synchronised before the host reads the array.
    """

    code = "PRT503"
    name = "copy-outside-stream"
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, a, s):
            k[1, 32, s](d)
            d.copy_to_host(a, stream=s)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, a, s):
            k[1, 32, s](d)
            s.synchronize()
            d.copy_to_host(a)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, a):
            k[1, 32](d)
            d.copy_to_host(a)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(device, d, a, s):
            k[1, 32, s](d)
            s.sync()
            d.copy_to_host(a)
            graph = device.create_graph_builder()
            k[1, 32, graph](d)
            d.copy_to_host(a)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, e, a, s):
            k[1, 32, s](d)
            e.copy_to_host(a)
        """
    INVALID = """
        --- 9:5
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, a, s):
            k[1, 32, s](d)
            d.copy_to_host(a)
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        def run(d, a, s):
            k[1, 32, s](d)
            d.copy_to_host(a, stream=s)
        --- 10:5
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        s = cuda.stream()
        d = cuda.device_array(9)
        k[1, 32, s](d)
        h = d.copy_to_host()
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            pass

        s = cuda.stream()
        d = cuda.device_array(9)
        k[1, 32, s](d)
        h = d.copy_to_host(stream=s)
        """

    def check(self, file: PyFile) -> Findings:
        """Every such copy after a launch in a stream."""
        if "copy_to_" not in file.text:
            return
        for scope in scopes(file):
            yield from self._scope(file, scope)

    def _scope(self, file: PyFile, scope: Scope) -> Findings:
        streams: dict[str, str] = {}
        launched = {id(x.call): x for x in scope_launches(file, scope)}
        for node in own_nodes(scope):
            if not isinstance(node, ast.Call):
                continue
            launch = launched.get(id(node))
            if launch is not None:
                for argument in node.args:
                    if isinstance(argument, ast.Name):
                        streams.pop(argument.id, None)
                        if launch.stream is not None and _is_stream(scope, launch.stream):
                            streams[argument.id] = file.code(launch.stream)
            elif isinstance(node.func, ast.Attribute):
                if node.func.attr in _WAITS:
                    streams.clear()
                    continue
                name = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                if node.func.attr in _COPIES and name in streams and not _streamed(node):
                    stream = streams[name]
                    yield Finding(
                        node,
                        f"the copy of `{name}` does not run in the kernel's stream `{stream}`",
                        f"add `stream={stream}`, or synchronize before the launch",
                        fix=_fix(file, node, stream),
                    )


def _is_stream(scope: Scope, node: ast.expr) -> bool:
    """Whether the third part of a configuration is a stream other than the default one."""
    if isinstance(node, ast.Constant):
        return False
    made = [v for n, v, _ in assigned(scope) if isinstance(node, ast.Name) and n == node.id]
    calls = [ast.unparse(v.func) for v in made if isinstance(v, ast.Call)]
    # numba-cuda also takes builders of graphs, which run nothing at the launch
    return all("stream" in c.lower() for c in calls)


def _streamed(call: ast.Call) -> bool:
    return len(call.args) > 1 or any(k.arg == "stream" for k in call.keywords)


def _fix(file: PyFile, call: ast.Call, stream: str) -> Fix:
    given = [*call.args, *(k.value for k in call.keywords)]
    span = file.span(given[-1] if given else call)
    column = span.end_column if given else span.end_column - 1
    at = Span(span.end_line, column, span.end_line, column)
    return Fix(at, f", stream={stream}" if given else f"stream={stream}", safe=False)
