"""The end of a host function: copies back, and what it returns."""

from __future__ import annotations

from porter import ir
from porter.codegen.host.leading import Leading
from porter.codegen.kernel.errors import RAISED


class Results(Leading):
    """Writes the epilogue and the `return` statements."""

    def _epilogue_lines(self) -> list[str]:
        outer, self.out.lines = self.out.lines, []
        self._epilogue()
        lines, self.out.lines = self.out.lines, outer
        return lines

    def _epilogue(self) -> None:
        if self.target.extras.timing:
            self._needs("_timed")
            self.emit("_milliseconds(times, timing)")
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
        values = [self._value(item, k) for k in range(len(item.values))]
        if item.single:
            self.emit(f"return {values[0]}" if values[0] != "None" else "return None")
        elif item.listed:
            self.emit(f"return [{', '.join(values)}]")
        else:
            self.emit(f"return {', '.join(values)}" + ("," if len(values) == 1 else ""))

    def _value(self, item: ir.Return, k: int) -> str:
        value, argument = item.values[k], self._given_by(item, k)
        if argument:
            return f"given_{argument}"
        if k in item.squeezed and isinstance(value, str):
            return self._squeezed(value)
        if isinstance(value, ir.Load) and not value.index and value.dtype.weak and self.arrays:
            return self._number(value, k)
        return self._result(value, self._plain(k), self._kept(item, k))

    def _kept(self, item: ir.Return, k: int) -> str:
        """What says whether a result is a 0-d array where numbers stand for arrays; '' if none."""
        kept, returns = self.plan.numbers.kept, self._returns
        at = next(n for n, i in enumerate(returns) if i is item)
        if len(kept) != len(returns) or k not in kept[at]:
            return ""
        given = (f"isinstance(given_{n}, np.ndarray)" for n in kept[at][k])
        return " or ".join(given) or "True"

    def _plain(self, k: int) -> str:
        """What says whether a result is Python's number; '' where none is."""
        return self._all_plain(self.plan.numbers.python[k] if self.plan.numbers.python else ())

    def _all_plain(self, names: tuple[str, ...]) -> str:
        """What says whether these arguments are Python's numbers."""
        if names and names not in self.naming.plain:
            self.naming.plain[names] = (
                "plain" if self.plan.items_of_lists else self.naming.take("plain")
            )
        return self.naming.plain.get(names, "")

    def _result(self, value: str | ir.Expr | None, plain: str, kept: str) -> str:
        if value is None:
            return "None"
        if isinstance(value, str):
            if value in self.naming.device:
                return self._whole(value)
            made = self._array_result(value, plain, kept)
            for p in sorted(self.plan.aliases.arguments(value)):
                made = f"{self._whole(p)} if {value} is {self.buffer(p)} else {made}"
            return made
        if isinstance(value, ir.Object) and value.array and self.arrays:
            return self.spelled(self.target.as_given(value.name, self.on_device()))
        if isinstance(value, ir.Load) and not value.index:
            return self._scalar_result(value, plain)
        with self.host.renamed({n: f"given_{n}" for n in self._numbers_of(value)}):
            return self.host.text(value)

    def _array_result(self, name: str, plain: str, kept: str) -> str:
        shape = ", shape" if self.elementwise else self._leading_shape(name, kept)
        if self.elementwise:
            shape += f", {kept}" if kept else ""
            if name in self.own_shapes:
                self._needs("_own_part")
                shape += f", own={self.own_shape(self.own_shapes[name])}"
        elif not (shape or self.plan.buffers[name].shape):
            # a scalar is returned as the element of its buffer, this is an array of no dimensions
            shape += f", keep={kept or True}"
        shape += f", plain={plain}" if plain else ""
        return self.spelled(self.target.result(name, self.on_device(), shape))

    def _squeezed(self, name: str) -> str:
        """A result without the axes that are 1 long; an array, even if it has no axis then."""
        shape = f", tuple(n for n in {name}.shape if n != 1), True"
        return self.spelled(self.target.result(name, self.on_device(), shape))

    def _scalar_result(self, value: ir.Load, plain: str) -> str:
        if value.dtype.weak and not plain:
            return f"{self.spelled(self.target.fetched(value.buffer))}[()].item()"
        option = f", plain={plain}" if plain else ""
        return self.spelled(self.target.result(value.buffer, self.on_device(), option, scalar=True))

    def _number(self, value: ir.Load, k: int) -> str:
        """A number that is Python's, whatever arrays and lists hold, unless a number is NumPy's."""
        counted = self.plan.numbers.counted if not self.plan.items_of_lists else ()
        plain = self._all_plain(counted[k]) if counted and counted[k] else ""
        fetched = f"{self.spelled(self.target.fetched(value.buffer))}[()]"
        if not plain:
            return f"{fetched}.item()"
        name = self.naming.take("number")
        self.emit(f"{name} = {fetched}")
        return f"{name}.item() if {plain} else {name}"
