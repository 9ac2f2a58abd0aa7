"""Kernel shapes: a thread per element, a block per row, a total, a tile (others have files)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import jinja2

from porter import ir
from porter.analyses.accesses import accesses, expressions
from porter.analyses.reductions import contraction
from porter.codegen.kernel.blocks import write_block
from porter.codegen.kernel.domains import product, unflatten
from porter.codegen.kernel.private import write_private
from porter.codegen.kernel.scans import write_scan
from porter.codegen.kernel.writer import Needs, Writer
from porter.dtypes.dtype import DType
from porter.ir.walk import free_names, loaded, rewrite, statements, substitute, walk
from porter.schedule.nodes import Fold, Kernel
from porter.sizes.polynomial import Integer, Poly, sym


@dataclass
class Written:
    """The text of a kernel and what its launch needs."""

    name: str
    text: str
    arrays: list[str]
    scalars: list[tuple[ir.Expr, DType]]
    sizes: list[str]
    errors: set[int]
    grid: tuple[Poly, ...]
    shape: str  # "1d", "2d", "3d", "rows", "total", "tile", "single"
    partials: list[DType] = field(default_factory=list)
    finish: Written | None = None
    stored: list[str] = field(default_factory=list)
    width: Poly | None = None


class KernelTexts:
    """Renders the kernels of one function with the given templates."""

    def __init__(
        self,
        environment: jinja2.Environment,
        buffers: dict[str, ir.Buffer],
        order: Sequence[str],
        constants: Sequence[str],
        needs: Needs,
    ) -> None:
        self.environment = environment
        self.buffers = buffers
        self.order = order
        self.constants = constants
        self.needs = needs

    def write(self, kernel: Kernel) -> Written:
        """The text of one kernel."""
        if kernel.kind == "scan":
            return write_scan(self, kernel)
        if kernel.kind == "block":
            return write_block(self, kernel)
        if kernel.kind == "private":
            return write_private(self, kernel)
        makers = {"map": self._map, "rows": self._rows, "total": self._total, "tile": self._tile}
        return makers[kernel.kind](kernel)

    def with_array(self, buffer: ir.Buffer) -> KernelTexts:
        """The same with one more array: partial results from an earlier launch."""
        buffers = {**self.buffers, buffer.name: buffer}
        return KernelTexts(self.environment, buffers, self.order, self.constants, self.needs)

    # -- common ----------------------------------------------------------------------

    def writer(self, kernel: Kernel) -> Writer:
        """A writer that knows the arrays and the variables of a kernel."""
        w = Writer(self.buffers, self.order, self.constants, self.needs)
        body: list[ir.Stmt] = [*kernel.body]
        for step in kernel.parts:
            body += step.body if isinstance(step, ir.Stage) else []
        w.reserve(body)
        for e in _expressions(kernel):
            for x in walk(e):
                if isinstance(x, ir.Load):
                    w.array(x.buffer)
        for a in accesses(tuple(body)):
            w.array(a.buffer)
            if a.write:
                w.written.add(a.buffer)
        for step in kernel.parts:
            if isinstance(step, Fold):
                w.taken |= {step.name, *(n for n, _ in step.reductions)}
                w.own |= {step.name, *(n for n, _ in step.reductions)}
                if step.store is not None:
                    w.array(step.store.buffer)
                    w.written.add(step.store.buffer)
        return w

    def render(
        self, w: Writer, kernel: Kernel, shape: str, grid: Sequence[Poly], **context: object
    ) -> Written:
        """The kernel around the lines written, and what its launch needs."""
        arrays = [n for n in self.order if n in w.arrays]
        arrays += [n for n in w.arrays if n not in arrays]
        arrays = [n for n in arrays if n not in w.written] + [n for n in arrays if n in w.written]
        inputs = [n for n in arrays if n not in w.written or self.buffers[n].parameter]
        outputs = [n for n in arrays if n not in inputs]
        partial_names = context.pop("partial_names", [])
        assert isinstance(partial_names, list)
        args = [*inputs, *w.scalars.values(), *w.sizes.values(), *outputs, *partial_names]
        if w.errors:
            args.append("error")
        template = self.environment.get_template(f"kernel_{kernel.kind}.py.j2")
        text = template.render(
            name=kernel.name, args=", ".join(args), types=w.type_lines(), lines=w.lines, **context
        )
        return Written(
            kernel.name, text, [*inputs, *outputs], list(w.scalars), list(w.sizes), w.errors,
            tuple(grid), shape, stored=[n for n in arrays if n in w.written],
        )  # fmt: skip

    # -- a thread per element --------------------------------------------------------

    def _map(self, kernel: Kernel) -> Written:
        w = self.writer(kernel)
        outer, grid = kernel.axes[:-3], kernel.axes[-3:]
        count = len(grid)
        head: list[str] = []
        names = [w.index(a.name) for a in kernel.axes]
        starts = ["cuda.grid(1)"]
        steps = ["cuda.gridsize(1)"]
        if count > 1:
            starts = [w.fresh(f"first_{n}") for n in names[len(outer) :]]
            steps = [w.fresh(f"step_{n}") for n in names[len(outer) :]]
            w.emit(f"{', '.join(reversed(starts))} = cuda.grid({count})")
            w.emit(f"{', '.join(reversed(steps))} = cuda.gridsize({count})")
        for a in outer:
            w.loop(a.name, a.lo, a.hi)
        for a, start, step in zip(grid, starts, steps, strict=False):
            lo = w.poly(a.lo)
            begin = start if lo == "0" else f"{lo} + {start}"
            w.emit(f"for {w.index(a.name)} in range({begin}, {w.poly(a.hi)}, {step}):")
            w.indent += 1
        w.block(kernel.body)
        del head
        shape = {0: "single", 1: "1d", 2: "2d", 3: "3d"}[count]
        return self.render(w, kernel, shape, [a.extent for a in grid])

    # -- a block per row -------------------------------------------------------------

    def _rows(self, kernel: Kernel) -> Written:
        w = self.writer(kernel)
        scratch = self.scratch(w, kernel)
        total = product(a.extent for a in kernel.axes)
        self._row_loop(w, kernel.axes, total)
        previous: list[Fold | ir.Stage] = []
        for number, step in enumerate(kernel.parts):
            if _needs_barrier(previous, step, len(kernel.axes)):
                w.emit("cuda.syncthreads()")
                previous = []
            if isinstance(step, Fold):
                self.fold(w, step, scratch, _reads(kernel.parts[number + 1 :], step.name))
                # the barriers of a fold come before its own value
                previous = [p for p in previous if isinstance(p, ir.Stage)]
            else:
                self.row_map(w, step, len(kernel.axes))
            previous.append(step)
        written = self.render(w, kernel, "rows", [total])
        fold = next(s for s in kernel.parts if isinstance(s, Fold) and s.reductions)
        length = fold.reductions[0][1].axes[-1].extent
        # rows of different lengths: as many threads as a block has
        same = not length.names() & {a.name for a in kernel.axes}
        written.width = length if same else None
        return written

    def scratch(self, w: Writer, kernel: Kernel) -> dict[str, str]:
        """One shared array for each dtype that is folded."""
        found: dict[str, str] = {}
        for step in kernel.parts:
            for _, r in step.reductions if isinstance(step, Fold) else ():
                kind = w.shared_type(r.dtype)
                if kind not in found:
                    found[kind] = w.fresh("scratch")
        for kind, name in found.items():
            w.emit(f"{name} = cuda.shared.array(THREADS, {kind})")
        return found

    @staticmethod
    def _row_loop(w: Writer, axes: Sequence[ir.Axis], total: Poly) -> None:
        if len(axes) == 1:
            a = axes[0]
            lo = w.poly(a.lo)
            start = "cuda.blockIdx.x" if lo == "0" else f"{lo} + cuda.blockIdx.x"
            w.emit(f"for {w.index(a.name)} in range({start}, {w.poly(a.hi)}, cuda.gridDim.x):")
            w.indent += 1
            return
        row = w.fresh("row")
        w.emit(f"for {row} in range(cuda.blockIdx.x, {w.poly(total)}, cuda.gridDim.x):")
        w.indent += 1
        unflatten(w, row, axes)

    def fold(self, w: Writer, step: Fold, scratch: dict[str, str], read_later: bool) -> None:
        """A fold by the whole block; its first thread stores the result."""
        w.comment(step.origin)
        for name, r in step.reductions:
            with w.inside(r.axes[0]):
                self._accumulate(w, name, r, "cuda.threadIdx.x", "cuda.blockDim.x")
            self.join(w, name, r, scratch)
        value = w.expr(step.value)
        if value != step.name and (step.store is None or read_later):
            w.emit(f"{step.name} = {value}")
            value = step.name
            if step.store is not None and step.store.buffer in loaded(step.value):
                # every thread has read the old element before one overwrites it
                w.emit("cuda.syncthreads()")
        if step.store is not None:
            w.emit("if cuda.threadIdx.x == 0:")
            index = ", ".join(w.poly(p) for p in step.store.index) or "()"
            w.emit(f"    {step.store.buffer}[{index}] = {value}")

    def _accumulate(self, w: Writer, name: str, r: ir.Reduce, start: str, step: str) -> None:
        """This thread's part of a fold: the last reduced axis is strided over the threads."""
        w.emit(f"{name} = {w.initial(r)}")
        depth = w.indent
        for a in r.axes[:-1]:
            w.loop(a.name, a.lo, a.hi)
        last = r.axes[-1]
        lo = w.poly(last.lo)
        begin = start if lo == "0" else f"{lo} + {start}"
        w.emit(f"for {w.index(last.name)} in range({begin}, {w.poly(last.hi)}, {step}):")
        w.indent += 1
        w.emit(w.fold(r, name, w.expr(r.body)))
        w.indent = depth

    def join(self, w: Writer, name: str, r: ir.Reduce, scratch: dict[str, str]) -> None:
        """Join what the threads of a block have folded, in every thread."""
        helper = f"block_{r.op}"
        self.needs.helpers.add(helper)
        if r.op in ("max", "min"):
            self.needs.helpers.add(f"{r.op}imum")
        w.emit(f"{name} = {helper}({name}, {scratch[w.shared_type(r.dtype)]})")

    @staticmethod
    def row_map(w: Writer, step: ir.Stage, rows: int) -> None:
        """A stage whose last axis is strided over the block's threads."""
        depth = w.indent
        w._bounds = {}
        if len(step.axes) > rows:
            a = step.axes[-1]
            lo = w.poly(a.lo)
            begin = "cuda.threadIdx.x" if lo == "0" else f"{lo} + cuda.threadIdx.x"
            w.emit(f"for {w.index(a.name)} in range({begin}, {w.poly(a.hi)}, cuda.blockDim.x):")
        else:
            w.emit("if cuda.threadIdx.x == 0:")
        w.indent += 1
        w.block(step.body)
        w.indent = depth
        w._bounds = {}

    # -- totals ----------------------------------------------------------------------

    def _total(self, kernel: Kernel) -> Written:
        w = self.writer(kernel)
        steps = [s for s in kernel.parts if isinstance(s, Fold)]
        for s in steps:
            if s.store is not None:
                w.arrays.pop(s.store.buffer, None)
                w.written.discard(s.store.buffer)
        for s in steps:
            for _, r in s.reductions:
                for x in walk(r.body):
                    if isinstance(x, ir.Load):
                        w.array(x.buffer)
        value_only = loaded(*(s.value for s in steps))
        in_body = loaded(*(r.body for s in steps for _, r in s.reductions))
        for name in value_only - in_body:
            w.arrays.pop(name, None)
        scratch = self.scratch(w, kernel)
        partials: list[tuple[str, str, ir.Reduce]] = []
        for s in steps:
            w.comment(s.origin)
            for name, r in s.reductions:
                with w.inside():
                    self._grid_accumulate(w, name, r)
                self.join(w, name, r, scratch)
                partials.append((name, w.fresh(f"{name}_partial"), r))
        w.emit("if cuda.threadIdx.x == 0:")
        for name, partial, _ in partials:
            w.emit(f"    {partial}[cuda.blockIdx.x] = {name}")
        sizes = [product(a.extent for a in r.axes) for _, _, r in partials]
        written = self.render(
            w, kernel, "total", sizes[:1], partial_names=[p for _, p, _ in partials]
        )
        written.partials = [r.dtype for _, _, r in partials]
        written.finish = self._finish(kernel, steps, partials)
        return written

    def _grid_accumulate(self, w: Writer, name: str, r: ir.Reduce) -> None:
        if len(r.axes) == 1:
            self._accumulate(w, name, r, "cuda.grid(1)", "cuda.gridsize(1)")
            return
        w.emit(f"{name} = {w.initial(r)}")
        depth = w.indent
        element = w.fresh("element")
        size = w.poly(product(a.extent for a in r.axes))
        w.emit(f"for {element} in range(cuda.grid(1), {size}, cuda.gridsize(1)):")
        w.indent += 1
        unflatten(w, element, r.axes)
        w.emit(w.fold(r, name, w.expr(r.body)))
        w.indent = depth

    def _finish(
        self, kernel: Kernel, steps: Sequence[Fold], partials: Sequence[tuple[str, str, ir.Reduce]]
    ) -> Written:
        """The second launch: one block folds the partial results and stores the values."""
        buffers = dict(self.buffers)
        count = Poly.atom(Integer("partials", True))
        for _, partial, r in partials:
            buffers[partial] = ir.Buffer(partial, (count,), r.dtype)
        order = [*self.order, *(p for _, p, _ in partials)]
        inner = KernelTexts(self.environment, buffers, order, self.constants, self.needs)
        axis = ir.Axis("k_", count)
        folds = []
        for s in steps:
            own = {n: (p, r) for n, p, r in partials if n in {m for m, _ in s.reductions}}
            reductions = tuple(
                (n, ir.Reduce(r.op, (axis,), ir.Load(p, (sym("k_", True),), r.dtype), r.dtype))
                for n, (p, r) in own.items()
            )
            folds.append(Fold(f"{s.name}_value", reductions, s.value, s.origin, s.store))
        final = Kernel(f"{kernel.name}_finish", "rows", (), (), tuple(folds), kernel.origin)
        w = inner.writer(final)
        w.names["partials"] = f"{partials[0][1]}.shape[0]"
        scratch = inner.scratch(w, final)
        for fold in folds:
            w.comment(fold.origin)
            for name, r in fold.reductions:
                inner._accumulate(w, name, r, "cuda.threadIdx.x", "cuda.blockDim.x")
                inner.join(w, name, r, scratch)
        w.emit("if cuda.threadIdx.x == 0:")
        w.indent += 1
        for fold in folds:
            assert fold.store is not None
            value = w.expr(fold.value)
            index = ", ".join(map(w.poly, fold.store.index)) or "()"
            w.emit(f"{fold.store.buffer}[{index}] = {value}")
        w.indent -= 1
        return inner.render(w, final, "finish", [])

    # -- contractions ----------------------------------------------------------------

    def _tile(self, kernel: Kernel) -> Written:
        w = self.writer(kernel)
        fold = kernel.parts[0]
        assert isinstance(fold, Fold) and fold.store is not None
        name, r = fold.reductions[0]
        parts = contraction(fold.store, r)
        assert parts is not None
        row, column = kernel.axes[-2], kernel.axes[-1]
        for a in kernel.axes[:-2]:
            w.index(a.name)
        i, j, k = w.index(row.name), w.index(column.name), w.index(r.axes[0].name)
        n = {word: w.fresh(word) for word in ("tx", "ty", "t", "width", "first_row",
                                              "first_column", "first_k")}  # fmt: skip
        lefts = [(e, _fast(e, row.name, r.axes[0].name)) for e in parts[0]]
        rights = [(e, _fast(e, column.name, r.axes[0].name)) for e in parts[1]]
        tiles: dict[ir.Expr, tuple[str, str]] = {}
        loads: list[dict[str, str]] = []
        for side, leaves in (("left", lefts), ("right", rights)):
            for e, along_k in leaves:
                tile = w.fresh(_tile_name(e, w))
                w.emit(f"{tile} = cuda.shared.array((TILE, PADDED), {w.shared_type(e.dtype)})")
                index, load = _tile_access(side, along_k, i if side == "left" else j, n)
                tiles[e] = (tile, index)
                loads.append({"tile": tile, **load, "value": w.expr(e)})
        head = list(w.lines)
        w.lines.clear()

        def change(e: ir.Expr) -> ir.Expr | None:
            if e in tiles:
                return ir.Load(tiles[e][0], (sym(f"?{tiles[e][1]}", True),), e.dtype)
            return None

        inner = rewrite(r.body, change)
        for tile, index in tiles.values():
            w.names[f"?{index}"] = index
            w.buffers = {**w.buffers, tile: ir.Buffer(tile, (), DType("float64"))}
        term = w.fold(r, name, w.expr(inner))
        for tile, _ in tiles.values():
            w.arrays.pop(tile, None)
        start = w.initial(r)
        w.comment(fold.origin)
        comments = [line.strip() for line in w.lines]
        w.lines[:] = head
        value = w.expr(fold.value)
        index = ", ".join(w.poly(p) for p in fold.store.index)
        batch = kernel.axes[0] if len(kernel.axes) == 3 else None
        return self.render(
            w, kernel, "tile", [a.extent for a in kernel.axes],
            comments=comments, n=n, i=i, j=j, k=k, total=name, initial=start,
            loads=loads, term=term,
            rows=_bounds(w, row), columns=_bounds(w, column), depth=_bounds(w, r.axes[0]),
            batch=None if batch is None else (w.index(batch.name), *_bounds(w, batch)),
            store=f"{fold.store.buffer}[{index}] = {value}",
        )  # fmt: skip


