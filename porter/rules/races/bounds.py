"""PRT402: a thread index that is used without a bounds guard."""

from __future__ import annotations

import ast
import math
from functools import partial
from itertools import zip_longest

from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Launch, Values, launches_of
from porter.rules.model import Function, Kind, PyFile, assigned
from porter.rules.races.guard import guard
from porter.rules.threads import Element, Threads, element


class MissingGuard(Rule):
    """
    ## What it does

    Finds kernels that index an array with their position in the grid, without checking that it
    is in bounds.

    ## Why is this bad?

    A grid is made of whole blocks: unless the size is a multiple of the block, the last block
    has threads past the end of the array. They read and write foreign memory; nothing on the
    device reports it.

    ## Example

    ```python
    @cuda.jit
    def increment(x):
        i = cuda.grid(1)
        x[i] += 1  # PRT402
    ```

    Guard the access:

    ```python
    @cuda.jit
    def increment(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1
    ```

    A kernel is not reported if no launch of this file has more threads than the array that it
    passes has elements, with a grid that is not computed by a division: where one is, another
    size will not divide.

    ## Fix safety

    The fix inserts `if i >= x.shape[0]: return` below the line that computes `i`. It is unsafe:
    it takes the size of the first array that is indexed for the bound of all, and threads past
    it do nothing at all any more. There is no fix for kernels with a barrier, which all threads
    must reach, nor for indices such as `x[i + 1]`.
    """

    code = "PRT402"
    name = "missing-bounds-guard"
    VALID = """
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            n = x.shape[0]
            if i >= n:
                return
            x[i] += 1
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            while i < x.size:
                x[i] += 1
                i += cuda.gridsize(1)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                x[i] += 1
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] += 1

        x = np.zeros(4 * 256)
        k[4, 256](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x, out):
            row = cuda.blockIdx.x
            if cuda.threadIdx.x == 0:
                out[row] = x[row, 0]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            y[i % y.size] = x[min(i, x.size - 1)]
        ---
        from numba import cuda

        @cuda.jit
        def k(x, n):
            first = 64 * cuda.blockIdx.x
            tx = cuda.threadIdx.x
            size = min(n - first, 64)
            i = first + tx
            if tx < size:
                x[i] = 0
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i, :] = 0

        x = np.arange(32 * 3).astype(np.float32).reshape((32, 3))
        k[1, 32](x)
        ---
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] += 1

        def run(x):
            k[1, x.shape](x)
            k[1, len(x)](x)
            k[1, 1](cuda.to_device([7]))
        ---
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] += 1

        launch = k[8, 32]
        launch(np.zeros(8 * 32))
        ---
        from numba import cuda
        from mine import make_states

        @cuda.jit
        def k(states):
            i = cuda.grid(1)
            states[i] = 0

        def run(blocks, threads):
            n = blocks * threads
            states = make_states(n)
            k[blocks, threads](states)
        """
    INVALID = """
        --- 7:5
        from numba import cuda
        import numpy as np

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] += 1

        n = 1024
        x = np.zeros(n)
        k[n // 256, 256](x)
        --- 6:5
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] += 1
        +++
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i >= x.shape[0]:
                return
            x[i] += 1
        --- 8:3
        from numba import cuda

        @cuda.jit
        def k(x, y):
          # the element of this thread
          row, column = cuda.grid(2)  # slow
          # and its double
          y[row, column] = 2 * x[row, column]
        +++
        from numba import cuda

        @cuda.jit
        def k(x, y):
          # the element of this thread
          row, column = cuda.grid(2)  # slow
          if row >= y.shape[0] or column >= y.shape[1]:
            return
          # and its double
          y[row, column] = 2 * x[row, column]
        --- 6:5
        from numba import cuda

        @cuda.jit
        def k(x):
            p = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
            x[p] = 0
        --- 7:19
        from numba import cuda

        @cuda.jit
        def k(x, y):
            i, j = cuda.grid(2)
            if i < x.shape[0]:
                y[i, 0] = x[i, j]
        """

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """The first unguarded access of a kernel."""
        if function.kind is not Kind.KERNEL:
            return
        threads = Threads(file, function)
        positions = _positions(threads)
        if not positions:
            return
        for node in function.nodes:
            at = element(node)
            if at is None or at.base not in function.parameters:
                continue
            index, axis = _unguarded(threads, at, positions)
            if not index or _covered(file, function, at, axis):
                continue
            yield Finding(
                at.node,
                f"`{file.code(at.node)}` is accessed without a check that `{index}` is in bounds",
                f"guard it with `if {index} < ...`, or stride over the grid with cuda.gridsize",
                fix=guard(threads, at, positions),
            )
            return


def _positions(threads: Threads) -> set[str]:
    """Names bound to a position in the grid: cuda.grid, or block and thread index combined."""
    return threads.bound_to(partial(_is_position, threads))


def _is_position(threads: Threads, value: ast.expr) -> bool:
    names = {threads.file.qualified(n, threads.function) for n in ast.walk(value)}
    if isinstance(value, ast.Call):
        return "numba.cuda.grid" in names
    if not isinstance(value, ast.BinOp):
        return False
    text = threads.file.code(value)
    direct = "threadIdx" in text and "blockIdx" in text
    return direct or _combines(threads, value)


