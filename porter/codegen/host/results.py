"""The end of a host function: copies back, and what it returns."""

from __future__ import annotations

from porter import ir
from porter.codegen.host.leading import Leading
from porter.codegen.kernel.errors import RAISED
from porter.ir.walk import statements
from porter.schedule.nodes import Launch, items_of


class Results(Leading):
    """Writes the epilogue and the `return` statements."""

    def _epilogue_lines(self) -> list[str]:
        outer, self.out.lines = self.out.lines, []
        self._epilogue()
        lines, self.out.lines = self.out.lines, outer
        return lines

    def _epilogue(self) -> None:
        if self.errors:
            errors = self.spelled(self.target.fetched("error"))
            if len(self.errors) > 1:
                self.emit(f"errors = {errors}")
                errors = "errors"
            for slot in sorted(self.errors):
                self.emit(f"if {errors}[{slot}]:")
                self.emit(f"    raise {RAISED[slot]}")
        for p in self.plan.parameters:
            if p.name in self.overlap.written:
                own, whole = self.naming.device[p.name], self._whole(p.name)
                self.emit(self.spelled(self.target.copied_back(own, whole)))

    def _return(self, item: ir.Return) -> None:
        self._epilogue()
        python = self.plan.python or (False,) * len(item.values)
        values = [
            self._squeezed(v) if k in item.squeezed and isinstance(v, str) else self._result(v, p)
            for k, (v, p) in enumerate(zip(item.values, python, strict=True))
        ]
        if item.single:
            self.emit(f"return {values[0]}" if values[0] != "None" else "return None")
        elif item.listed:
            self.emit(f"return [{', '.join(values)}]")
        else:
            self.emit(f"return {', '.join(values)}" + ("," if len(values) == 1 else ""))

    def _result(self, value: str | ir.Expr | None, python: bool = False) -> str:
        if value is None:
            return "None"
        if isinstance(value, str):
            if value in self.naming.device:
                return self._whole(value)
            made = self._array_result(value, python)
            for p in sorted(self.plan.aliases.arguments(value)):
                made = f"{p} if {value} is {self.buffer(p)} else {made}"
            return made
        if isinstance(value, ir.Object) and value.array and self.arrays:
            return self.spelled(self.target.as_given(value.name, self.on_device()))
        if isinstance(value, ir.Load) and not value.index:
            return self._scalar_result(value, python)
        return self.host.text(value)

    def _array_result(self, name: str, python: bool) -> str:
        shape = ", shape" if self.elementwise else self._leading_shape(name)
        shape += ", True" if self.elementwise and self._is_choice(name) else ""
        # a scalar is returned as the element of its buffer, this is an array of no dimensions
        shape += ", keep=True" if not (shape or self.plan.buffers[name].shape) else ""
        shape += ", plain=plain" if python else ""
        return self.spelled(self.target.result(name, self.on_device(), shape))

    def _squeezed(self, name: str) -> str:
        """A result without the axes that are 1 long; an array, even if it has no axis then."""
        self._needs("_result")
        shape = f"tuple(n for n in {name}.shape if n != 1)"
        return f"_result({name}, {self.on_device()}, stream, {shape}, True)"

    def _is_choice(self, name: str) -> bool:
        """Whether an array comes from `np.where`, which keeps 0-d arrays where ufuncs do not."""
        launches = [i for i in items_of(self.plan.items) if isinstance(i, Launch)]
        stored = [s for i in launches for s in statements(i.kernel.body)
                  if isinstance(s, ir.Write) and s.buffer == name]  # fmt: skip
        return any(isinstance(s.body, ir.Select) for s in stored)

    def _scalar_result(self, value: ir.Load, python: bool) -> str:
        if value.dtype.weak:
            return f"{self.spelled(self.target.fetched(value.buffer))}[()].item()"
        plain = ", plain=plain" if python else ""
        return self.spelled(self.target.result(value.buffer, self.on_device(), plain, scalar=True))
