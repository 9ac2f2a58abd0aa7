"""PRT803: a gufunc whose layout does not match its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, Kind, PyFile
from porter.rules.ufuncs.signatures import dimensions, layout_node, returns
from porter.source.layout import Layout, layout


class GufuncLayout(Rule):
    """
    ## What it does

    Finds `@guvectorize` functions whose layout string has a different number of arrays than the
    function has parameters, whose type signatures have different dimensions than the layout,
    whose outputs have a size that no input has, or that return a value.

    ## Why is this bad?

    Each parameter needs its entry in the layout, outputs included: `(i),(i)->()` belongs to
    three parameters, the first two of which have one dimension. Numba refuses what does not
    fit, except for an output declared as a number: that one compiles, and the result is what
    happened to be in memory. A gufunc writes its results into its last parameters, and Numba
    refuses one that returns.

    ## Example

    ```python
    @guvectorize(["(float32[:], float32[:])"], "(i)->()")
    def l2_norm(vec, out):
        return math.sqrt((vec * vec).sum())  # PRT803
    ```

    Write `out[0] = ...`. `porter convert --target gufunc` rewrites a function that returns.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT803"
    name = "gufunc-layout"
    severity = Severity.ERROR
    VALID = """
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x, out):
            out[0] = x[0]
        ---
        from numba import guvectorize

        @guvectorize(['(f4[:,:], f4[:,:], f4[:,:])'], '(m,n),(n,p)->(m,p)')
        def f(a, b, out):
            out[0, 0] = a[0, 0]
        ---
        from numba import guvectorize

        @guvectorize(['(f4[:], f4, f4[:])', 'f8[::1], f8[:], f8[:]'], '(n),()->(n)')
        def f(x, a, out):
            if a == 0:
                return
            out[0] = x[0]
        """
    INVALID = """
        --- 3:34
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x):
            x[0] = 1
        --- 5:5
        from numba import guvectorize

        @guvectorize(['(f4[:], f4[:])'], '(i)->()')
        def f(x, out):
            return x[0]
        --- 3:15
        from numba import guvectorize

        @guvectorize(['void(float64[:,:], float64[:])'], '(n)->()')
        def f(x, out):
            out[0] = x[0, 0]
        --- 3:15
        from numba import float64, guvectorize

        @guvectorize([(float64[:], float64)], '(n)->()')
        def f(x, out):
            out = x[0]
        --- 3:34
        from numba import guvectorize

        @guvectorize(['(f8[:], f8[:])'], '(n)->(m)')
        def f(x, out):
            out[0] = x[0]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The layout, the types that do not fit it, and every `return` with a value."""
        if function.kind is not Kind.GUVECTORIZE:
            return
        node = layout_node(function)
        known = layout(str(node.value)) if node is not None else None
        for at, message, cure in _misfits(file, function, node, known):
            yield Finding(at, message, cure)
        for at in function.nodes:
            if isinstance(at, ast.Return) and at.value is not None:
                message = f"gufunc `{function.name}` returns a value"
                cure = "write it into the last parameter, as `porter convert --target gufunc` does"
                yield Finding(at, message, cure)


Misfit = tuple[ast.AST, str, str]


def _misfits(
    file: PyFile, function: Function, node: ast.Constant | None, known: Layout | None
) -> Iterator[Misfit]:
    if node is None or known is None:
        return
    count, wanted = len(known.arrays), len(function.parameters)
    if count != wanted:
        message = (
            f"layout {file.code(node)} has {count} arrays, `{function.name}` has"
            f" {wanted} parameters"
        )
        yield node, message, "give every parameter its entry, outputs after the arrow"
        return
    for symbol in known.undefined[:1]:
        message = f"layout {file.code(node)} has `{symbol}` in an output only"
        yield node, message, "take the size of every output from an input"
    for signature in function.signatures:
        if signature is not node:
            yield from _types(file, function, signature, known)


def _types(
    file: PyFile, function: Function, signature: ast.expr, known: Layout
) -> Iterator[Misfit]:
    """What of a signature's types does not fit the layout."""
    result = returns(signature)
    if result is not None:
        message = f"a gufunc returns nothing, this signature `{result}`"
        yield signature, message, "leave the return type out"
    dims = dimensions(file, signature)
    if dims is None:
        return
    if len(dims) != len(known.arrays):
        message = (
            f"signature has {len(dims)} types, `{function.name}` {len(known.arrays)} parameters"
        )
        yield signature, message, "give every parameter its type, outputs included"
        return
    for number, (have, symbols) in enumerate(zip(dims, known.arrays, strict=True)):
        name = function.parameters[number]
        here, there = f"`{name}` has {have or 'no'} dimensions in the signature", len(symbols)
        if have != there and (symbols or have > 1):
            message = f"{here}, {there or 'none'} in the layout"
            yield signature, message, "give both the same number of dimensions"
        elif not symbols and not have and number >= known.inputs:
            message = f"output `{name}` is declared as a number, which cannot be written to"
            yield signature, message, "declare it as an array, and write to its element 0"
