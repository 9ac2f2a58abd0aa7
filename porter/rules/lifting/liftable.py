"""PRT201: a loop that can be compiled, in a function that cannot."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.lifting.loops import (
    counts,
    falls_back,
    obstacle,
    only_numbers,
    outer_loops,
    title,
    works_on_arrays,
)
from porter.rules.lifting.outline import all_compiles, outlined
from porter.rules.model import Function, Kind, PyFile


class LiftableLoop(Rule):
    """
    ## What it does

    Finds loops over array elements that could be compiled on their own, in a function that
    cannot be compiled because of a call elsewhere in it.

    ## Why is this bad?

    Numba lifts such a loop out only in object mode (`forceobj=True`); without it the whole
    function fails to compile, and undecorated it runs in the interpreter. Moved into a
    function of its own, the loop compiles, and is the part that can go to the GPU.

    ## Example

    ```python
    def hash_computation(x):
        for i in range(len(x)):  # PRT201
            x[i] = x[i] ** 2
        return hashlib.md5(x).digest()
    ```

    Outline the loop:

    ```python
    @njit
    def square(x):
        for i in range(len(x)):
            x[i] = x[i] ** 2

    def hash_computation(x):
        square(x)
        return hashlib.md5(x).digest()
    ```

    ## Fix safety

    The fix moves the loop into an `@njit` function above, with the names that it reads as
    parameters and those that are read after it as results, and takes `@jit` from the
    function, which does not compile with it. It is offered where all of the loop is known to
    compile. It is unsafe: whether it compiles depends on the types of the arguments, and a
    number that comes back is Python's instead of NumPy's.
    """

    code = "PRT201"
    name = "liftable-loop"
    severity = Severity.ADVICE
    VALID = """
        from numba import njit

        @njit
        def f(x):
            for i in range(len(x)):
                x[i] = 1
        ---
        import hashlib

        def f(x):
            square(x)
            return hashlib.md5(x).digest()
        ---
        import os

        def f(names):
            for n in names:
                os.remove(n)
        ---
        import logging

        def f(rows):
            for r in rows:
                k = r['key']
            logging.info('done')
        ---
        import hashlib
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            for i in range(len(x)):
                x[i] = hashlib.md5(x[i]).digest_size
        ---
        import torch

        def f(sizes):
            layers = []
            for i in range(len(sizes) - 1):
                layers.append(make(sizes[i], sizes[i + 1]))
            return torch.nn.Sequential(*layers)
        ---
        import copy

        def f(table):
            old = copy.deepcopy(table)
            for v in old:
                for w in old[v]:
                    table[v] |= table[w]
        ---
        import cupy

        def f(x):
            x = cupy.asarray(x)
            for i in range(len(x) - 1):
                x[i] = x[i] + 1
        """
    INVALID = """
        --- 6:5
        import hashlib
        from numba import jit

        @jit
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] ** 2
            return hashlib.md5(x).digest()
        +++
        import hashlib
        from numba import jit
        from numba import njit

        @njit
        def f_loop(x):
            for i in range(len(x)):
                x[i] = x[i] ** 2


        def f(x):
            f_loop(x)
            return hashlib.md5(x).digest()
        --- 5:9
        import hashlib

        def f(x):
            if len(x):
                for i in range(len(x)):
                    x[i] += 1
            return hashlib.md5(x).digest()
        +++
        import hashlib
        from numba import njit

        @njit
        def f_loop(x):
            for i in range(len(x)):
                x[i] += 1


        def f(x):
            if len(x):
                f_loop(x)
            return hashlib.md5(x).digest()
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every loop that could be compiled on its own."""
        outer = list(outer_loops(function))
        # most functions have no loops, and looking at all of their calls takes time
        if function.kind is Kind.PLAIN:
            outer = [loop for loop in outer if counts(loop)]
        call = falls_back(file, function) if outer else None
        if call is None:
            return
        loops = [
            loop
            for loop in outer
            if works_on_arrays(function, loop)
            and _certain(file, function, loop)
            # of code that is not compiled it is certain only when all names are known
            and (function.kind is not Kind.PLAIN or only_numbers(file, function, loop))
        ]
        for number, loop in enumerate(loops, len(loops) > 1):
            yield Finding(
                loop,
                f"{title(file, loop)} could be compiled, but `{call}` keeps"
                f" `{function.name}` in object mode",
                "move the loop into a separate @njit function and call that",
                fix=outlined(file, function, loop, number),
            )


def _certain(file: PyFile, function: Function, loop: ast.For | ast.While) -> bool:
    """Whether nothing keeps a loop from lifting; of a function that nobody asked Numba to
    compile, all of the loop has to be known, since most such loops are about objects."""
    if obstacle(file, function, loop) is not None:
        return False
    return function.kind is not Kind.PLAIN or (counts(loop) and all_compiles(file, function, loop))
