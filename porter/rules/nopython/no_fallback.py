"""PRT109: a decorator that counts on Numba's removed fallback to object mode."""

from __future__ import annotations

import ast

from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile, is_true
from porter.rules.options import without_option


class NoFallback(Rule):
    """
    ## What it does

    Finds options of `@jit` and `@njit` that have no effect since Numba dropped its fallback
    to object mode: `nopython=False`, `looplift=True` without `forceobj=True`, and `forceobj`
    or `nopython` given to `@njit`.

    ## Why is this bad?

    Until Numba 0.58, `@jit` compiled what it could not type in object mode, and lifted loops
    out of it. Since 0.59 such a function ends with a TypingError, and these options change
    nothing: whoever wrote them expects something else. Object mode has to be asked for, with
    `@jit(forceobj=True)`.

    ## Example

    ```python
    @jit(nopython=False)  # PRT109
    def total(x):
        ...
    ```

    Write `@jit`, or `@jit(forceobj=True)` if you need object mode.

    ## Fix safety

    Safe: the fix removes the option, which Numba ignores.
    """

    code = "PRT109"
    name = "no-object-mode-fallback"
    VALID = """
        from numba import jit

        @jit(forceobj=True, looplift=True)
        def f(x):
            return x
        ---
        from numba import jit

        @jit(nopython=True)
        def f(x):
            return x
        ---
        from numba import jit

        @jit(forceobj=True, nopython=False)
        def f(x):
            return x
        ---
        from numba import njit

        @njit(cache=True)
        def f(x):
            return x
        """
    INVALID = """
        --- 3:6
        from numba import jit

        @jit(nopython=False)
        def f(x):
            return x
        +++
        from numba import jit

        @jit()
        def f(x):
            return x
        --- 3:17
        from numba import njit

        @njit("f8(f8)", forceobj=True, cache=True)  # quick
        def f(x):
            return x
        +++
        from numba import njit

        @njit("f8(f8)", cache=True)  # quick
        def f(x):
            return x
        --- 3:24
        import numba

        @numba.jit(cache=True, looplift=True)
        def f(x):
            return x
        +++
        import numba

        @numba.jit(cache=True)
        def f(x):
            return x
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such option."""
        call = function.decorator
        if function.kind not in (Kind.NOPYTHON, Kind.OBJECT) or not isinstance(call, ast.Call):
            return
        name = file.qualified(call.func) or ""
        for option in call.keywords:
            if _ignored(name.endswith(".njit"), option, function):
                why = "@njit never" if name.endswith(".njit") else "@jit no longer"
                yield Finding(
                    option,
                    f"`{file.code(option)}` has no effect: {why} falls back to object mode",
                    "remove it, or write @jit(forceobj=True) for object mode",
                    fix=without_option(file, call, option),
                )


def _ignored(njit: bool, option: ast.keyword, function: Function) -> bool:
    forced = is_true(function.options.get("forceobj"))
    false = isinstance(option.value, ast.Constant) and option.value.value is False
    if njit:
        return option.arg in ("forceobj", "nopython")
    if option.arg == "nopython":
        return false and not forced
    return option.arg == "looplift" and is_true(option.value) and not forced
