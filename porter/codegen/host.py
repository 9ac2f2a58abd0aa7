"""The host function: checks, transfers, allocations, launches, results."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from porter.arrays.dtypes import DType
from porter.arrays.sizes import Poly
from porter.codegen.elementwise import is_elementwise, items_of
from porter.codegen.hosttext import HostText
from porter.codegen.kernels import KernelTexts, Written, kernel_expressions
from porter.codegen.overlap import Overlap, overlaps
from porter.codegen.writer import Needs
from porter.ir.nodes import (
    Alloc,
    Bind,
    Cast,
    Check,
    Expr,
    Host,
    Jump,
    Let,
    Load,
    Local,
    Origin,
    Parameter,
    Return,
    Scalar,
    Select,
    Value,
    Write,
)
from porter.ir.ops import OPS
from porter.ir.walk import free_names, statements, walk
from porter.plan.nodes import HostIf, HostLoop, HostWhile, Kernel, Launch, Plan

_BLOCKS = {"2d": ("BLOCK_X", "BLOCK_Y"), "3d": ("BLOCK_X", "BLOCK_Y", "BLOCK_Z")}


class HostFunction:
    """Writes one host function; the kernels are written when their launch is reached."""

    def __init__(self, plan: Plan, texts: KernelTexts, needs: Needs) -> None:
        self.plan = plan
        self.texts = texts
        self.needs = needs
        self.arrays = [p for p in plan.parameters if p.ndim is not None]
        self.names = {p.name for p in plan.parameters}
        self.types: dict[str, str] = {}
        self.device = {p.name: f"d_{p.name}" for p in self.arrays}
        self.host = HostText(needs, self.type_of, {})
        self.lines: list[str] = []
        self.indent = 1
        self.kernels: list[Written] = []
        self.parameters_of_launch: set[str] = set()
        self.uses_error = False
        self.launched: set[str] = set()
        self.shown: set[tuple[int, str]] = set()
        self.pending = list(plan.checks)
        self.known: set[str] = set()
        self.elementwise = is_elementwise(plan)
        self.overlap: Overlap = overlaps(plan)
        self.written = self.overlap.written

    # -- small pieces ----------------------------------------------------------------

    def emit(self, line: str) -> None:
        """One line at the current indentation."""
        self.lines.append("    " * self.indent + line)

    def type_of(self, root: str) -> str:
        """The host's name of a parameter's dtype."""
        if root not in self.types:
            kind = self.plan.buffers[root].dtype.kind
            self.types[root] = self._free("T" if kind == "f" else "I")
        return self.types[root]

    def _free(self, name: str) -> str:
        """A name that neither the user nor the host function has used."""
        used = {*self.names, *self.plan.buffers, *self.plan.constants, *self.types.values()}
        candidate, k = name, 2
        while candidate in used:
            candidate, k = f"{name}{k}", k + 1
        return candidate

    def buffer(self, name: str) -> str:
        """The host's name of an array on the device."""
        return self.device.get(name, name)

    def comment(self, origin: Origin) -> None:
        """The source line, once."""
        key = (origin.span.line, origin.text)
        if origin.text and key not in self.shown:
            self.shown.add(key)
            for own in origin.comments:
                self.emit(own)
            self.emit(f"# {origin.text}")

    # -- the function ----------------------------------------------------------------

    def write(self) -> str:
        """The text of the host function."""
        self._body(self.plan.items)
        body, self.lines = self.lines, []
        self._prologue(body)
        head = self._head()
        if not any(isinstance(i, Return) for i in self.plan.items):
            body += self._epilogue_lines()
        return "\n".join([*head, *self.lines, *body])

    def _head(self) -> list[str]:
        parameters = [
            p.name if p.default is None else f"{p.name}={p.default}" for p in self.plan.parameters
        ]
        text = f"def {self.plan.name}({', '.join([*parameters, '*', 'stream=None'])}):"
        lines = [text]
        if self.plan.docstring:
            doc = self.plan.docstring
            quote = '"""' if '"""' not in doc else "'''"
            prefix = "r" if "\\" in doc else ""
            lines.append(f"    {prefix}{quote}{doc}{quote}")
        return lines

    def _prologue(self, body: Sequence[str]) -> None:
        if self.elementwise and len(self.arrays) > 1:
            self._needs("_weak")
            both = ", ".join(p.name for p in self.arrays)
            self.emit(f"{both} = _weak({both})")
        for p in sorted(self.plan.parameters, key=lambda p: p.ndim is None):
            self._check_parameter(p)
        if self.elementwise:
            self._flatten()
        else:
            self._expand()
        self._same_dtypes()
        for root, name in self.types.items():
            self.emit(f"{name} = {root}.dtype.type")
        late = [c for c in self.pending if not self._ready(c)]
        for c in self.pending:
            if c not in late:
                self._check(c)
        self.pending = late
        names = [p.name for p in self.arrays]
        if names:
            self._needs("_on_device")
            inside = (
                f"_on_device({names[0]})"
                if len(names) == 1
                else " or ".join(f"_on_device({n})" for n in names)
            )
            if any("on_device" in line for line in body):
                self.emit(f"on_device = {inside}")
        self.emit("stream = 0 if stream is None else stream")
        self._transfers([p for p in self.arrays if self._is_used(p.name, body)])
        if self.uses_error:
            self.emit("error = cuda.to_device(np.zeros(1, np.int32), stream=stream)")

    def _is_used(self, name: str, body: Sequence[str]) -> bool:
        return any(re.search(rf"\bd_{name}\b", line) for line in body) or name in self.written

    def _needs(self, *helpers: str) -> None:
        self.needs.helpers |= set(helpers)

    def _check_parameter(self, p: Parameter) -> None:
        name = p.name
        if p.fixed:
            self.emit(
                f"if {name} is not {p.default}:"
                if p.default == "None"
                else f"if {name} != {p.default}:"
            )
            self.emit(f'    raise TypeError("{name} must be {_plain(p.default or "")}: '
                      'the kernels were converted for that value")')  # fmt: skip
        elif p.ndim is None:
            self._scalar(p)
        else:
            ndim = None if self.elementwise else p.ndim
            self._needs("_array", "_on_device")
            extra = ", written=True" if name in self.written else ""
            self.emit(f'{name} = _array({name}, "{name}", {ndim}, "@@{name}@@"{extra})')

    def _scalar(self, p: Parameter) -> None:
        if p.dtype.kind in "iu":
            self._needs("_integer")
            like = self._met_by(p.name)
            self.emit(f'{p.name} = _integer({p.name}, "{p.name}"{like})')
        elif p.dtype.kind in "fc":
            self._needs("_number")
            dtypes = [q for q in self.arrays if q.dtype.kind in "fc"]
            like = f", {dtypes[0].name}.dtype" if dtypes else ""
            self.emit(f'{p.name} = _number({p.name}, "{p.name}"{like})')

    def _expand(self) -> None:
        """Arguments of length 1 along an axis where another one is longer."""
        for group in self.plan.expandable:
            names = ", ".join(n for n, _ in group)
            axes = ", ".join(str(d) for _, d in group)
            self._needs("_expanded", "_on_device")
            self.emit(f"{names} = _expanded(({names}), ({axes}))")
            sizes = {f"{n}.shape[{d}]" for n, d in group}
            self.pending = [c for c in self.pending
                            if not (c.kind == "broadcast" and c.left.symbol in sizes)]  # fmt: skip

    def _common_shape(self, names: Sequence[str]) -> None:
        """Broadcasting where only expressions meet; a store or a `zeros_like` fixes the shape."""
        if len(names) == 1 or self.plan.strict:
            self.emit(f"shape = {names[0]}.shape")
            for n in names[1:]:
                self.emit(f"if {n}.shape != shape:")
                text = f"operands could not be broadcast together: {{shape}} and {{{n}.shape}}"
                self.emit(f'    raise ValueError(f"{text}")')
            return
        self.needs.numpy = True
        self.emit(f"shape = np.broadcast_shapes({', '.join(f'{n}.shape' for n in names)})")

    def _met_by(self, name: str) -> str:
        """The dtype of an array that an integer argument is combined with."""
        for item in items_of(self.plan.items):
            for e in kernel_expressions(item.kernel) if isinstance(item, Launch) else ():
                for x in walk(e):
                    if isinstance(x, Cast) and isinstance(x.arg, Value) and x.dtype.var:
                        if name in x.arg.poly.names():
                            return f", {x.dtype.var}.dtype"
        return ""

    def _flatten(self) -> None:
        """An elementwise function takes any number of dimensions: its kernels see one."""
        names = [p.name for p in self.arrays]
        self._needs("_flat")
        self._common_shape(names)
        self.pending = [c for c in self.pending if c.kind != "broadcast"]
        for n in names:
            if n in self.written:
                self.emit(f"if {n}.shape != shape:")
                self.emit(
                    f'    raise ValueError(f"cannot broadcast to the shape {{{n}.shape}} of {n}")'
                )
                self.emit(f"whole_{n} = {n}")
        for n in names:
            self.emit(f"{n} = _flat({n}, shape)")

    def _same_dtypes(self) -> None:
        groups: dict[str, list[str]] = {}
        for p in self.arrays:
            var = self.plan.buffers[p.name].dtype.var
            if var is not None:
                groups.setdefault(var, []).append(p.name)
        for names in groups.values():
            for other in names[1:]:
                self.emit(f"if {other}.dtype != {names[0]}.dtype:")
                first = names[0]
                self.emit(f'    raise TypeError(f"{first} is {{{first}.dtype}} but {other} is '
                          f'{{{other}.dtype}}: give them one dtype")')  # fmt: skip

    def _ready(self, c: Check) -> bool:
        names = c.left.names() | c.right.names()
        for p in c.when:
            names |= p.names()
        for e in c.conditions:
            names |= free_names(e)
            names |= {x.name for x in walk(e) if isinstance(x, (Scalar, Local))}
        return all(n.split(".")[0] in self.names for n in names)

    def _check(self, c: Check) -> None:
        left, right = self.host.poly(c.left, 5), self.host.poly(c.right, 5)
        when = [self.host.text(e, 3) for e in c.conditions]
        when += [f"{self.host.poly(p, 5)} > 0" for p in c.when if not p.is_positive()]
        test = f"{left} != {right}"
        if c.kind == "index":
            test = f"{right} < {left}" if c.left.constant is not None else f"{left} > {right}"
        self.emit(f"if {' and '.join([*when, test])}:")
        if c.kind == "index":
            self.emit(f'    raise {c.error}("{_plain(c.message)}")')
        else:
            sides = [self.host.poly(p) for p in (c.left, c.right)]
            found = " and ".join(
                f"{s} is {{{s}}}" if s.strip("-").isdigit() is False else s for s in sides
            )
            what = _plain(c.message)
            if c.kind == "broadcast" or what in OPS or what == "where":
                what = "operands could not be broadcast together"
            self.emit(f'    raise {c.error}(f"{what}: {found}")')

    def _transfers(self, used: Sequence[Parameter]) -> None:
        """Arguments to the device, those that are stored into first: an alias shares theirs."""
        done: list[str] = []
        for p in sorted(used, key=lambda p: p.name not in self.written):
            self._transfer(p.name, [w for w in done if w in self.written])
            done.append(p.name)

    def _transfer(self, name: str, before: Sequence[str]) -> None:
        self._needs("_to_device", "_on_device")
        word = "if"
        for w in before:
            if self.overlap.possible(w, name):
                self._needs("_same_memory")
                self.emit(f"{word} _same_memory({w}, {name}):")
                self.emit(f"    d_{name} = d_{w}")
                word = "elif"
        if word == "elif":
            self.emit("else:")
        pad = "    " if word == "elif" else ""
        self.emit(f"{pad}d_{name} = _to_device({name}, stream)")

    # -- statements ------------------------------------------------------------------

    def _body(self, items: Sequence[object]) -> None:
        if not items and self.indent > 1:
            self.emit("pass")
        for item in items:
            self._item(item)

    def _item(self, item: object) -> None:
        match item:
            case Alloc(buffer, _):
                text = self._shape(buffer.shape)
                dtype = self._dtype_value(buffer.dtype)
                self.emit(f"{buffer.name} = cuda.device_array({text}, {dtype}, stream=stream)")
            case Let(name, value, origin):
                self.comment(origin)
                self.emit(f"{name} = {self.host.text(value)}")
                self.names.add(name)
                for c in [c for c in self.pending if self._ready(c)]:
                    self._check(c)
                    self.pending.remove(c)
            case Launch(kernel):
                self._launch(kernel)
            case Bind(names, buffers, _):
                left = ", ".join(self.buffer(n) for n in names)
                self.emit(f"{left} = {', '.join(self.buffer(b) for b in buffers)}")
            case Host(text, _):
                body = textwrap.dedent(text).strip("\n")
                for line in body.splitlines():
                    self.emit(line)
            case Jump(kind, _):
                self.emit(kind)
            case Return():
                self._return(item)
            case HostLoop() | HostWhile() | HostIf():
                self._nested(item)
            case _:
                raise AssertionError(type(item).__name__)

    def _nested(self, item: HostLoop | HostWhile | HostIf) -> None:
        match item:
            case HostLoop(index, lo, hi, step, body, _):
                start, stop = self.host.poly(lo), self.host.poly(hi)
                parts = [stop] if start == "0" and step == 1 else [start, stop]
                parts += [str(step)] if step != 1 else []
                self.emit(f"for {index} in range({', '.join(parts)}):")
            case HostWhile(_, cond, body, _):
                self.emit(f"while {self.host.text(cond)}:")
            case HostIf(cond, body, _, _):
                self.emit(f"if {self.host.text(cond)}:")
        self.indent += 1
        self._body(body)
        self.indent -= 1
        if isinstance(item, HostIf) and item.orelse:
            self.emit("else:")
            self.indent += 1
            self._body(item.orelse)
            self.indent -= 1

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

    def _dtype_value(self, dtype: DType) -> str:
        if dtype.var is not None:
            return f"{dtype.var}.dtype"
        return self.host.dtype(dtype)

    # -- launches --------------------------------------------------------------------

    def _launch(self, kernel: Kernel) -> None:
        written = self.texts.write(kernel)
        self.kernels.append(written)
        sizes = [self.host.poly(n, 5) for n in written.grid]
        guards = [
            f"{s} > 0" for s, n in zip(sizes, written.grid, strict=True) if not n.is_positive()
        ]
        depth = self.indent
        if guards and written.shape != "total":
            self.emit(f"if {' and '.join(guards)}:")
            self.indent += 1
        self._overlap_checks(kernel)
        getattr(self, f"_launch_{written.shape}", self._launch_grid)(written, sizes)
        self.indent = depth

    def _overlap_checks(self, kernel: Kernel) -> None:
        for w, r in self.overlap.sequential.get(kernel.name, ()):
            self._needs("_same_memory")
            self.emit(f"if _same_memory({self.buffer(w)}, {self.buffer(r)}):")
            self.emit(f'    raise ValueError("{w} and {r} are one array: pass a copy of {r}")')

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
        sizes = [self.host.poly(_symbol(n)) for n in written.sizes]
        tail = ["error"] if written.uses_error else []
        self.uses_error = self.uses_error or written.uses_error
        return [*inputs, *scalars, *sizes, *outputs, *tail]

    def plan_parameter(self, name: str) -> bool:
        """Whether an array is an argument of the function."""
        buffer = self.plan.buffers.get(name)
        return buffer is not None and buffer.parameter

    def _scalar_argument(self, e: Expr, dtype: DType) -> str:
        text = self.host.text(e)
        if dtype == e.dtype or dtype.weak:
            return text
        return f"{self.host.dtype(replace(dtype, weak=False))}({text})"

    def _call(self, written: Written, grid: str, block: str, extra: Sequence[str] = ()) -> None:
        args = self._arguments(written)
        if extra:
            at = len(args) - (1 if written.uses_error else 0)
            args[at:at] = extra
        self.emit(f"{written.name}[{grid}, {block}, stream]({', '.join(args)})")

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

    def _launch_tile(self, written: Written, sizes: list[str]) -> None:
        self._needs("_blocks", "tile")
        grid = [f"_blocks({s}, TILE)" for s in reversed(sizes[-2:])]
        grid += [f"_blocks({sizes[0]}, 1)"] if len(sizes) == 3 else []
        self._call(written, f"({', '.join(grid)})", "(TILE, TILE)")

    def _launch_total(self, written: Written, sizes: list[str]) -> None:
        """All blocks, then one block over their partial results."""
        assert written.finish is not None
        self._needs("_blocks", "total")
        self.emit(f"blocks = min(max(_blocks({sizes[0]}, THREADS), 1), MOST_PARTIALS)")
        names = []
        for k, dtype in enumerate(written.partials):
            name = "partial" if len(written.partials) == 1 else f"partial{k + 1}"
            shown = "np.int32" if dtype.name == "bool" else self._dtype_value(dtype)
            self.needs.numpy = self.needs.numpy or shown.startswith("np.")
            self.emit(f"{name} = cuda.device_array(blocks, {shown}, stream=stream)")
            names.append(name)
        self._call(written, "blocks", "THREADS", names)
        finish = written.finish
        self.kernels.append(finish)
        self._finish_call(finish, names)

    def _finish_call(self, finish: Written, names: list[str]) -> None:
        partials = iter(names)
        mapping = {n: next(partials) for n in finish.arrays if n not in self.plan.buffers}
        self.device |= mapping
        self._call(finish, "1", "THREADS")
        for n in mapping:
            del self.device[n]

    # -- results ---------------------------------------------------------------------

    def _epilogue_lines(self) -> list[str]:
        outer, self.lines = self.lines, []
        self._epilogue()
        lines, self.lines = self.lines, outer
        return lines

    def _epilogue(self) -> None:
        if self.uses_error:
            self._needs("_to_host")
            self.emit("if _to_host(error, stream)[0]:")
            self.emit('    raise IndexError("an index read from data is out of bounds")')
        for p in self.plan.parameters:
            if p.name in self.written:
                self._needs("_copy_back", "_on_device")
                target = f"whole_{p.name}" if self.elementwise else p.name
                self.emit(f"_copy_back(d_{p.name}, {target}, stream)")

    def _return(self, item: Return) -> None:
        self.comment(item.origin) if False else None
        self._epilogue()
        values = [self._result(v) for v in item.values]
        if item.single:
            self.emit(f"return {values[0]}" if values[0] != "None" else "return None")
        else:
            self.emit(f"return {', '.join(values)}" + ("," if len(values) == 1 else ""))

    def _result(self, value: str | Expr | None) -> str:
        if value is None:
            return "None"
        if isinstance(value, str):
            if value in self.device:
                return f"whole_{value}" if self.elementwise and value in self.written else value
            made = self._array_result(value)
            for p in sorted(self._may_mean(value)):
                made = f"{p} if {value} is d_{p} else {made}"
            return made
        if isinstance(value, Load) and not value.index:
            return self._scalar_result(value)
        return self.host.text(value)

    def _may_mean(self, name: str) -> set[str]:
        """The arguments that a variable of the host may still be when it is returned."""
        return self.overlap.may_mean(name)

    def _array_result(self, name: str) -> str:
        self._needs("_result")
        shape = ", shape" if self.elementwise else ""
        shape += ", True" if shape and self._is_choice(name) else ""
        on = "on_device" if self.plan_has_arrays else "False"
        return f"_result({name}, {on}, stream{shape})"

    def _is_choice(self, name: str) -> bool:
        """Whether an array comes from `np.where`, which keeps 0-d arrays where ufuncs do not."""
        launches = [i for i in items_of(self.plan.items) if isinstance(i, Launch)]
        stored = [s for i in launches for s in statements(i.kernel.body)
                  if isinstance(s, Write) and s.buffer == name]  # fmt: skip
        return any(isinstance(s.body, Select) for s in stored)

    def _scalar_result(self, value: Load) -> str:
        self._needs("_result")
        if value.dtype.weak:
            self._needs("_to_host")
            return f"_to_host({value.buffer}, stream)[()].item()"
        on = "on_device" if self.plan_has_arrays else "False"
        return f"_result({value.buffer}, {on}, stream)"

    @property
    def plan_has_arrays(self) -> bool:
        """Whether any argument is an array."""
        return any(p.ndim is not None for p in self.plan.parameters)


def _symbol(name: str) -> Poly:
    from porter.arrays.sizes import sym

    return sym(name)


def _plain(text: str) -> str:
    return text.replace("`", "").replace('"', "'").replace("{", "(").replace("}", ")")
