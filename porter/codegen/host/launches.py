"""Launches of kernels: grids, guards and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.host.base import HostBase
from porter.codegen.host.loops import Loops, Parts
from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs, Written
from porter.dtypes.dtype import DType
from porter.schedule.base import Fitted, Grid, Kernel
from porter.schedule.domains import product
from porter.schedule.nodes import Launch, Plan
from porter.sizes.polynomial import Poly
from porter.target.base import Target


class Launches(HostBase):
    """Writes launches; a kernel is written when its launch is reached."""

    def __init__(self, plan: Plan, texts: KernelTexts, needs: Needs, target: Target) -> None:
        super().__init__(plan, texts, needs, target)
        self.loops = Loops()
        self.parts = Parts("", "", "")  # of the last launch that leaves partial results
        self.for_all: dict[str, bool] = {}  # whether Numba chooses the grid of a kernel

    def _launch(self, launch: Launch) -> None:
        """Launch a kernel, or the alternative that the sizes ask for."""
        plain = self._written(launch.kernel)
        sizes = [(self.host.poly(n, 5), n) for n in plain[0].grid.guards]
        guards = list(dict.fromkeys(f"{s} > 0" for s, n in sizes if not n.is_positive()))
        depth = self.out.indent
        if guards:
            self.emit(f"if {' and '.join(guards)}:")
            self.out.indent += 1
        self._overlap_checks(launch.kernel)
        word = "if"
        for other in launch.alternatives:
            self._needs(other.test)
            asked = ", ".join(self.host.poly(n) for n in other.sizes)
            self.emit(f"{word} {other.test}({asked}):")
            self._nested_calls(self._written(other.kernel))
            word = "elif"
        if launch.alternatives:
            self.emit("else:")
            self._nested_calls(plain)
        else:
            self._calls(plain)
        self.out.indent = depth

    def _written(self, kernel: Kernel) -> tuple[Written, ...]:
        """The launches of a kernel, its text written."""
        text, launches = self.texts.write(kernel)
        written = text, [w.name for w in launches]
        if written not in self.kernels:  # one that is launched in several places
            self.kernels.append(written)
        return launches

    def _nested_calls(self, launches: Sequence[Written]) -> None:
        self.out.indent += 1
        self._calls(launches)
        self.out.indent -= 1

    def _calls(self, launches: Sequence[Written]) -> None:
        """The launches of one kernel, each given the partial results of the last one with any."""
        partials: list[str] = []
        for written in launches:
            partials = self._call(written, partials) or partials

    def _overlap_checks(self, kernel: Kernel) -> None:
        for w, r in self.overlap.sequential.get(kernel.name, ()):
            self._refuse_alias(w, r, device=True)

    def _arguments(self, written: Written, kernel_name: str = "") -> list[str]:
        name = kernel_name or written.name
        apart = dict(self.overlap.crossing.get(name, ()))
        args: list[str] = []
        for n in written.arrays:
            text = self.buffer(n)
            for w in apart.get(n, ()):
                text = self.spelled(self.target.apart(text, self.buffer(w)))
            if n in self.plan.buffers and not self.plan.buffers[n].shape:
                text = self.target.no_dimensions(text)
            args.append(text if n not in written.axes.moved else f"{text}.T")
        pairs = [*zip(written.arrays, args, strict=True)]
        inputs = [a for n, a in pairs if n not in written.made]
        outputs = [a for n, a in pairs if n in written.made]
        scalars = [self._scalar_argument(e, d) for e, d in written.scalars]
        sizes = [self.host.name(n) for n in written.sizes]
        tail = ["error"] if written.errors else []
        self.errors |= written.errors
        return [*inputs, *scalars, *sizes, *outputs, *tail]

    def _scalar_argument(self, e: ir.Expr, dtype: DType) -> str:
        text = self.host.text(e)
        if dtype.weak and dtype.kind == "f" and isinstance(e, ir.Value):
            return f"float({text})"
        if dtype == e.dtype or dtype.weak:
            return text
        return f"{self.host.dtype(replace(dtype, weak=False))}({text})"

    def _call(self, written: Written, earlier: Sequence[str]) -> list[str]:
        """One launch, given the partial results of the one before it; the names of its own."""
        partials = self._partials(written) if written.partials else []
        elements = self._elements(written)
        blocks, threads = ("", "") if elements else self._grid(written)
        given = iter(earlier)
        again = {n: self.buffer(of) for n, of in written.axes.again.items()}
        new = [n for n in written.arrays if n not in self.plan.buffers and n not in again]
        mapping = {n: next(given) for n in new} | again
        self.naming.device |= mapping
        args = self._arguments(written)
        stored = [self.buffer(n) for n in written.arrays if n in written.stored]
        for n in mapping:
            del self.naming.device[n]
        own = [*partials, *([self._counter(written.grid)] if written.grid.counted else [])]
        at = len(args) - (1 if written.errors else 0)
        args[at:at] = own
        at = len(args) - len(written.made) - len(own) - (1 if written.errors else 0)
        room = self._room(written.grid)
        if room:
            call = self.target.launch(written.name, blocks, threads, args, room)
        else:
            call = self.target.called(written.name, blocks, threads, args[:at], args[at:], stored)
        self._timed(
            written.name, self.target.for_all(written.name, elements, args) if elements else call
        )
        return partials

    def _elements(self, written: Written) -> str:
        """How many threads a launch has, where Numba chooses their grid."""
        grid = written.grid
        free = self.target.extras.forall and len(grid.shape) == 1 and not grid.few
        self.for_all[written.name] = free
        return self.host.poly(grid.shape[0]) if free else ""

    def _grid(self, written: Written) -> tuple[str, str]:
        """The blocks and threads of a launch; for a shape of several axes they get names first."""
        grid = written.grid
        if grid.columns and grid.again:
            self._needs("_few_columns", "_blocks")
            self.emit(f"blocks, threads = _few_columns({self.host.poly(grid.columns[0])})")
            return "blocks", "threads"
        if grid.splits and grid.again:
            self._needs("_columns", "_blocks")
            elements = self.host.poly(_elements(grid))
            self.emit(f"blocks, threads = _columns({elements}, {self.parts.count})[1:]")
            return "blocks[0]", "threads"
        if written.partials or grid.again:
            return self.parts.blocks, self.parts.threads
        if len(grid.shape) == 1:
            self._needs("_blocks")
            return f"_blocks({self.host.poly(grid.shape[0], 5)}, THREADS)", "THREADS"
        if grid.shape:
            self._needs("_grid", "_blocks")
            shape = ", ".join(self.host.poly(n) for n in grid.shape)
            self.emit(f"blocks, threads = _grid({shape})")
            return "blocks", "threads"
        fitted = grid.threads
        if isinstance(fitted, Fitted) and fitted.warps and self.target.shuffles():
            self._needs("_rows", "_blocks")
            rows, length = grid.blocks[0][0], fitted.length
            most = "THREADS" if length is None else self.host.poly(length)
            self.emit(f"blocks, threads = _rows({self.host.poly(rows)}, {most})")
            return "blocks", "threads"
        return self._blocks(grid), self._threads(grid)

    def _room(self, grid: Grid) -> str:
        """The bytes of shared memory for what rows keep."""
        fitted = grid.threads
        if not isinstance(fitted, Fitted) or not fitted.kept or not self.target.shuffles():
            return ""
        self._needs("_room")
        length = self.host.poly(self.plan.buffers[fitted.kept].shape[-1])
        return f"_room(threads, {length}, {self.buffer(fitted.kept)}.dtype)"

    def _blocks(self, grid: Grid) -> str:
        """The number of blocks along each axis."""
        if not grid.blocks:
            return "1"
        counts = [self._count(n, each) for n, each in grid.blocks]
        if grid.few:
            return f"min({counts[0]}, MOST_PARTIALS)"
        if grid.draws:
            return f"min({counts[0]}, {self.naming.blocks})"
        # along x of several axes a grid has room for all
        first = 1 if len(counts) > 1 or grid.whole else 0
        counts[first:] = [f"min({count}, MAX_BLOCKS)" for count in counts[first:]]
        return counts[0] if len(counts) == 1 else f"({', '.join(counts)})"

    def _count(self, size: Poly, each: str) -> str:
        """How many blocks take this many elements each."""
        if each == "1":
            return self.host.poly(size)
        self._needs("_blocks")
        return f"_blocks({self.host.poly(size, 5)}, {each})"

    def _threads(self, grid: Grid) -> str:
        """The threads of a block."""
        if isinstance(grid.threads, Fitted):
            self._needs("_row_threads")
            length = grid.threads.length
            return f"_row_threads({'THREADS' if length is None else self.host.poly(length)})"
        threads = grid.threads
        return threads[0] if len(threads) == 1 else f"({', '.join(threads)})"

    def _partials(self, written: Written) -> list[str]:
        """An array for each fold, with an element for each block that folds a part, or for each
        column of a part.

        Those of a launch in loops of the host are made once, before the loops that do not change
        how many there are.
        """
        grid = written.grid
        shown = ["np.int32" if d.name == "bool" else self._dtype_value(d) for d in written.partials]
        self.needs.numpy = self.needs.numpy or any(d.startswith("np.") for d in shown)
        size = product([*grid.shape, *grid.columns, *grid.splits, *(n for n, _ in grid.blocks)])
        loop = self.loops.outside(size)
        count = self._count_of_parts(grid)
        if loop is None:
            names = [f"partial{k + 1}" for k in range(len(shown))] if shown[1:] else ["partial"]
            self.parts = self._shared_by(grid, count, looped=False)
            self._allocate(names, shown)
            return names
        key = (count, *shown)
        if key not in loop.made:
            names = [self.naming.take("partials") for _ in shown]
            with self.loops.before(loop, self.out):
                self.parts = self._shared_by(grid, count, looped=True)
                self._allocate(names, shown)
            loop.made[key] = self.parts, names
        self.parts, names = loop.made[key]
        return names

    def _counter(self, grid: Grid) -> str:
        """What counts the blocks of a launch that are done: made once, before all loops that do
        not change how many groups of them there are.

        The last block of each launch, or of each group, sets it to 0 again.
        """
        self.needs.numpy = True
        groups = f"{self.parts.blocks}[0]" if grid.columns else ""
        loop = self.loops.outside(product(grid.columns))
        if loop is None:
            return self.spelled(self.target.counter(groups))
        if groups not in loop.counters:
            loop.counters[groups] = self.naming.take("done")
            with self.loops.before(loop, self.out):
                self.emit(f"{loop.counters[groups]} = {self.spelled(self.target.counter(groups))}")
        return loop.counters[groups]

    def _count_of_parts(self, grid: Grid) -> str:
        """How many blocks share a domain; of several axes, with their grid and their threads."""
        if grid.columns:
            self._needs("_columns", "_blocks")
            return f"_columns({', '.join(self.host.poly(n) for n in grid.columns)})"
        if grid.splits:
            self._needs("_splits", "_blocks")
            return f"_splits({', '.join(self.host.poly(n) for n in grid.splits)})"
        if grid.shape:
            self._needs("_parts", "_blocks")
            return f"_parts({', '.join(self.host.poly(n) for n in grid.shape)})"
        ((size, each),) = grid.blocks
        most = f", {self.naming.blocks}" if grid.draws else ""
        return f"min(max({self._count(size, each)}, 1), MOST_PARTIALS{most})"

    def _shared_by(self, grid: Grid, count: str, *, looped: bool) -> Parts:
        """Names for that; in a loop, other launches have blocks and threads of their own."""
        if grid.shape or grid.columns or grid.splits:
            words = ("part_blocks", "part_threads") if looped else ("blocks", "threads")
            blocks, threads = map(self.naming.take, words) if looped else words
            number = self.naming.take("parts")
            parts = Parts(number, blocks, threads, self._part_shape(grid, number))
            self.emit(f"{parts.count}, {blocks}, {threads} = {count}")
            return parts
        name = self.naming.take("parts") if looped else "blocks"
        self.emit(f"{name} = {count}")
        return Parts(name, name, "THREADS")

    def _part_shape(self, grid: Grid, parts: str) -> str:
        """The shape of partial results for each column of a part."""
        if not grid.columns and not grid.splits:
            return ""
        size = _elements(grid)
        columns = self.host.poly(size)
        return f"({parts}, {columns if size.is_nonneg() else f'max({columns}, 0)'})"

    def _allocate(self, names: Sequence[str], dtypes: Sequence[str]) -> None:
        for name, dtype in zip(names, dtypes, strict=True):
            made = self.target.workspace(name, self.parts.shape or self.parts.count, dtype)
            self.emit(f"{name} = {self.spelled(made)}")

    def _transfers(self, used: Sequence[ir.Parameter]) -> None:
        """Arguments to the device, those that are stored into first: an alias shares theirs."""
        done: list[str] = []
        for p in sorted(used, key=lambda p: p.name not in self.overlap.written):
            self._transfer(p.name, [w for w in done if w in self.overlap.written])
            done.append(p.name)

    def _transfer(self, name: str, before: Sequence[str]) -> None:
        own, word = self.naming.device[name], "if"
        for w in before:
            if self.plan.aliases.alike(w, name) and (w, name) not in self.plan.no_alias:
                self._needs("_same_memory")
                self.emit(f"{word} _same_memory({w}, {name}):")
                self.emit(f"    {own} = {self.naming.device[w]}")
                word = "elif"
        if word == "elif":
            self.emit("else:")
        pad = "    " if word == "elif" else ""
        self.emit(f"{pad}{own} = {self.spelled(self.target.moved(name))}")


def _elements(grid: Grid) -> Poly:
    """How many elements have partial results."""
    return grid.columns[0] if grid.columns else product(grid.splits[:2])
