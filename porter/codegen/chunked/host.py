"""The host function for arrays in chunks: it calls Dask, and computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.codegen.chunked.block import BlockFunction
from porter.codegen.host.function import HostFunction
from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs
from porter.schedule.chunked.check import chunked_items
from porter.schedule.chunked.nodes import Blockwise, Copied, Filled, Input, Joined, Made, Step
from porter.schedule.nodes import Plan
from porter.target.base import Target


class ChunkedFunction(HostFunction):
    """Writes one host function, and the functions of blocks when their call is reached."""

    def __init__(self, plan: Plan, texts: KernelTexts, needs: Needs, target: Target) -> None:
        super().__init__(plan, texts, needs, target)
        self.items, splitter = chunked_items(plan, target.block)
        self.plan.buffers.update(splitter.buffers)
        self.needs.imports.add("import dask.array as da")
        self.count = 0

    # -- the start ---------------------------------------------------------------------------

    def _transfers(self, used: Sequence[ir.Parameter]) -> None:
        """Nothing moves."""

    def _flatten(self, given: str) -> None:
        """Arguments of an elementwise function broadcast."""
        names = [p.name for p in self.arrays]
        self.pending = [c for c in self.pending if c.kind != "broadcast"]
        if len(names) > 1:
            self._common_shape(names, given)
            self._needs("_aligned")
            both = ", ".join(names)
            self.emit(f"{both} = _aligned(shape, {both})")

    # -- statements --------------------------------------------------------------------------

    def _body(self, items: Sequence[object]) -> None:
        super()._body(self.items if items and self.out.indent == 1 else items)

    def _item(self, item: object) -> None:
        match item:
            case Blockwise() | Joined() | Copied() | Filled() | Made():
                self._step(item)
            case ir.Bind(names, buffers, _):
                self.emit(f"{', '.join(names)} = {', '.join(buffers)}")
            case _:
                super()._item(item)

    def _step(self, step: Step) -> None:
        name = step.out.name
        match step:
            case Copied(source=source):
                self.emit(f"{name} = {source}.copy()")
            case Filled(value=value, like=like):
                self.emit(f"{name} = da.full({self._made(step.out, like, self.host.text(value))})")
            case Made(like=like):
                self.emit(f"{name} = da.empty({self._made(step.out, like)})")
            case Joined(parts=parts, op=op, axes=axes):
                along = str(axes[0]) if len(axes) == 1 else str(axes)
                dtype = (
                    f", dtype={self._dtype_value(step.out.dtype)}" if op in ("sum", "prod") else ""
                )
                self.emit(f"{name} = {parts}.{op}(axis={along}{dtype})")
            case Blockwise():
                self._call_blocks(step)

    def _made(self, out: ir.Buffer, like: str, *value: str) -> str:
        """The arguments that make an array."""
        chunks = [f"chunks={like}.chunks"] if like else []
        dtype = self._dtype_value(out.dtype)
        return ", ".join([self._shape(out.shape), *value, f"dtype={dtype}", *chunks])

    def _call_blocks(self, step: Blockwise) -> None:
        self.count += 1
        number = "" if self.count == 1 else str(self.count)
        name = f"{self.plan.name}_block{number}"
        anyhow = self.elementwise
        kernel = replace(step.kernel, name=f"{self.plan.name}_loops{number}")
        step = replace(step, kernel=kernel)
        block = BlockFunction(step, name, self.plan, self.needs, self.target, anyhow)
        body = block.write()
        self.kernels += [*block.kernels, (body, [])]
        options = [f"{n}={self.host.poly(p)}" for n, p in step.given]
        rank = f"(0,) * {step.inputs[0].name}.ndim" if anyhow else self._empty_shape(step)
        self.needs.numpy = True
        options.append(f"meta=np.empty({rank}, {self._dtype_value(step.out.dtype)})")
        self.emit(f"{step.out.name} = {self._call_of(step, name, options)}")

    def _empty_shape(self, step: Blockwise) -> str:
        zeros = ", ".join("0" for _ in step.letters)
        return f"({zeros},)" if len(step.letters) == 1 else f"({zeros})"

    def _call_of(self, step: Blockwise, name: str, options: list[str]) -> str:
        arrays = [self._array(i) for i in step.inputs]
        # `map_blocks` takes blocks of several arrays as they come, `blockwise` aligns them
        alone = [i.letters for i in step.inputs] == [step.letters]
        plain = self.elementwise or (alone and not step.folded)
        if step.depth and not step.folded and all(i.letters == step.letters for i in step.inputs):
            self._needs("_map_overlap")
            depth = [step.depth.get(c, 0) for c in step.letters]
            return f"_map_overlap({', '.join([name, *arrays, f'depth={tuple(depth)}', *options])})"
        if plain:
            return f"da.map_blocks({', '.join([name, *arrays, *options])})"
        quoted = f'"{step.letters}"'
        pairs = [f'{a}, "{i.letters}"' for a, i in zip(arrays, step.inputs, strict=True)]
        inner = {c for i in step.inputs for c in i.letters} - {*step.letters}
        more = ["concatenate=True"] if inner else []
        if step.folded:
            more.append(f"adjust_chunks={{{', '.join(f'{c!r}: 1' for c in step.folded)}}}")
        if step.made:
            sizes = ", ".join(f"{c!r}: {self.host.poly(n)}" for c, n in step.made)
            more.append(f"new_axes={{{sizes}}}")
        if step.depth:
            self._needs("_blockwise_overlap")
            more.append(f"depth={{{', '.join(f'{c!r}: {n}' for c, n in step.depth.items())}}}")
            return f"_blockwise_overlap({', '.join([name, quoted, *pairs, *options, *more])})"
        return f"da.blockwise({', '.join([name, quoted, *pairs, *options, *more])})"

    def _array(self, i: Input) -> str:
        if not i.whole:
            return i.name
        return f"{i.name}.rechunk({{{', '.join(f'{d}: -1' for d in i.whole)}}})"

    # -- results -----------------------------------------------------------------------------

    def _result(self, value: str | ir.Expr | None, plain: str, kept: str) -> str:
        if isinstance(value, ir.Load):
            return value.buffer
        return str(value)
