"""Running folds by blocks of threads: tiles of a line, each continuing from the one before.

The inclusive scan of a tile is that of W. D. Hillis and G. L. Steele (Data parallel
algorithms, 1986).  Many lines have a block each.  A single long line is cut into as many
parts as there are blocks: one launch folds every part, the next one scans them, each block
starting from the fold of the parts before its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from porter import ir
from porter.analyses.scans import neutral
from porter.codegen.kernel.domains import product, unflatten
from porter.codegen.kernel.writer import Writer
from porter.schedule.nodes import Fold, Kernel
from porter.sizes.polynomial import Integer, Poly, sym

if TYPE_CHECKING:
    from porter.codegen.kernel.kernels import KernelTexts, Written


class Scan:
    """The kernels of one running fold."""

    def __init__(self, texts: KernelTexts, kernel: Kernel) -> None:
        fold = kernel.steps[0]
        assert isinstance(fold, Fold) and isinstance(fold.store, ir.Write)
        self.texts, self.kernel, self.fold, self.store = texts, kernel, fold, fold.store
        self.name, r = fold.reductions[0]
        assert isinstance(r, ir.Scan)
        self.r = r
        self.axis = next(a for a in kernel.axes if a.name == r.along)
        self.lines = tuple(a for a in kernel.axes if a.name != self.axis.name)

    def write(self) -> Written:
        """The kernel over lines; of a single line, the first of its two kernels."""
        if not self.lines:
            return self._parts()
        texts, kernel = self.texts, self.kernel
        w = texts.writer(kernel)
        scratch = texts.scratch(w, kernel)
        total = product(a.extent for a in self.lines)
        self._line_loop(w)
        before = w.fresh("before")
        w.comment(self.fold.origin)
        w.emit(f"{before} = {self._start(w)}")
        self._tiles(w, before, scratch, w.poly(self.axis.lo), w.poly(self.axis.hi))
        written = texts.render(w, kernel, "scan", [total, self.axis.extent])
        written.width = self.axis.extent
        return written

    # -- pieces ------------------------------------------------------------------------

    def _line_loop(self, w: Writer) -> None:
        if len(self.lines) == 1:
            a = self.lines[0]
            lo = w.poly(a.lo)
            start = "cuda.blockIdx.x" if lo == "0" else f"{lo} + cuda.blockIdx.x"
            w.emit(f"for {w.index(a.name)} in range({start}, {w.poly(a.hi)}, cuda.gridDim.x):")
            w.indent += 1
            return
        line, total = w.fresh("line"), w.poly(product(a.extent for a in self.lines))
        w.emit(f"for {line} in range(cuda.blockIdx.x, {total}, cuda.gridDim.x):")
        w.indent += 1
        unflatten(w, line, self.lines)

    def _start(self, w: Writer) -> str:
        """What the fold of nothing is; of integers, an extreme starts from the first element."""
        if self.r.op in ("max", "min") and self.r.dtype.kind in "iu":
            return w.initial(self.r)
        return w.expr(ir.Const(neutral(self.r.op, self.r.dtype), self.r.dtype))

    def _tiles(
        self, w: Writer, before: str, scratch: dict[str, str], first: str, last: str
    ) -> None:
        """A tile of the line after the other; `before` is the fold of all earlier ones."""
        r, name = self.r, self.name
        shared = scratch[w.shared_type(r.dtype)]
        helper = f"scan_{r.op}"
        self.texts.needs.helpers.add(helper)
        tile, depth = w.fresh("tile"), w.indent
        w.emit(f"for {tile} in range({first}, {last}, cuda.blockDim.x):")
        w.indent += 1
        index = w.index(self.axis.name)
        w.emit(f"{index} = {tile} + cuda.threadIdx.x")
        own = before
        if r.op in ("sum", "prod"):
            own = f"{before} if cuda.threadIdx.x == 0 else {self._start(w)}"
        w.emit(f"{name} = {own}")
        w.emit(f"if {index} < {last}:")
        w.indent += 1
        w.names[r.axes[0].name] = index
        w.emit(w.fold(r, name, w.expr(r.body)))
        w.indent -= 1
        w.emit(f"{name} = {helper}({name}, {shared})")
        w.emit(f"if {index} < {last}:")
        w.indent += 1
        w.block([replace(self.store, axes=(), body=self.fold.value)])
        w.indent -= 1
        w.emit(f"{before} = {shared}[cuda.blockDim.x - 1]")
        w.emit("cuda.syncthreads()")
        w.indent = depth

    # -- a single line -----------------------------------------------------------------

    def _range(self, w: Writer) -> tuple[str, str]:
        """This block's part of the line: equal parts, the last ones shorter or empty."""
        size, first, last = w.fresh("size"), w.fresh("first"), w.fresh("last")
        lo, hi = w.poly(self.axis.lo), w.poly(self.axis.hi)
        w.emit(f"{size} = ({w.poly(self.axis.extent)} + cuda.gridDim.x - 1) // cuda.gridDim.x")
        begin = f"cuda.blockIdx.x * {size}"
        w.emit(f"{first} = {begin if lo == '0' else f'{lo} + {begin}'}")
        w.emit(f"{last} = {first} + {size} if {first} + {size} < {hi} else {hi}")
        return first, last

    def _parts(self) -> Written:
        """The first kernel: the fold of every part."""
        r, texts = self.r, self.texts
        fold = replace(self.fold, value=ir.Local(self.name, r.dtype), store=None)
        part = replace(self.kernel, name=f"{self.kernel.name}_parts", axes=(), steps=(fold,))
        w = texts.writer(part)
        scratch = texts.scratch(w, part)
        first, last = self._range(w)
        w.comment(self.fold.origin)
        w.emit(f"{self.name} = {self._start(w)}")
        index = w.index(r.axes[0].name)
        w.emit(f"for {index} in range({first} + cuda.threadIdx.x, {last}, cuda.blockDim.x):")
        w.indent += 1
        w.emit(w.fold(r, self.name, w.expr(r.body)))
        w.indent -= 1
        texts.join(w, self.name, r, scratch)
        partial = w.fresh(f"{self.name}_parts")
        w.emit("if cuda.threadIdx.x == 0:")
        w.emit(f"    {partial}[cuda.blockIdx.x] = {self.name}")
        extent = [self.axis.extent]
        written = texts.render(w, part, "line", extent, partial_names=[partial])
        written.partials = [r.dtype]
        written.finish = self._whole(partial)
        return written

    def _whole(self, partial: str) -> Written:
        """The second kernel: the scan, each block starting from the parts before its own."""
        count = Poly.atom(Integer("parts", True))
        texts, kernel = (
            self.texts.with_array(ir.Buffer(partial, (count,), self.r.dtype)),
            self.kernel,
        )
        w = texts.writer(kernel)
        w.array(partial)
        scratch = texts.scratch(w, kernel)
        first, last = self._range(w)
        w.comment(self.fold.origin)
        before = w.fresh("before")
        w.emit(f"{before} = {self._start(w)}")
        w.index(self.axis.name)
        k = ir.Axis("part_", count)
        each = ir.Reduce(self.r.op, (k,), ir.Load(partial, (sym(k.name, True),), self.r.dtype),
                      self.r.dtype)  # fmt: skip
        w.names[k.name] = w.fresh("part")
        w.emit(
            f"for {w.names[k.name]} in range(cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x):"
        )
        w.indent += 1
        w.emit(w.fold(each, before, w.expr(each.body)))
        w.indent -= 1
        texts.join(w, before, each, scratch)
        self._tiles(w, before, scratch, first, last)
        return texts.render(w, kernel, "line", [self.axis.extent])


def write_scan(texts: KernelTexts, kernel: Kernel) -> Written:
    """The kernels of one running fold."""
    return Scan(texts, kernel).write()