def _bounds(w: Writer, axis: ir.Axis) -> tuple[str, str]:
    return w.poly(axis.lo), w.poly(axis.hi)


def _tile_name(e: ir.Expr, w: Writer) -> str:
    del w
    load = next(x for x in walk(e) if isinstance(x, ir.Load))
    return f"{load.buffer}_tile"


def _fast(e: ir.Expr, own: str, k: str) -> bool:
    """Whether neighbours along k, rather than along the own index, are neighbours in memory."""
    load = next(x for x in walk(e) if isinstance(x, ir.Load) and k in free_names(x))
    return bool(load.index[-1].coefficient(k)) and not load.index[-1].coefficient(own)


def _tile_access(
    side: str, along_k: bool, own: str, n: dict[str, str]
) -> tuple[str, dict[str, str]]:
    """(subscript in the product, how the tile is loaded) so that loads are coalesced."""
    base = n["first_row"] if side == "left" else n["first_column"]
    local = n["ty"] if side == "left" else n["tx"]
    near, far = (n["ty"], n["tx"]) if along_k else (n["tx"], n["ty"])
    place = {
        "own": own,
        "own_at": f"{base} + {near}",
        "k_at": f"{n['first_k']} + {far}",
        "side": side,
    }
    return (f"{local}, {n['t']}" if along_k else f"{n['t']}, {local}"), place


