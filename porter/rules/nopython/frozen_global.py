"""PRT110: a global that changes after Numba has compiled its value in."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import COMPILED, FUNCTIONS, Function, PyFile, stored


class FrozenGlobal(Rule):
    """
    ## What it does

    Finds compiled functions that read a global variable that another function of the file
    assigns (`global step; step = ...`).

    ## Why is this bad?

    Numba takes the value of a global when it compiles the function, and keeps it. Later
    assignments are not seen, without any message: the results are those of the old value.

    ## Example

    ```python
    step = 0.1

    def refine():
        global step
        step = step / 2

    @njit
    def advance(x):
        return x + step  # PRT110
    ```

    Pass the value as an argument.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT110"
    name = "frozen-global"
    VALID = """
        from numba import njit

        STEP = 0.1

        @njit
        def f(x):
            return x + STEP
        ---
        from numba import njit

        step = 0.1

        def refine():
            global step
            step = step / 2

        @njit
        def f(x, step):
            return x + step
        ---
        step = 0.1

        def refine():
            global step
            step = step / 2

        def f(x):
            return x + step
        ---
        from numba import njit

        _compiled = None

        def get():
            global _compiled
            _compiled = njit(lambda v: v)
            return _compiled

        @njit
        def f(x):
            return _compiled(x)
        """
    INVALID = """
        --- 11:16
        from numba import njit

        step = 0.1

        def refine():
            global step
            step = step / 2

        @njit
        def f(x):
            return x + step
        --- 13:16
        from numba import cuda

        count = 0

        def more():
            global count
            count += 1

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = count
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first read of each such global."""
        if function.kind not in COMPILED:
            return
        changed = _assigned_globals(file)
        called = {call.func for call in function.calls}
        seen: set[str] = set()
        for node in function.nodes:
            if not isinstance(node, ast.Name) or node.id not in changed or node in called:
                continue
            if node.id in function.local_names or node.id in seen:
                continue
            seen.add(node.id)
            yield Finding(
                node,
                f"`{function.name}` keeps the value that `{node.id}` has when it is compiled",
                "pass it as an argument",
                notes=[(changed[node.id], "assigned here")],
            )


def _assigned_globals(file: PyFile) -> dict[str, ast.AST]:
    """The globals that functions assign, with the first such assignment."""
    if "global " not in file.text:
        return {}
    found: dict[str, ast.AST] = {}
    for function in file.functions:
        shared = {n for s in function.nodes if isinstance(s, ast.Global) for n in s.names}
        for node in function.nodes:
            if isinstance(node, ast.Name) and node.id in shared:
                if isinstance(node.ctx, ast.Store) and _at_module(file, node.id):
                    found.setdefault(node.id, node)
    return found


def _at_module(file: PyFile, name: str) -> bool:
    """Whether the module itself gives the global a plain value, and it is no function."""
    return name not in file.by_name and any(
        name in stored(ast.walk(s))
        for s in file.tree.body
        if not isinstance(s, (*FUNCTIONS, ast.ClassDef))
    )
