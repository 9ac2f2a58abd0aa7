"""PRT505: an asynchronous copy from or to memory that is not pinned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Scope, own_nodes, scopes
from porter.rules.model import PyFile
from porter.rules.transfers.pinned import pinned, stream_of
from porter.rules.transfers.scopes import assigned, host_arrays

_COPIES = ("copy_to_host", "copy_to_device")
_AS = ("numpy.asarray", "numpy.ascontiguousarray", "numpy.asfortranarray")


class UnpinnedCopy(Rule):
    """
    ## What it does

    Finds copies in a stream whose host array is an ordinary NumPy array made in the same
    function.

    ## Why is this bad?

    The device can copy by itself only from memory that stays in place. From ordinary (pageable)
    memory the driver copies into a buffer of its own first, and the host waits: the copy does
    not overlap with anything, which is what the stream was for, and takes about twice as long.

    ## Example

    ```python
    x = np.zeros(n, dtype=np.float32)
    d_x = cuda.to_device(x, stream=stream)  # PRT505
    ```

    Allocate the array with `x = cuda.pinned_array(n, dtype=np.float32)`, or pin it for the time
    of the copies with `with cuda.pinned(x):`.

    ## Fix safety

    There is no automatic fix: pinned memory is not initialised, and pinning takes time.
    """

    code = "PRT505"
    name = "copy-from-pageable-memory"
    severity = Severity.ADVICE
    VALID = """
        from numba import cuda
        import numpy as np

        s = cuda.stream()
        x = cuda.pinned_array(9, dtype=np.float32)
        d = cuda.to_device(x, stream=s)
        ---
        from numba import cuda
        import numpy as np

        s = cuda.stream()
        x = np.ones(9)
        with cuda.pinned(x):
            d = cuda.to_device(x, stream=s)
            s.synchronize()
        ---
        from numba import cuda
        import numpy as np

        x = np.ones(9)
        d = cuda.to_device(x)
        d.copy_to_host(x, stream=0)
        ---
        from numba import cuda

        def run(x, s):
            d = cuda.to_device(x, stream=s)
        ---
        from numba import cuda
        import numpy as np

        def fill(d, stream=0):
            h = np.ones(9)
            d.copy_to_device(h, stream=stream)
        ---
        from numba import cuda
        import numpy as np

        def fill(x, stream):
            x = np.asarray(x, order="C")
            return cuda.to_device(x, stream=stream)
        """
    INVALID = """
        --- 6:5
        from numba import cuda
        import numpy as np

        s = cuda.stream()
        x = np.ones(9)
        d = cuda.to_device(x, stream=s)
        --- 6:5
        from numba import cuda
        import numpy as np

        def run(d, s):
            h = np.empty(9)
            d.copy_to_host(h, s)
            s.synchronize()
            return h
        """

    def check(self, file: PyFile) -> Findings:
        """The first such copy of each scope, with the other arrays of which the same holds."""
        if "copy_to_" not in file.text and "to_device" not in file.text:
            return
        for scope in scopes(file):
            plain = host_arrays(file, scope) - pinned(file, scope) - _given(file, scope)
            found = [c for c in _copies(file, scope) if c[0] in plain]
            firsts = {name: call for name, call, _ in reversed(found)}
            if not found:
                continue
            name, call, stream = found[0]
            calls = [at for other, at in firsts.items() if other != name]
            calls.sort(key=lambda at: at.lineno)
            yield Finding(
                call,
                f"`{name}` is not pinned: its copy in `{file.code(stream)}` makes the host wait",
                f"allocate `{name}` with cuda.pinned_array, or copy inside"
                f" `with cuda.pinned({name}):`",
                notes=[(at, "nor is this array") for at in calls],
            )


def _given(file: PyFile, scope: Scope) -> set[str]:
    """Names that may stand for an array of the caller's: `np.asarray` returns what it gets."""
    return {n for n, value, _ in assigned(scope) if file.callee(value) in _AS}


def _copies(file: PyFile, scope: Scope) -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """Host array, call and stream of each copy that is given a stream."""
    for node in own_nodes(scope):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if file.callee(node) != "numba.cuda.to_device" and method not in _COPIES:
            continue
        if any(k.arg == "copy" for k in node.keywords):
            # `copy=False` takes the size and the type only
            continue
        host, stream = node.args[0], stream_of(node, 1)
        if isinstance(host, ast.Name) and stream is not None and not _optional(scope, stream):
            yield host.id, node, stream


def _optional(scope: Scope, stream: ast.expr) -> bool:
    """Whether the stream is an argument with a default: most callers may give none."""
    if isinstance(scope, ast.Module):
        return False
    a = scope.args
    plain = [*a.posonlyargs, *a.args]
    last = plain[len(plain) - len(a.defaults) :]
    names = {p.arg for p in last} | {
        p.arg for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None
    }
    return isinstance(stream, ast.Name) and stream.id in names
