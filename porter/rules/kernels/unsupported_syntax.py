"""PRT304: Python that the CUDA target does not have."""

from __future__ import annotations

import ast

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.model import Function, PyFile

_WHAT: dict[type[ast.AST], tuple[str, str]] = {
    ast.List: ("a list", "use a tuple, or cuda.local.array"),
    ast.ListComp: ("a list comprehension", "use a loop and cuda.local.array"),
    ast.Dict: ("a dict", "pass arrays"),
    ast.DictComp: ("a dict comprehension", "pass arrays"),
    ast.Set: ("a set", "use a tuple"),
    ast.SetComp: ("a set comprehension", "use a `for` loop"),
    ast.GeneratorExp: ("a generator expression", "use a `for` loop"),
    ast.JoinedStr: ("an f-string", "print the values themselves"),
    ast.Try: ("`try`", "test the condition before"),
    ast.With: ("`with`", "do it on the host"),
    ast.Yield: ("`yield`", "write the values into an array"),
    ast.YieldFrom: ("`yield from`", "write the values into an array"),
    ast.Delete: ("`del`", "leave it out: the names of a kernel cost nothing"),
    ast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    ast.Starred: ("starred unpacking", "name the elements one by one"),
    ast.Import: ("an import", "import at the top of the module"),
    ast.ImportFrom: ("an import", "import at the top of the module"),
    ast.ClassDef: ("a class", "pass arrays"),
}


class UnsupportedSyntaxInKernel(Rule):
    """
    ## What it does

    Finds Python in device code that the CUDA target cannot compile: lists, dicts, sets,
    comprehensions, f-strings, `try`, `with`, `yield`, `del`, `:=`, starred unpacking.

    ## Why is this bad?

    The kernel does not compile. Numba's simulator takes all of them, so tests that run there
    do not notice.

    ## Example

    ```python
    @cuda.jit
    def weights(x, out):
        i = cuda.grid(1)
        w = [0.25, 0.5, 0.25]  # PRT304
        ...
    ```

    Use a tuple: `w = (0.25, 0.5, 0.25)`.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT304"
    name = "unsupported-syntax-in-kernel"
    severity = Severity.ERROR
    VALID = """
        def f(x):
            return [v for v in x]
        ---
        from numba import njit

        @njit
        def f(x):
            return [v for v in x]
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            w = (0.25, 0.5)
            if i < x.size:
                x[i] = w[0]
        ---
        from numba import cuda

        @cuda.jit(device=True)
        def apply(function, *args):
            return function(*args)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                x[i, j] = 1
        """
    INVALID = """
        --- 6:9
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            w = [0.25, 0.5]
            if i < x.size:
                x[i] = w[0]
        --- 5:5
        from numba import cuda

        @cuda.jit(device=True)
        def f(a):
            try:
                return 1 / a
            except Exception:
                return 0.0
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every such statement or expression, the outermost ones."""
        if not function.on_device:
            return
        inside: set[int] = set()
        passed: set[int] = set()
        for node in function.nodes:
            found = _WHAT.get(type(node))
            store = isinstance(getattr(node, "ctx", None), ast.Store)
            if isinstance(node, ast.Call):
                passed |= {id(a) for a in node.args}
            if found is None or id(node) in inside or (isinstance(node, ast.List) and store):
                continue
            if isinstance(node, ast.Starred) and id(node) in passed:
                # `f(*a)` compiles for a tuple, which is all that a kernel can have
                continue
            inside |= {id(n) for n in ast.walk(node) if isinstance(n, ast.expr)}
            message = f"the CUDA target cannot compile {found[0]}"
            yield Finding(node, message, found[1])
