"""Kernels whose updates meet in a small array: each block has its own, and adds it at the end.

Updates in shared memory are many times faster than those in global memory, above all where
many threads meet in few elements.  The grid is no larger than keeps the processors busy, so
that few blocks have to add theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter import ir
from porter.codegen.kernel.domains import product, unflatten
from porter.codegen.kernel.writer import Writer
from porter.schedule.nodes import Kernel
from porter.schedule.private import private_targets

if TYPE_CHECKING:
    from porter.codegen.kernel.kernels import KernelTexts, Written


def write_private(texts: KernelTexts, kernel: Kernel) -> Written:
    """The text of a kernel of the kind `private`."""
    w = texts.writer(kernel)
    for a in kernel.axes:
        w.index(a.name)
    targets = [texts.buffers[n] for n in private_targets(kernel.body, texts.buffers)]
    for b in targets:
        w.private[b.name] = w.fresh(f"block_{b.name}")
        sizes = [str(n.constant) for n in b.shape]
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        w.emit(f"{w.private[b.name]} = cuda.shared.array({shape}, {w.shared_type(b.dtype)})")
    for b in targets:
        _each(w, b, f"{w.private[b.name]}[{{0}}] = {w.expr(_zero(b))}")
    w.emit("cuda.syncthreads()")
    depth = w.indent
    if len(kernel.axes) == 1:
        (a,) = kernel.axes
        lo = w.poly(a.lo)
        start = "cuda.grid(1)" if lo == "0" else f"{lo} + cuda.grid(1)"
        w.emit(f"for {w.index(a.name)} in range({start}, {w.poly(a.hi)}, cuda.gridsize(1)):")
        w.indent += 1
    else:
        element = w.fresh("element")
        total = w.poly(product([a.extent for a in kernel.axes]))
        w.emit(f"for {element} in range(cuda.grid(1), {total}, cuda.gridsize(1)):")
        w.indent += 1
        unflatten(w, element, kernel.axes)
    w.block(kernel.body)
    w.indent = depth
    w.emit("cuda.syncthreads()")
    for b in targets:
        own = w.private[b.name]
        _each(w, b, f"cuda.atomic.add({b.name}, {{1}}, {own}[{{0}}])")
    return texts.render(w, kernel, "private", [product([a.extent for a in kernel.axes])])


def _zero(b: ir.Buffer) -> ir.Const:
    return ir.Const(0.0 if b.dtype.kind == "f" else 0, b.dtype)


def _each(w: Writer, b: ir.Buffer, line: str) -> None:
    """A line for each element of a small array, shared among the threads of the block."""
    depth = w.indent
    axes = [ir.Axis(f"{b.name}_{d}_", n) for d, n in enumerate(b.shape)]
    names = [w.index(a.name) for a in axes]
    flat = names[0] if len(axes) == 1 else w.fresh("cell")
    total = w.poly(product(b.shape))
    w.emit(f"for {flat} in range(cuda.threadIdx.x, {total}, cuda.blockDim.x):")
    w.indent += 1
    if len(axes) > 1:
        unflatten(w, flat, axes)
    index = ", ".join(names)
    w.emit(line.format(index, f"({index})" if len(axes) > 1 else index))
    w.indent = depth
