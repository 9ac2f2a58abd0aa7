"""PRT506: a result that the host reads before the device has written it."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Scope, own_nodes, scopes
from porter.rules.launches.uses import parameter, uses
from porter.rules.model import PyFile
from porter.rules.transfers.pinned import pinned, shared, stream_of
from porter.rules.transfers.scopes import asked_for_facts, scope_launches

_WAITS = (
    "synchronize",
    "sync",
    "auto_synchronize",
    "wait",
    "query",
    "copy_to_host",
    "add_callback",
)


class ReadBeforeSync(Rule):
    """
    ## What it does

    Finds host code that reads a pinned array after `copy_to_host(array, stream=...)`, or a
    mapped or managed array after a launch that writes it, without synchronization in between.

    ## Why is this bad?

    Launches and copies in a stream return at once, before the work is done. What the host reads
    then is whatever happens to be in memory: old values, new ones, or some of both. The
    simulator does everything in order, so that it never shows this.

    ## Example

    ```python
    h = cuda.pinned_array(n, dtype=np.float32)
    d.copy_to_host(h, stream=stream)
    print(h.sum())  # PRT506
    ```

    Wait first: `stream.synchronize()`.

    ## Fix safety

    There is no automatic fix, since where to wait best depends on the work between.
    """

    code = "PRT506"
    name = "read-before-synchronising"
    severity = Severity.ERROR
    VALID = """
        from numba import cuda

        def run(d, s):
            h = cuda.pinned_array(9)
            d.copy_to_host(h, stream=s)
            s.synchronize()
            print(h.sum())
        ---
        from numba import cuda
        import numpy as np

        def run(d, s):
            h = np.empty(9)
            d.copy_to_host(h, stream=s)
            print(h.sum())
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1

        def run():
            m = cuda.managed_array(9)
            k[1, 9](m)
            cuda.synchronize()
            return m[0]
        ---
        from numba import cuda

        def run(d, s):
            h = cuda.pinned_array(9)
            with s.auto_synchronize():
                d.copy_to_host(h, stream=s)
            print(h.sum())
        """
    INVALID = """
        --- 6:11
        from numba import cuda

        def run(d, s):
            h = cuda.pinned_array(9)
            d.copy_to_host(h, stream=s)
            print(h.sum())
        --- 9:7
        from numba import cuda

        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1

        m = cuda.managed_array(9)
        k[1, 9](m)
        print(m[0])
        """

    def check(self, file: PyFile) -> Findings:
        """The first such read of each array."""
        if not any(word in file.text for word in ("pinned", "mapped_array", "managed_array")):
            return
        for scope in scopes(file):
            yield from self._scope(file, scope)

    def _scope(self, file: PyFile, scope: Scope) -> Findings:
        locked, both = pinned(file, scope), shared(file, scope)
        if not locked and not both:
            return
        written = _written(file, scope, both)
        facts = _looking(scope)
        pending: dict[str, ast.Call] = {}
        skipped = _waited_for(scope)
        for node in own_nodes(scope):
            if isinstance(node, ast.Call) and id(node) not in skipped:
                if id(node) in written or _copies_to(node, locked):
                    names = written.get(id(node)) or [_copies_to(node, locked)]
                    pending |= dict.fromkeys(names, node)
                    skipped |= {id(n) for n in ast.walk(node)}
                elif _may_wait(file, node):
                    pending.clear()
            if not isinstance(node, ast.Name) or node.id not in pending or id(node) in skipped:
                continue
            work = pending.pop(node.id)
            if isinstance(node.ctx, ast.Load) and id(node) not in facts:
                yield Finding(
                    node,
                    f"`{node.id}` is read while the device may still be writing it",
                    "synchronize first: `stream.synchronize()` or `cuda.synchronize()`",
                    notes=[(work, "this returns at once")],
                )


def _waited_for(scope: Scope) -> set[int]:
    """What stands in a `with` block: leaving it may wait for the stream."""
    blocks = [n for n in own_nodes(scope) if isinstance(n, (ast.With, ast.AsyncWith))]
    waiting = [b for b in blocks if any(_locks(i.context_expr) is None for i in b.items)]
    return {id(n) for b in waiting for s in b.body for n in ast.walk(s)}


def _locks(manager: ast.expr) -> str | None:
    """The name of `cuda.pinned(...)`, which waits for nothing; None for other managers."""
    name = getattr(manager.func, "attr", "") if isinstance(manager, ast.Call) else ""
    return name if name in ("pinned", "mapped") else None


def _written(file: PyFile, scope: Scope, both: set[str]) -> dict[int, list[str]]:
    """For each launch the arrays of both sides that its kernel writes."""
    found: dict[int, list[str]] = {}
    for launch in scope_launches(file, scope):
        names = [
            a.id
            for n, a in enumerate(launch.call.args)
            if isinstance(a, ast.Name)
            and a.id in both
            and (target := parameter(launch.kernel, n)) is not None
            and uses(launch.kernel)[target].written
        ]
        if names:
            found[id(launch.call)] = names
    return found


def _copies_to(call: ast.Call, locked: set[str]) -> str:
    """The pinned array that a copy in a stream fills, else empty."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "copy_to_host"):
        return ""
    host = call.args[0] if call.args else None
    name = host.id if isinstance(host, ast.Name) else ""
    return name if name in locked and stream_of(call, 1) is not None else ""


def _may_wait(file: PyFile, call: ast.Call) -> bool:
    """Whether a call waits, or is one of the file's own functions, which may."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _WAITS
    return isinstance(call.func, ast.Name) and file.defined(call.func.id, call.lineno) is not None


def _looking(scope: Scope) -> set[int]:
    """Names of which only facts are asked, or which are handed to someone who may wait."""
    found = asked_for_facts(own_nodes(scope))
    for node in own_nodes(scope):
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            if isinstance(node.value, (ast.Name, ast.Tuple)):
                found |= {id(n) for n in ast.walk(node.value)}
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Subscript, ast.Attribute)):
            # launches and copies take it in the order of the stream
            name = getattr(node.func, "attr", "copy_")
            if name.startswith("copy_") or name == "to_device":
                found |= {id(a) for a in node.args}
    return found
