"""The function of one block: it makes the result, and runs the kernel on the blocks it is given."""

from __future__ import annotations

from functools import cached_property

from porter import ir
from porter.codegen.host.function import HostFunction
from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs
from porter.dtypes.dtype import INT64
from porter.schedule.chunked.nodes import Blockwise
from porter.schedule.nodes import Launch, Plan
from porter.schedule.overlap import Overlap
from porter.target.base import Target


class BlockFunction(HostFunction):
    """Writes the function; with `anyhow` its arrays may have any number of dimensions."""

    def __init__(
        self, step: Blockwise, name: str, plan: Plan, needs: Needs, target: Target, anyhow: bool
    ) -> None:
        arrays = [
            ir.Parameter(i.name, step.buffers[i.name].dtype, len(step.buffers[i.name].shape))
            for i in step.inputs
        ]
        numbers = [ir.Parameter(n, INT64, None) for n, _ in step.given]
        own = Plan(
            name, (*arrays, *numbers), dict(step.buffers), (Launch(step.kernel),), (), None,
            plan.constants, plan.origin,
        )  # fmt: skip
        order = [p.name for p in own.parameters]
        texts = KernelTexts(own.buffers, order, list(plan.constants), needs, target)
        super().__init__(own, texts, needs, target)
        self.step, self.anyhow = step, anyhow
        self.naming.device = {}
        self.shape = self.naming.take("shape")

    @cached_property
    def overlap(self) -> Overlap:
        """Blocks are never one array: what is stored into is new."""
        return Overlap(self.plan.aliases)

    @cached_property
    def elementwise(self) -> bool:
        """Whether the arrays may have any number of dimensions."""
        return self.anyhow

    def write(self) -> str:
        """The text."""
        out = self.step.out.name
        self._body(self.plan.items)
        launches, self.out.lines = self.out.lines, []
        if not self.step.renewed:
            shape, dtype = self._shape(self.step.shape), self.step.buffers[out].dtype
            self.emit(f"{out} = {self.target.empty(shape, self._dtype_value(dtype))}")
        made, self.out.lines = self.out.lines, []
        self._given_blocks()
        for root, name in self.naming.types.items():
            self.emit(f"{name} = {root}.dtype.type")
        if self.errors:
            zeros = f"np.zeros({max(self.errors) + 1}, np.int32)"
            self.emit(f"error = {self.target.copied(zeros)}")
        self.out.lines += [*made, *launches]
        self._epilogue()
        result = self.spelled(self.target.result(out, "False"))
        self.emit(f"return {result}.reshape({self.shape})" if self.anyhow else f"return {result}")
        names = ", ".join(p.name for p in self.plan.parameters)
        return "\n".join([f"def {self.plan.name}({names}):", *self._says(), *self.out.lines])

    def _says(self) -> list[str]:
        text = f"What a block of `{self.step.out.name}` is."
        if self.step.folded:
            text = "What the blocks leave of a fold."
        return [f'    """{text}"""']

    def _given_blocks(self) -> None:
        names = [i.name for i in self.step.inputs]
        if self.anyhow:
            self.emit(f"{self.shape} = {names[0]}.shape")
        for n in names:
            if n == self.step.out.name:
                copy = f'np.array({n}, order="C")'
                self.emit(f"{n} = {self.target.copied(copy)}")
                continue
            self.emit(
                f"{n} = {self.spelled(self.target.moved(f'{n}.reshape(-1)' if self.anyhow else n))}"
            )
