"""PRT504: an output that is copied to the device, where it is only overwritten."""

from __future__ import annotations

import ast

from porter.diagnostics import Fix, Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Launch, Scope, own_nodes, scopes
from porter.rules.launches.uses import parameter, uses
from porter.rules.model import Function, PyFile, uses_of
from porter.rules.threads import Threads
from porter.rules.transfers.scopes import (
    asked_for_facts,
    assigned,
    loads,
    scope_launches,
)

_UNSET = ("numpy.empty", "numpy.empty_like")
_FILLED = ("numpy.zeros", "numpy.zeros_like", "numpy.ones", "numpy.ones_like", "numpy.full")


class OverwrittenCopy(Rule):
    """
    ## What it does

    Finds `cuda.to_device(out)` where `out` is a fresh array (`np.empty`, `np.zeros`, ...), and
    the first kernel that takes it writes its elements without reading any.

    ## Why is this bad?

    The copy moves values over the bus that nobody looks at. An output needs memory on the
    device, not contents.

    ## Example

    ```python
    out = np.empty(n, dtype=np.float32)
    d_out = cuda.to_device(out)  # PRT504
    kernel[blocks, threads](d_x, d_out)
    d_out.copy_to_host(out)
    ```

    Write `d_out = cuda.device_array_like(out)`.

    ## Fix safety

    The fix puts `cuda.device_array_like` in place of `cuda.to_device`. It is safe for arrays
    from `np.empty`, which have no contents to lose, and unsafe for the others: elements that no
    thread writes would not be zero any more.
    """

    code = "PRT504"
    name = "copied-to-be-overwritten"
    severity = Severity.ADVICE
    VALID = """
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        def run(x):
            out = np.empty(9)
            d_out = cuda.device_array_like(out)
            k[1, 32](x, d_out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] += x[i]

        def run(x):
            d_out = cuda.to_device(np.zeros(9))
            k[1, 32](x, d_out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if 0 < i < x.size - 1:
                out[i] = x[i]

        def run(x):
            d_out = cuda.to_device(np.zeros(9))
            k[1, 32](x, d_out)
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        def run(x):
            out = np.empty(9)
            out[:] = 3
            d_out = cuda.to_device(out)
            d_out.copy_to_host(x)
            k[1, 32](x, d_out)
        """
    INVALID = """
        --- 12:13
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        def run(x):
            out = np.empty(9)
            d_out = cuda.to_device(out)  # room for the result
            k[1, 32](x, d_out)
            return d_out.copy_to_host(out)
        +++
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i]

        def run(x):
            out = np.empty(9)
            d_out = cuda.device_array_like(out)  # room for the result
            k[1, 32](x, d_out)
            return d_out.copy_to_host(out)
        --- 12:13
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i, j = cuda.grid(2)
            if i >= x.shape[0] or j >= x.shape[1]:
                return
            out[i, j] = x[i, j]

        def run(x, s):
            d_out = cuda.to_device(np.zeros_like(x), stream=s)
            k[1, (8, 8), s](x, d_out)
        +++
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x, out):
            i, j = cuda.grid(2)
            if i >= x.shape[0] or j >= x.shape[1]:
                return
            out[i, j] = x[i, j]

        def run(x, s):
            d_out = cuda.device_array_like(np.zeros_like(x), stream=s)
            k[1, (8, 8), s](x, d_out)
        """

    def check(self, file: PyFile) -> Findings:
        """Every such copy."""
        if "to_device" not in file.text:
            return
        for scope in scopes(file):
            for name, value, line in assigned(scope):
                if file.callee(value) != "numba.cuda.to_device":
                    continue
                assert isinstance(value, ast.Call)
                if any(k.arg in ("copy", "to") for k in value.keywords):
                    continue
                made = _made(file, scope, value)
                launch = _first(file, scope, name, line) if made else None
                if launch is None or not _wasted(file, launch, name, made in _UNSET):
                    continue
                yield Finding(
                    value,
                    f"`{name}` is copied to the device, where it is only overwritten",
                    f"allocate it there: `cuda.device_array_like({file.code(value.args[0])})`",
                    notes=[(launch.call, "overwritten here")],
                    fix=_fix(file, value, made in _UNSET),
                )


def _made(file: PyFile, scope: Scope, copy: ast.Call) -> str:
    """The NumPy function that made a copied array, if it holds what that left in it."""
    source = copy.args[0] if copy.args else None
    if not isinstance(source, ast.Name):
        name = file.callee(source)
        return name if name in (*_UNSET, *_FILLED) else ""
    values = [file.callee(v) for n, v, _ in assigned(scope) if n == source.id]
    bound = [n for n in uses_of(source.id, own_nodes(scope)) if isinstance(n.ctx, ast.Store)]
    if len(values) != 1 or len(bound) != 1 or values[0] not in (*_UNSET, *_FILLED):
        return ""
    return values[0] if _untouched(scope, source, copy) else ""


def _untouched(scope: Scope, source: ast.Name, copy: ast.Call) -> bool:
    """Whether nothing above the copy does more with the array than to ask for its facts."""
    facts = asked_for_facts(own_nodes(scope))
    return not any(
        n is not source and n.lineno <= copy.lineno and id(n) not in facts
        for n in loads(scope, source.id)
    )


def _first(file: PyFile, scope: Scope, name: str, line: int) -> Launch | None:
    """The launch that is the first to use an array, and surely runs."""
    used = [n for n in uses_of(name, own_nodes(scope)) if n.lineno >= line]
    bound = [n for n in used if isinstance(n.ctx, ast.Store)]
    for launch in scope_launches(file, scope):
        if launch.call.lineno < line:
            continue
        taken = [a for a in launch.call.args if isinstance(a, ast.Name) and a.id == name]
        if taken:
            above = [n for n in used if n not in bound and n.lineno < launch.call.lineno]
            straight = launch.call.col_offset == bound[0].col_offset
            return launch if straight and not above and len(taken) == 1 else None
    return None


def _wasted(file: PyFile, launch: Launch, name: str, unset: bool) -> bool:
    """Whether the kernel reads nothing of what was copied, nor leaves any of it."""
    at = next(n for n, a in enumerate(launch.call.args) if isinstance(a, ast.Name) and a.id == name)
    target = parameter(launch.kernel, at)
    if target is None or not uses(launch.kernel)[target].only_written:
        return False
    return unset or _covers(file, launch.kernel, target)


def _covers(file: PyFile, kernel: Function, target: str) -> bool:
    """Whether the threads write every element: their own, for all within the bounds."""
    threads = Threads(file, kernel)
    return all(
        all(isinstance(i, ast.Name) for i in w.element.indices)
        and not list(threads.loops(w.statement))
        and all(_bound(t) for t in threads.conditions(w.statement))
        for w in threads.writes
        if w.element.base == target
    )


def _bound(test: ast.expr) -> bool:
    """Whether a condition is an upper bound and nothing else."""
    if isinstance(test, ast.BoolOp):
        return all(_bound(v) for v in test.values)
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return False
    sizes = (ast.Attribute, ast.Subscript, ast.Call)
    right = test.comparators[0]
    return (
        isinstance(test.ops[0], (ast.Lt, ast.GtE))
        and isinstance(test.left, ast.Name)
        and isinstance(right, sizes)
    )


def _fix(file: PyFile, copy: ast.Call, safe: bool) -> Fix | None:
    keywords = {k.arg for k in copy.keywords}
    if not isinstance(copy.func, ast.Attribute) or keywords - {"stream"} or len(copy.args) > 2:
        return None
    return Fix(file.span(copy.func), f"{file.code(copy.func.value)}.device_array_like", safe)