def _expressions(kernel: Kernel) -> Iterator[ir.Expr]:
    for step in kernel.parts:
        if isinstance(step, Fold):
            for _, r in step.reductions:
                yield r
            yield step.value
    int64 = DType("int64")
    for a in kernel.axes:
        yield from (ir.Value(a.lo, int64), ir.Value(a.hi, int64))


def kernel_expressions(kernel: Kernel) -> Iterator[ir.Expr]:
    """Every expression of a kernel: bounds, folds, and those of its statements."""
    yield from _expressions(kernel)
    body: list[ir.Stmt] = list(kernel.body)
    for step in kernel.parts:
        body += step.body if isinstance(step, ir.Stage) else []
    for s in statements(tuple(body)):
        yield from expressions(s)


def _reads(steps: Sequence[Fold | ir.Stage], name: str) -> bool:
    """Whether one of the steps uses the local variable."""
    for step in steps:
        if isinstance(step, Fold):
            found = [*(r for _, r in step.reductions), step.value]
        else:
            found = [e for s in statements(step.body) for e in expressions(s)]
        if any(isinstance(x, ir.Local) and x.name == name for e in found for x in walk(e)):
            return True
    return False


def _needs_barrier(previous: Sequence[Fold | ir.Stage], step: Fold | ir.Stage, rows: int) -> bool:
    """Whether a step touches what other threads of the block wrote (or read) before it."""
    stages = [p for p in previous if isinstance(p, ir.Stage)]
    if isinstance(step, Fold):
        folded = loaded(*(r for _, r in step.reductions), step.value)
        return any(a.write and a.buffer in folded for p in stages for a in accesses(p.body))
    # every thread reads what the value of a fold is made of, unless it is stored at once
    values = [p.value for p in previous if isinstance(p, Fold) and p.store is None]
    if any(a.write and a.buffer in loaded(*values) for a in accesses(step.body)):
        return True
    for p in stages:
        one_thread = len(p.axes) == rows or len(step.axes) == rows
        for x in accesses(p.body):
            for y in accesses(step.body):
                shared = x.buffer == y.buffer and (x.write or y.write)
                if shared and (one_thread or x.index != y.index):
                    return True
    return False


__all__ = ["KernelTexts", "Written", "substitute"]
