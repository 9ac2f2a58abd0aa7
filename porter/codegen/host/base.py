"""What all parts of a host function share: names, lines, sizes and dtypes as text."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property

from porter import ir
from porter.codegen.host.text import HostText
from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs
from porter.codegen.module.marks import one_line, quoted
from porter.dtypes.dtype import DType
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.schedule.overlap import Overlap, overlaps
from porter.sizes.polynomial import Poly
from porter.support.names import NameSupply
from porter.target.base import Call, Target


class Naming:
    """The names that a host function uses: for dtypes of arguments, and for their device arrays."""

    def __init__(self, plan: Plan, prefix: str, like_floats: Set[str] = frozenset()) -> None:
        self.plan = plan
        self.like_floats = like_floats  # arguments whose dtypes are called what those of floats are
        self.used = {q.name for p in plan.parameters for q in (p, *p.items)}
        self.types: dict[str, str] = {}
        self.device = {p.name: prefix + p.name for p in plan.parameters if p.ndim is not None}
        self.mentioned: set[str] = set()  # the arguments whose device array is used
        self.plain: dict[tuple[str, ...], str] = {}  # whether these arguments are Python's numbers
        self.blocks = "most_blocks"  # so many have threads with generators
        self.shapes: dict[tuple[str, ...], str] = {}  # of these arguments, broadcast
        self.asks_device = False  # whether results depend on where the arguments are

    def buffer(self, name: str) -> str:
        """The host's name of an array on the device."""
        self.mentioned.add(name)
        return self.device.get(name, name)

    def type_of(self, root: str) -> str:
        """The host's name of a parameter's dtype."""
        if root not in self.types:
            kind = self.plan.buffers[root].dtype.kind
            floats = kind == "f" or root in self.like_floats
            self.types[root] = self.free("T" if floats else "I")
        return self.types[root]

    def free(self, name: str) -> str:
        """A name that neither the user nor the host function has used."""
        others = (self.plan.buffers, self.plan.constants, self.types.values())
        return NameSupply(self.used, *others).unused(name)

    def take(self, name: str) -> str:
        """Such a name, which is in use from now on."""
        found = self.free(name)
        self.used.add(found)
        return found


class Lines:
    """The lines of a host function so far, and the source lines that its comments quote."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = 1
        self.quoted: set[tuple[int, str]] = set()

    def emit(self, line: str) -> None:
        """One line at the current indentation."""
        self.lines.append("    " * self.indent + line)

    def comment(self, origin: ir.Origin) -> None:
        """The source line, once."""
        key = (origin.span.line, origin.text)
        if origin.text and key not in self.quoted:
            self.quoted.add(key)
            for own in origin.comments:
                self.emit(one_line(own))
            self.emit(quoted(origin))


class HostBase:
    """The state of one host function being written."""

    def __init__(self, plan: Plan, texts: KernelTexts, needs: Needs, target: Target) -> None:
        self.plan = plan
        self.texts = texts
        self.needs = needs
        self.target = target
        self.naming = Naming(plan, target.prefix, needs.like_floats)
        self.host = HostText(needs, self.naming.type_of, {})
        self.host.on_host = self.on_host
        self.out = Lines()
        self.kernels: list[tuple[str, list[str]]] = []  # text, and the names of its launches
        self.errors: set[int] = set()
        self.pending = list(plan.checks)

    @cached_property
    def arrays(self) -> list[ir.Parameter]:
        """The parameters that are arrays."""
        return [p for p in self.plan.parameters if p.ndim is not None]

    @cached_property
    def elementwise(self) -> bool:
        """Whether the arrays may have any number of dimensions."""
        return is_elementwise(self.plan)

    @cached_property
    def own_shapes(self) -> Mapping[str, tuple[str, ...]]:
        """The arguments that each result has the shape of, where it has not that of them all."""
        known = {} if self.target.chunked or not self.elementwise else self.plan.own_shapes
        return {n: of for n, of in known.items() if len(of) < len(self.arrays)}

    def own_shape(self, of: tuple[str, ...]) -> str:
        """The host's name of the shape to which these arguments are broadcast."""
        if of not in self.naming.shapes:
            self.naming.shapes[of] = self.naming.take(f"shape_{'_'.join(of)}")
        return self.naming.shapes[of]

    @cached_property
    def overlap(self) -> Overlap:
        """Which arguments may be one array, and where that matters."""
        return overlaps(self.plan)

    # -- small pieces ----------------------------------------------------------------

    def emit(self, line: str) -> None:
        """One line at the current indentation."""
        self.out.emit(line)

    def comment(self, origin: ir.Origin) -> None:
        """The source line, once."""
        self.out.comment(origin)

    def on_host(self, name: str) -> str:
        """An array where the host can read it: an argument that no kernel changes is there.

        One argument may be given for two: what the kernels store into the other is read then.
        """
        if name in self.naming.device and name not in self.overlap.written:
            found = name
            for w in sorted(w for w in self.overlap.written if self.plan.aliases.alike(w, name)):
                self._needs("_same_memory")
                found = f"{self.buffer(w)} if _same_memory({w}, {name}) else {found}"
            return self.spelled(self.target.host_copy(found))
        return self.spelled(self.target.fetched(self.buffer(name)))

    def buffer(self, name: str) -> str:
        """The host's name of an array on the device."""
        return self.naming.buffer(name)

    def spelled(self, call: Call) -> str:
        """A piece of text of the target's; the helpers that it calls join the module."""
        self._needs(*call.helpers)
        return call.text

    def _needs(self, *helpers: str) -> None:
        self.needs.helpers |= set(helpers)

    def _timed(self, kernel: str, call: str) -> None:
        """A launch, between events where times are asked for."""
        if not self.target.extras.timing:
            self.emit(call)
            return
        self._needs("_timed")
        self.emit(f"with _timed(times, {kernel}, stream):")
        self.emit(f"    {call}")

    def _shape(self, shape: tuple[Poly, ...]) -> str:
        """A shape: an argument's where it is the same."""
        like = next((p.name for p in self.arrays
                     if shape and self.plan.buffers[p.name].shape == shape), None)  # fmt: skip
        if like is not None:
            return f"{like}.shape"
        lengths = [self._length(n) for n in shape]
        return lengths[0] if len(lengths) == 1 else f"({', '.join(lengths)})"

    def _length(self, n: Poly) -> str:
        text = self.host.poly(n)
        return text if n.is_nonneg() else f"max({text}, 0)"

    def _refuse_alias(self, written: str, read: str, device: bool = False) -> None:
        """Two arguments that must not be one array, on the device already or not."""
        self._needs("_same_memory")
        one, other = (self.buffer(n) if device else n for n in (written, read))
        self.emit(f"if _same_memory({one}, {other}):")
        a, b = (min(self.plan.aliases.arguments(n)) for n in (written, read))
        text = f"{a} and {b} are one array: pass a copy of {b}"
        if a == b:
            text = f"{a} is read by another name where it is stored into: make a copy first"
        self.emit(f'    raise ValueError("{text}")')

    def _dtype_value(self, dtype: DType) -> str:
        if dtype.var is not None:
            return f"{dtype.var}.dtype"
        return self.host.dtype(dtype)

    def plan_parameter(self, name: str) -> bool:
        """Whether an array is an argument of the function."""
        buffer = self.plan.buffers.get(name)
        return buffer is not None and buffer.parameter

    def on_device(self) -> str:
        """Whether results stay on the device: where an argument is there already."""
        self.naming.asks_device |= bool(self.arrays) and self.target.device
        return "on_device" if self.arrays else "False"
