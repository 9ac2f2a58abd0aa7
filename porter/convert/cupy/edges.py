"""The host function: arguments are checked, moved once, and results handed back."""

from __future__ import annotations

from functools import cached_property

from porter import ir
from porter.codegen.host.function import HostFunction


class Edges(HostFunction):
    """Writes the host function around a function of device arrays."""

    @cached_property
    def elementwise(self) -> bool:
        """Whether any rank is taken: the source was rewritten for one."""
        return False

    def _any_rank(self, name: str) -> bool:
        return False

    def _check_parameter(self, p: ir.Parameter) -> None:
        if not p.items:
            super()._check_parameter(p)

    def around(self, device: str, returns: bool) -> str:
        """The text; `returns` says whether the function of device arrays returns something."""
        for p in self.plan.parameters:
            self._classes(p)
        self._check_parameters()
        self._same_dtypes()
        arrays = [p.name for p in self.arrays]
        written = [n for n in arrays if n in self.overlap.written]
        self._needs("_on_stream", "_on_device")
        if returns and arrays:
            self.emit(f"on_device = {' or '.join(f'_on_device({n})' for n in arrays)}")
        self.emit("with _on_stream(stream):")
        self.out.indent += 1
        self._moves(arrays, written)
        given = [f"d_{p.name}" if p.ndim is not None else p.name for p in self.plan.parameters]
        call = f"{device}({', '.join(given)})"
        if returns:
            pairs = "".join(f", (d_{n}, {n})" for n in arrays)
            where = "on_device" if arrays else "False"
            self._needs("_given_back")
            call = f"_given_back({call}, {where}{pairs})"
        if not written:
            self.emit(f"return {call}" if returns else call)
        else:
            self.emit(f"own_result = {call}" if returns else call)
            for n in written:
                self._needs("_stored_back")
                self.emit(f"_stored_back(d_{n}, {n})")
            if returns:
                self.emit("return own_result")
        return "\n".join([*self._head(), *self.out.lines])

    def _moves(self, arrays: list[str], written: list[str]) -> None:
        """Each array to the device, those that are stored into first: one array stays one."""
        done: list[str] = []
        for name in sorted(arrays, key=lambda n: n not in written):
            word = "if"
            for w in (n for n in done if n in written):
                self._needs("_same_memory")
                self.emit(f"{word} _same_memory({w}, {name}):")
                self.emit(f"    d_{name} = d_{w}")
                word = "elif"
            pad = ""
            if word == "elif":
                self.emit("else:")
                pad = "    "
            self.emit(f"{pad}d_{name} = cp.asarray({name})")
            done.append(name)
