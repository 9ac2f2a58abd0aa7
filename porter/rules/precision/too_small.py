"""PRT705: too little work to pay for the way to the device and back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.diagnostics import Severity
from porter.rules.base import Finding, Findings, Rule
from porter.rules.launches.sites import Scope, Values, own_nodes, scopes
from porter.rules.launches.uses import uses
from porter.rules.model import Function, Kind, PyFile
from porter.rules.transfers.scopes import cuda_ufunc, device_arrays, host_arrays, scope_launches

#: one copy, or one launch, of no bytes: what Numba, the driver and the bus take (seconds)
LATENCY = 10e-6
#: a copy's bytes a second from pageable memory over PCIe
BANDWIDTH = 12e9
#: one arithmetic operation on one element in NumPy (seconds), and how many a function such as
#: `exp` stands for
OPERATION = 1e-9
FUNCTION = 10
#: the most bytes that an element has in common
ELEMENT = 8
#: reported when the CPU is at least this much faster by the figures above
MARGIN = 10


@dataclass(frozen=True)
class _Cost:
    """What a call costs: elements, bytes copied, seconds on the CPU and with the device."""

    elements: int
    bytes: int
    cpu: float
    gpu: float


class TooSmall(Rule):
    """
    ## What it does

    Finds launches and CUDA ufuncs on NumPy arrays that are so small, according to the sizes in
    the file, that copying them takes ten times as long as the work on the CPU.

    ## Why is this bad?

    A copy and a launch take some 10 microseconds each before the first byte moves; in that time
    a CPU does ten thousand additions. Small arrays are faster in NumPy.

    The estimate: 10 microseconds for the launch and for each copy, 12 GB/s for the bytes, and
    one nanosecond on the CPU for each operation on each element (ten for functions such as
    `exp`). Functions with loops, and calls in tests, are not judged.

    ## Example

    ```python
    a = np.array([1, 2, 3, 4])
    add_ufunc(a, a)  # PRT705
    ```

    Call the NumPy function, or give the device more to do: larger arrays, or data that is there
    already and stays there.

    ## Fix safety

    There is no automatic fix.
    """

    code = "PRT705"
    name = "too-small-for-the-device"
    severity = Severity.ADVICE
    VALID = """
        import numpy as np
        from numba import vectorize

        @vectorize(["f4(f4, f4)"], target="cuda")
        def f(x, y):
            return x + y

        x = np.ones(1_000_000)
        f(x, x)
        ---
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1

        d = cuda.to_device(np.ones(100))
        k[4, 32](d)
        ---
        import numpy as np
        from numba import vectorize

        @vectorize(["i8(i8)"], target="cuda")
        def f(x):
            n = 0
            while n * n < x:
                n += 1
            return n

        x = np.arange(100)
        f(x)
        ---
        import numpy as np
        from numba import vectorize

        @vectorize(["f4(f4, f4)"], target="cuda")
        def f(x, y):
            return x + y

        def test_f():
            x = np.ones(10)
            f(x, x)
        """
    INVALID = """
        --- 9:1
        import numpy as np
        from numba import vectorize

        @vectorize(["i8(i8, i8)"], target="cuda")
        def f(x, y):
            return x + y

        x = np.array([1, 2, 3, 4])
        f(x, x)
        --- 12:5
        import numpy as np
        from numba import cuda

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1

        def main():
            x = np.zeros(200)
            k[7, 32](x)
            print(x)
        """

    def check(self, file: PyFile) -> Findings:
        """The first such call of each function."""
        if "cuda" not in file.text or Path(file.path).name.startswith("test"):
            return
        said: set[str] = set()
        for scope in scopes(file):
            if not isinstance(scope, ast.Module) and scope.name.startswith("test"):
                continue
            for call, function in _calls(file, scope):
                cost = _cost(file, scope, call, function)
                if cost is None or function.name in said or cost.cpu * MARGIN > cost.gpu:
                    continue
                said.add(function.name)
                yield Finding(
                    call,
                    f"{_time(cost.gpu)} for the device, {_time(cost.cpu)} for the CPU:"
                    f" {cost.elements:,} elements are too few",
                    f"use NumPy for arrays this small ({cost.bytes:,} bytes are copied), or keep"
                    " more data on the device",
                )


def _calls(file: PyFile, scope: Scope) -> Iterator[tuple[ast.Call, Function]]:
    for launch in scope_launches(file, scope):
        yield launch.call, launch.kernel
    for node in own_nodes(scope):
        function = cuda_ufunc(file, node) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and function and not node.keywords:
            yield node, function


def _cost(file: PyFile, scope: Scope, call: ast.Call, function: Function) -> _Cost | None:
    """The estimate; None when an array's size or the work for an element is not known."""
    work = _work(file, function)
    names = [a.id for a in call.args if isinstance(a, ast.Name)]
    hosts, values = host_arrays(file, scope), Values(file, scope)
    if work is None or not names or set(names) & device_arrays(file, scope):
        return None
    sizes = [values.size(a) for a in call.args if isinstance(a, ast.Name) and a.id in hosts]
    known = [s for s in sizes if s is not None]
    if not known or len(known) != len(sizes) or len(known) != len(names):
        return None
    # a kernel's arrays are copied back, a ufunc's result is
    copies = 2 * len(known) if function.kind is Kind.KERNEL else len(known) + 1
    moved = ELEMENT * max(known) * copies
    gpu = LATENCY * (copies + 1) + moved / BANDWIDTH
    return _Cost(max(known), moved, max(known) * work * OPERATION, gpu)


def _work(file: PyFile, function: Function, depth: int = 0) -> int | None:
    """Operations for one element; None when a loop or an unknown call hides how many."""
    count = 0
    for node in function.nodes:
        if isinstance(node, (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)):
            return None
        if isinstance(node, (ast.BinOp, ast.AugAssign, ast.Compare)):
            count += 1
        elif isinstance(node, ast.Call):
            if (file.qualified(node.func, function) or "").startswith("numba.cuda."):
                continue
            named = isinstance(node.func, ast.Name)
            callee = file.defined(node.func.id, node.lineno) if named else None  # type: ignore[attr-defined]
            more = _work(file, callee, depth + 1) if callee and depth < 4 else FUNCTION
            if more is None or callee is function:
                return None
            count += more
    reads = any(uses(function)[p].read for p in function.parameters)
    return max(count, 1) if reads or function.kind is not Kind.KERNEL else None


def _time(seconds: float) -> str:
    """A time with two digits: `0.05 us`, `31 us`, `1.2 ms`."""
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.1f} ms"
    micro = seconds * 1e6
    return f"{micro:.0f} us" if micro >= 10 else f"{max(micro, 0.01):.2f} us"