def _combines(threads: Threads, value: ast.BinOp) -> bool:
    """`tx + ty * bw` with names that stand for the thread, the block and its width."""
    roots: set[str] = set()
    bound = {n: threads.file.code(value) for n, value in assigned(threads.function.nodes)}
    for n in ast.walk(value):
        text = bound.get(n.id, "") if isinstance(n, ast.Name) else ""
        text = threads.file.code(n) if isinstance(n, ast.Attribute) else text
        roots |= {w for w in ("threadIdx", "blockIdx", "blockDim") if w in text}
    return {"threadIdx", "blockIdx"} <= roots and isinstance(value.op, (ast.Add, ast.Sub))


def _unguarded(threads: Threads, at: Element, positions: set[str]) -> tuple[str, int]:
    """The position used as an index here that no condition on the way mentions, and its axis."""
    tests = {n for t in threads.conditions(at.node) for n in _atoms(t)}
    ranged = {n for loop in threads.loops(at.node) for n in _atoms(loop.target)}
    limits = {n for loop in threads.loops(at.node) for n in _atoms(loop.iter)}
    for axis, index in enumerate(at.indices):
        name = index.id if isinstance(index, ast.Name) else None
        if isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub)):
            parts = [p.id for p in (index.left, index.right) if isinstance(p, ast.Name)]
            name = next((p for p in parts if p in positions), None)
        if name not in positions or name in ranged:
            continue
        guarded = _guarded(threads, tests)
        if name in guarded or _limited(threads, name, guarded | ranged, limits):
            continue
        return name, axis
    return "", 0


def _atoms(node: ast.AST) -> set[str]:
    """The names in an expression, and `cuda.threadIdx.x` and its like as a whole."""
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.Attribute) and isinstance(n.value, ast.Attribute):
            found.add(f"{n.value.attr}.{n.attr}")
    return found


def _guarded(threads: Threads, tests: set[str]) -> set[str]:
    """Names that a condition mentions, directly or through a name computed from them."""
    guarded = set(tests)
    while True:
        more = {
            atom
            for name, value in assigned(threads.function.nodes)
            if name in guarded
            for atom in _atoms(value)
        }
        if more <= guarded:
            return guarded
        guarded |= more


def _limited(threads: Threads, name: str, guarded: set[str], limits: set[str]) -> bool:
    """Whether all that differs between threads in a position is limited by some condition."""
    guarded = guarded | _guarded(threads, limits)
    for value in (v for n, v in assigned(threads.function.nodes) if n == name):
        differs = {
            atom
            for n in ast.walk(value)
            if isinstance(n, (ast.Name, ast.Attribute)) and threads.varies(n)
            for atom in _atoms(n)
            if atom in threads.names or "Idx." in atom
        }
        if differs and differs <= guarded:
            return True
    return False


def _covered(file: PyFile, function: Function, at: Element, axis: int) -> bool:
    """Whether no launch in the file has more threads than the array has elements."""
    position = function.parameters.index(at.base)
    mine = launches_of(file, function)
    return bool(mine) and all(_fits(file, x, position, axis) for x in mine)


def _fits(file: PyFile, launch: Launch, position: int, axis: int) -> bool:
    if position >= len(launch.call.args):
        return False
    values, array = Values(file, launch.scope), launch.call.args[position]
    grid, block = values.axes(launch.grid), values.axes(launch.block)
    shape = values.shape(array)
    if _divided(values, launch.grid):
        return False
    if grid is None or block is None or shape is None:
        return _made_for(values, launch, array)
    threads = [g * b for g, b in zip_longest(grid, block, fillvalue=1)]
    along = shape[axis] if axis < len(shape) else 0
    return math.prod(threads) == math.prod(shape) or max(threads) <= along


def _divided(values: Values, grid: ast.expr) -> bool:
    """Whether a grid comes out of a division of the size."""
    given = values.definition(grid)
    parts = given.elts if isinstance(given, ast.Tuple) else [given]
    found = [values.definition(p) for p in parts if p is not None]
    return any(
        isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.FloorDiv))
        for p in found
        if p is not None
        for n in ast.walk(p)
    )


def _made_for(values: Values, launch: Launch, array: ast.expr) -> bool:
    """Whether the text says that there are as many threads as elements: `k[1, x.shape](x)`."""
    file = values.file
    grid, block = file.code(launch.grid), file.code(launch.block)
    if values.integer(launch.grid) == 1:
        totals = {block, _text(values, launch.block)}
    else:
        totals = {f"{grid} * {block}", f"{block} * {grid}"}
    name = file.code(array)
    if totals & {f"{name}.{x}" for x in ("shape", "size", "shape[0]")} | totals & {f"len({name})"}:
        return True
    made = values.definition(array)
    given = [*made.args, *(k.value for k in made.keywords)] if isinstance(made, ast.Call) else []
    texts = [t for g in given for t in (file.code(g), _text(values, g))]
    return any(t == total or t.startswith(f"{total} + ") for t in texts for total in totals)


def _text(values: Values, node: ast.expr) -> str:
    made = values.definition(node)
    return values.file.code(made) if made is not None else values.file.code(node)
