"""Launches of kernels: grids, guards and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.host.base import HostBase
from porter.codegen.kernel.kernels import Written
from porter.dtypes.dtype import DType
from porter.schedule.nodes import Kernel

_BLOCKS = {"2d": ("BLOCK_X", "BLOCK_Y"), "3d": ("BLOCK_X", "BLOCK_Y", "BLOCK_Z")}


class Launches(HostBase):
    """Writes launches; a kernel is written when its launch is reached."""

    def _launch(self, kernel: Kernel) -> None:
        written = self.texts.write(kernel)
        self.kernels.append(written)
        sizes = [self.host.poly(n, 5) for n in written.grid]
        pairs = zip(sizes, written.grid, strict=True)
        guards = list(dict.fromkeys(f"{s} > 0" for s, n in pairs if not n.is_positive()))
        depth = self.out.indent
        if guards and written.shape != "total":
            self.emit(f"if {' and '.join(guards)}:")
            self.out.indent += 1
        self._overlap_checks(kernel)
        getattr(self, f"_launch_{written.shape}", self._launch_grid)(written, sizes)
        self.out.indent = depth

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
                self._needs("_apart")
                text = f"_apart({text}, {self.buffer(w)}, stream)"
            args.append(text)
        inputs = [a for n, a in zip(written.arrays, args, strict=True)
                  if n not in written.stored or self.plan_parameter(n)]  # fmt: skip
        outputs = [a for n, a in zip(written.arrays, args, strict=True)
                   if not (n not in written.stored or self.plan_parameter(n))]  # fmt: skip
        scalars = [self._scalar_argument(e, d) for e, d in written.scalars]
        sizes = [self.host.name(n) for n in written.sizes]
        tail = ["error"] if written.errors else []
        self.errors |= written.errors
        return [*inputs, *scalars, *sizes, *outputs, *tail]

    def _scalar_argument(self, e: ir.Expr, dtype: DType) -> str:
        text = self.host.text(e)
        if dtype == e.dtype or dtype.weak:
            return text
        return f"{self.host.dtype(replace(dtype, weak=False))}({text})"

    def _call(self, written: Written, grid: str, block: str, extra: Sequence[str] = ()) -> None:
        args = self._arguments(written)
        if extra:
            at = len(args) - (1 if written.errors else 0)
            args[at:at] = extra
        self.emit(self.target.launch(written.name, grid, block, args))

    def _launch_single(self, written: Written, sizes: list[str]) -> None:
        self._call(written, "1", "1")

    def _launch_1d(self, written: Written, sizes: list[str]) -> None:
        self._needs("_blocks")
        self._call(written, f"_blocks({sizes[0]}, THREADS)", "THREADS")

    def _launch_grid(self, written: Written, sizes: list[str]) -> None:
        self._needs("_blocks", written.shape)
        names = _BLOCKS[written.shape]
        grid = [f"_blocks({s}, {n})" for s, n in zip(reversed(sizes), names, strict=True)]
        self._call(written, f"({', '.join(grid)})", f"({', '.join(names)})")

    def _launch_rows(self, written: Written, sizes: list[str]) -> None:
        self._needs("_blocks", "_row_threads")
        width = self.host.poly(written.width) if written.width is not None else "THREADS"
        self._call(written, f"_blocks({sizes[0]}, 1)", f"_row_threads({width})")

    def _launch_block(self, written: Written, sizes: list[str]) -> None:
        self._call(written, "1", "THREADS")

    def _launch_private(self, written: Written, sizes: list[str]) -> None:
        """Few blocks: each adds its own small array to the result at the end."""
        self._needs("_blocks")
        self._call(written, f"min(_blocks({sizes[0]}, THREADS), MOST_PARTIALS)", "THREADS")

    def _launch_tile(self, written: Written, sizes: list[str]) -> None:
        self._needs("_blocks", "tile")
        grid = [f"_blocks({s}, TILE)" for s in reversed(sizes[-2:])]
        grid += [f"_blocks({sizes[0]}, 1)"] if len(sizes) == 3 else []
        self._call(written, f"({', '.join(grid)})", "(TILE, TILE)")

    def _launch_scan(self, written: Written, sizes: list[str]) -> None:
        """A block for each line."""
        self._launch_rows(written, sizes)

    def _launch_line(self, written: Written, sizes: list[str]) -> None:
        """One line cut into parts: their folds, then the scan of each part."""
        assert written.finish is not None
        names = self._partials(written, sizes)
        self._call(written, "blocks", "THREADS", names)
        self.kernels.append(written.finish)
        self._finish_call(written.finish, names, "blocks")

    def _launch_total(self, written: Written, sizes: list[str]) -> None:
        """All blocks, then one block over their partial results."""
        assert written.finish is not None
        names = self._partials(written, sizes)
        self._call(written, "blocks", "THREADS", names)
        finish = written.finish
        self.kernels.append(finish)
        self._finish_call(finish, names)

    def _partials(self, written: Written, sizes: list[str]) -> list[str]:
        """An array for each fold, with an element for each block that folds a part."""
        self._needs("_blocks", "total")
        self.emit(f"blocks = min(max(_blocks({sizes[0]}, THREADS), 1), MOST_PARTIALS)")
        names = []
        for k, dtype in enumerate(written.partials):
            name = "partial" if len(written.partials) == 1 else f"partial{k + 1}"
            shown = "np.int32" if dtype.name == "bool" else self._dtype_value(dtype)
            self.needs.numpy = self.needs.numpy or shown.startswith("np.")
            self.emit(f"{name} = {self.target.empty('blocks', shown)}")
            names.append(name)
        return names

    def _finish_call(self, finish: Written, names: list[str], grid: str = "1") -> None:
        partials = iter(names)
        mapping = {n: next(partials) for n in finish.arrays if n not in self.plan.buffers}
        self.naming.device |= mapping
        self._call(finish, grid, "THREADS")
        for n in mapping:
            del self.naming.device[n]
