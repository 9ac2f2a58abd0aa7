"""Statements that stay on the host: the arrays that they read come to it, their results go back."""

from __future__ import annotations

import re
import textwrap

from porter import ir
from porter.codegen.host.base import HostBase
from porter.ir.engines import Engine
from porter.sizes.polynomial import Dim

#: what needs no parentheses anywhere
_ATOM = re.compile(r"[\w.]+(\[\w+\]|\(.*\))?")
#: where an argument of a call begins
_ARGUMENT = r"(?:(?<=\()|(?<=, ))"


def size_test(item: object) -> tuple[str, tuple[ir.Expr, ...]] | None:
    """The text and the values of a test of arrays' sizes alone: once passed, it always passes."""
    if not isinstance(item, ir.Host) or item.kind is not ir.HostKind.CHECK or item.arrays:
        return None
    values = tuple(e for _, e in item.values)
    for e in values:
        if not isinstance(e, ir.Value) or any(not isinstance(a, Dim) for a in e.poly.atoms()):
            return None
    return item.text, values


class HostCalls(HostBase):
    """Writes the user's own statements, with transfers where their data is on the device."""

    def host_statement(self, s: ir.Host) -> None:
        """The statement, its placeholders filled in."""
        if s.engine is Engine.CUPY:
            self._cupy_call(s)
            return
        if s.engine.is_solver:
            self._solved(s)
            return
        text = self._with_values(textwrap.dedent(s.text).strip("\n"), s)
        for name, buffer in s.arrays:
            text = text.replace(name, self._brought(text, name, buffer, name in s.itself))
        if s.makes or s.arrays:
            self.comment(s.origin)
        if not s.makes:
            for line in text.split("\n"):
                self.emit(line)
            return
        read = [self.buffer(buffer) for _, buffer in s.arrays]
        if len(s.makes) == 1:
            self.emit(f"{s.makes[0]} = {self.spelled(self.target.made(text, read))}")
            return
        self.emit(f"{', '.join(s.makes)} = {text}")
        for made in s.makes:
            self.emit(f"{made} = {self.spelled(self.target.made(made, read))}")

    def _with_values(self, text: str, s: ir.Host) -> str:
        """The text with its scalars, in parentheses where they are no arguments."""
        for name, e in s.values:
            value = self.host.text(e)
            if not _ATOM.fullmatch(value):
                text = re.sub(rf"{_ARGUMENT}{name}(?=[,)])", value.replace("\\", r"\\"), text)
                value = f"({value})"
            text = text.replace(name, value)
        return text

    def _cupy_call(self, s: ir.Host) -> None:
        """CuPy's function of the same name, on the device's own data."""
        self._needs("_from_cupy")
        text = self._with_values(s.text.replace("np.", "cp."), s)
        for placeholder, name in s.arrays:
            text = text.replace(placeholder, f"cp.asarray({self.buffer(name)})")
        self.comment(s.origin)
        self.emit("with _cupy_stream(stream):")
        if len(s.makes) == 1:
            self.emit(f"    {s.makes[0]} = _from_cupy({text})")
            return
        self.emit(f"    {', '.join(s.makes)} = map(_from_cupy, {text})")

    def _solved(self, s: ir.Host) -> None:
        """What the module's own solver makes of an array, in which it works."""
        (_, name), (made,) = s.arrays[0], s.makes
        used = (*self.target.new("", "").helpers, *self.target.workspace("", "", "").helpers)
        self._needs(s.engine.value, "_to_host", "_blocks", *used)
        if s.engine is not Engine.CHOLESKY:
            self._needs("_factorised")
            self.needs.numba_types.add("int32")
        if self.plan.buffers[name].dtype.kind == "c":
            self._needs("_complex_pivots")
        self.comment(s.origin)
        operands = self.buffer(name)
        vector = s.engine is Engine.SOLVE and self._lacks_axis(made, name)
        tail = f".reshape({operands}.shape[:-1])" if vector else ""
        self._timed(s.engine.value, f"{made} = {s.engine.value}({operands}, stream){tail}")

    def _lacks_axis(self, one: str, other: str) -> bool:
        """Whether an array has fewer axes than another one."""
        return len(self.plan.buffers[one].shape) < len(self.plan.buffers[other].shape)

    def _brought(self, text: str, placeholder: str, name: str, itself: bool) -> str:
        """An array where the host can read it; copied once if the text reads it more often."""
        parameter = name in self.naming.device
        if itself and parameter:
            return name
        if itself:
            self._needs("_on_device")
            found = self.spelled(self.target.result(name, self.on_device()))
        else:
            found = self.on_host(name)
        if len(re.findall(rf"\b{placeholder}\b", text)) == 1:
            return found
        copy = self.naming.free(f"{name}_host")
        self.emit(f"{copy} = {found}")
        return copy
