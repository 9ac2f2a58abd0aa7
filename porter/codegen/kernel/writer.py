"""Statements of a kernel as Python text: loops, branches, stores, reductions in the thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import tests_positions
from porter.codegen.kernel.errors import OUT_OF_BOUNDS
from porter.codegen.kernel.expressions import ExpressionWriter
from porter.codegen.kernel.state import Computed, Written
from porter.codegen.module.marks import signatures_of
from porter.codegen.spell import AND, ATOM, COMPARE, INFIX, OR, UNARY, UPDATES
from porter.dtypes.dtype import BOOL, INT64, DType
from porter.ir.ops import RESULT_NAMES
from porter.ir.walk import free_names, scalars_of, substitute, walk
from porter.schedule.base import Grid
from porter.schedule.writing import Lines
from porter.sizes.polynomial import Apply, Poly, sym, unchecked

_FOLD = {"sum": "{a} += {v}", "prod": "{a} *= {v}", "max": "{a} = maximum({a}, {v})",
         "min": "{a} = minimum({a}, {v})", "any": "{a} = {a} or {v}",
         "all": "{a} = {a} and {v}"}  # fmt: skip
#: how tightly the value of a fold must bind there
_EDGES = {"any": OR, "all": AND}


class Writer(ExpressionWriter):
    """Writes the inside of one kernel."""

    # -- its head and its launch -----------------------------------------------------

    @property
    def name(self) -> str:
        """Its name."""
        return self.head.name

    @property
    def args(self) -> str:
        """Its parameters."""
        return self.head.args

    @property
    def scalar(self) -> str:
        """The subscript of an array of no dimensions."""
        return self.target.scalar

    @property
    def types(self) -> Lines:
        """`T = x.dtype.type`, one line for each dtype variable in use."""
        found = ((name, self._carrier(DType("float64", var=root)))
                 for root, name in self.head.types.items())  # fmt: skip
        return Lines([
            *(f"{name} = type({carrier})" if carrier is not None and self.is_element(carrier)
              else f"{name} = {carrier}.dtype.type"
              for name, carrier in found),
            *self.out.first,
        ])  # fmt: skip

    @property
    def inputs(self) -> str:
        """Its parameters, without the arrays that it makes."""
        return ", ".join(self.head.given)

    @property
    def fails(self) -> bool:
        """Whether an element may set an error."""
        return bool(self.head.errors)

    @property
    def options(self) -> str:
        """The keywords of the decorator that compiles it."""
        return self.target.options

    @property
    def signatures(self) -> str:
        """What stands for the types that it is compiled for, until they are known."""
        if self.naming.own & self.head.written:
            return signatures_of(self.head.types_given, self.head.result)
        inputs, made = self.core_shapes
        ranks = [*map(len, inputs), *(max(1, len(shape)) for shape in made)]
        return signatures_of(self.head.types_taken, None, ranks)

    @property
    def core_shapes(self) -> tuple[list[tuple[Poly, ...]], list[tuple[Poly, ...]]]:
        """The shapes of its parameters, those of the arrays that it makes apart."""
        inputs, made = self.head.parts()
        numbers: list[tuple[Poly, ...]] = [()] * (len(self.head.scalars) + len(self.head.sizes))
        return [*map(self._core, inputs), *numbers], [*map(self._core, made)]

    def _core(self, name: str) -> tuple[Poly, ...]:
        shape = self.head.buffers[name].shape
        return tuple(shape[d] for d in self.kept(name, len(shape)))

    def launch(self, grid: Grid) -> Written:
        """How the host launches the kernel."""
        return replace(self.head.launch(grid), axes=self.axes)

    # -- what schedules ask for ------------------------------------------------------

    def helper(self, *names: str) -> None:
        """Device functions that the template calls."""
        self.needs.helpers.update(names)

    def slot(self) -> AbstractContextManager[Lines]:
        """What is written inside goes into the lines of a slot."""
        return self.out.slot()

    def forget(self) -> None:
        """What was computed so far is not there for what follows."""
        self.computed.bounds = {}

    def counted(self, turn: str, number: str) -> None:
        """An index that is an element in memory: the first statement reads it."""
        array = self.array(number)
        self.naming.taken.add(turn)
        self.naming.own.add(turn)
        self.out.first.append(f"{turn} = {array}[{self.scalar}]")

    def gives(self, name: str, dtype: DType) -> str:
        """An argument for partial results, one for each block; the name that it has."""
        given = self.fresh(name)
        self.head.partials[given] = dtype
        return given

    def keeps(self, buffer: ir.Buffer) -> None:
        """Partial results that the last block of the same launch reads."""
        self.head.buffers[buffer.name] = buffer
        self.shared.add(buffer.name)

    def counts(self) -> str:
        """An argument that counts the blocks that are done, after partial results; its name."""
        return self.gives("done", DType("uint32"))

    def gets(self, buffer: ir.Buffer) -> None:
        """An argument with what an earlier launch gave."""
        self.head.buffers[buffer.name] = buffer
        self.array(buffer.name)

    def privatise(self, name: str) -> str:
        """A block's own copy of an array, which updates go to from now on; its name."""
        self.private[name] = self.fresh(f"block_{name}")
        return self.private[name]

    def stand_in(self, name: str, index: str, dtype: DType) -> ir.Load:
        """The element of an array in shared memory, as an operand."""
        self.shared.add(name)
        self.naming.names[f"?{index}"] = index
        self.head.buffers[name] = ir.Buffer(name, (), DType("float64"))
        return ir.Load(name, (sym(f"?{index}", True),), dtype)

    # -- reductions in the thread ----------------------------------------------------

    def initial(self, r: ir.Reduce) -> str:
        """The value that a fold starts from."""
        if r.op in ("any", "all"):
            return str(r.op == "all")
        if r.op in ("sum", "prod"):
            zero = 0 if r.op == "sum" else 1
            if r.dtype.kind == "f":
                return self.expr(ir.Const(float(zero), r.dtype))
            return self.expr(ir.Const(zero, r.dtype))
        if r.dtype.kind == "f":
            return self.expr(ir.Const(-math.inf if r.op == "max" else math.inf, r.dtype))
        return self.expr(self._first(r))

    @staticmethod
    def _first(r: ir.Reduce) -> ir.Expr:
        """The element that an integer extreme starts from: the first (there is one)."""
        return substitute(r.body, {a.name: a.lo for a in r.axes})

    def fold(self, r: ir.Reduce, name: str, operand: str = "", *, in_order: bool = False) -> str:
        """The statement that folds one more element, or an operand, into an accumulator.

        One that is folded `in_order` gives the same on every machine.
        """
        if r.op in ("sum", "prod") and r.dtype.kind in "iu" and r.dtype.itemsize < 8:
            # Numba adds in 64 bits, and its variable would take their type
            value, sign = operand or self.expr(r.body, ATOM), "+*"[r.op == "prod"]
            return f"{name} = {self.type_of(r.dtype)}({name} {sign} {value})"
        kept = in_order and r.op not in ("max", "min")  # which are the same in any order
        free = "" if kept or r.dtype.kind not in "fc" else self.target.folds.get(r.op, "")
        if free:
            self.needs.helpers.add(free)
            return f"{name} = {free}({name}, {operand or self.expr(r.body)})"
        if r.op in ("max", "min"):
            self.needs.helpers.add(f"{r.op}imum")
        return _FOLD[r.op].format(a=name, v=operand or self.expr(r.body, _EDGES.get(r.op, 0)))

    def reduction(self, r: ir.Reduce) -> str:
        """A fold by this thread alone: its loop (once in a statement), and its result's name."""
        known = self.computed.results.get(r)
        if known is not None:
            return known
        name = self.fresh(RESULT_NAMES[r.op])
        self.accumulate(name, r)
        if self.computed.keeps:
            self.computed.results[r] = name
        return name

    def accumulate(self, name: str, r: ir.Reduce) -> None:
        """A fold by this thread alone into a variable."""
        if self.computed.keeps:
            for same in _same_for_all(r):
                self.reduction(same)
        known = self.computed.results
        self.emit(f"{name} = {self.initial(r)}")
        depth = self.out.indent
        with self.inside(r.axes[0]):
            for a in r.axes:
                self.loop(a.name, a.lo, a.hi)
            self.computed.keeps, self.computed.results = True, dict(known)
            self.emit(self.fold(r, name))
        self.out.indent = depth

    @contextmanager
    def inside(self, first: ir.Axis | None = None) -> Iterator[None]:
        """Bounds that are computed inside a loop are not there after it: it may not run.

        Those of the first loop itself are computed in front of it and stay.
        """
        if first is not None:
            self.poly(first.lo), self.poly(first.hi)
        outer, self.computed = self.computed, Computed(dict(self.computed.bounds))
        yield
        self.computed = outer

    def loop(self, name: str, lo: Poly, hi: Poly, step: int = 1) -> None:
        """Open a `for` loop; the caller sets the indentation back."""
        start, stop = self.poly(lo), self.poly(hi)
        parts = [stop] if start == "0" and step == 1 else [start, stop]
        if step != 1:
            parts.append(str(step))
        index = self.index(name)
        self.emit(f"for {index} in range({', '.join(parts)}):")
        self.out.indent += 1

    # -- statements ------------------------------------------------------------------

    def comment(self, origin: ir.Origin) -> None:
        """The source statement (with its own comments), once for each run of lines from it."""
        self.out.comment(origin)

    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Statements of a thread."""
        outer = dict(self.computed.bounds)
        for s in body:
            self.statement(s)
        self.computed.bounds = outer

    def statement(self, s: ir.Stmt) -> None:
        """One statement of a thread."""
        keeps, self.computed.results, self.computed.keeps = self.computed.keeps, {}, True
        self._statement(s)
        self.computed.results, self.computed.keeps = {}, keeps

    def _statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Let(name, ir.Reduce() as value, origin):
                self.comment(origin)
                if name in scalars_of(value):
                    self.emit(f"{name} = {self.reduction(value)}")
                else:
                    self.accumulate(name, value)
                self._forget(name)
            case ir.Let(name, ir.Draw() as value, origin) if value not in self.draws:
                self.comment(origin)
                self.naming.own.add(name)
                self.emit(f"{name} = {self.drawn(value)}")
                self._forget(name)
            case ir.Let(name, value, origin):
                self.comment(origin)
                self.emit(self._assignment(name, value))
                self._forget(name)
            case ir.Write():
                self._write(s)
            case ir.For():
                depth = self.out.indent
                self.out.own_comments(s.origin)
                self.loop(s.index, s.lo, s.hi, s.step)
                self.block(s.body)
                self.out.indent = depth
            case ir.While():
                self._while(s)
            case ir.If():
                self._branch(s)
            case ir.Jump(kind, _):
                self.emit(kind)
            case _:
                raise AssertionError(type(s).__name__)

    def _while(self, s: ir.While) -> None:
        """A loop ends at an index that is out of bounds: with 0 in its place it might never end."""
        self.out.own_comments(s.origin)
        if not tests_positions([s]):
            self.emit(f"while {self.expr(s.cond)}:")
            self._nested(s.body)
            return
        with self._own_error():
            self.emit(f"while {self.expr(ir.Op('sound', (s.cond,), BOOL))}:")
            self._nested(s.body)

    @contextmanager
    def _own_error(self) -> Iterator[None]:
        """What the thread itself finds wrong, which it may read while others set theirs."""
        if self.naming.error != "error" or not self.target.device:
            yield
            return
        own = self.naming.error = self.fresh("stray")
        self.emit(f"{own} = cuda.local.array(1, np.int32)")
        self.emit(f"{own}[0] = 0")
        yield
        self.naming.error = "error"
        self.emit(f"if {own}[0] != 0:")
        self.emit("    error[0] = 1")

    def _forget(self, name: str) -> None:
        """A bound computed from a variable that changes must be computed again."""
        known = self.computed.bounds.items()
        self.computed.bounds = {
            a: n for a, n in known if name not in scalars_of(ir.Value(Poly.atom(a), INT64))
        }

    def _nested(self, body: Sequence[ir.Stmt]) -> None:
        self.out.indent += 1
        if body:
            self.block(body)
        else:
            self.emit("pass")
        self.out.indent -= 1

    def _branch(self, s: ir.If) -> None:
        if s.origin.construct is ir.Construct.IF:
            self.out.own_comments(s.origin)
        else:
            self.comment(s.origin)
        self.emit(f"if {self.expr(s.cond)}:")
        self._nested(s.body)
        if s.orelse:
            self.emit("else:")
            self._nested(s.orelse)

    def _assignment(self, name: str, value: ir.Expr) -> str:
        self.naming.own.add(name)
        if isinstance(value, ir.Op) and value.op in ("add", "sub", "mul", "truediv"):
            left, right = value.args
            widens = self.needs.is_narrow(value.dtype) and not value.dtype.weak
            # by 0, Numba's own division ends the thread
            ends = value.op == "truediv" and value.dtype.kind == "c"
            if isinstance(left, ir.Local) and left.name == name and not (widens or ends):
                return f"{name} {INFIX[value.op][0]}= {self.expr(right)}"
        return f"{name} = {self.expr(value)}"

    def _write(self, s: ir.Write) -> None:
        self.comment(s.origin)
        self.array(s.buffer)
        self.head.written.add(s.buffer)
        if s.combine not in UPDATES and s.body.dtype == self.head.buffers[s.buffer].dtype:
            self.computed.stored = s.body
        value = self.expr(s.body)
        self.computed.stored = None
        depth = self.out.indent
        if tests := list(self._out_of_range(s)):
            self.head.errors.add(OUT_OF_BOUNDS)
            self.emit(f"if {' or '.join(tests)}:")
            self.emit(f"    {self.naming.error}[0] = 1")
            self.emit("else:")
            self.out.indent += 1
        kept = [s.index[d] for d in self.kept(s.buffer, len(s.index))]
        index = ", ".join(map(self.poly, kept)) or self.target.scalar
        if s.combine in UPDATES:
            at = f"({index})" if len(kept) > 1 else index
            target = self.private.get(s.buffer, s.buffer)
            self.needs.helpers |= {self.target.updates.get(s.combine, "")} - {""}
            self.emit(self.target.atomic(s.combine, target, at, value))
        else:
            self.emit(f"{s.buffer}[{index}] = {value}")
        self.out.indent = depth

    def _out_of_range(self, s: ir.Write) -> Iterator[str]:
        """Tests of the positions from data, in the array or in the part that is stored into."""
        for p, size in zip(s.index, self.head.buffers[s.buffer].shape, strict=True):
            parts = {a: a.args for a in p.atoms() if isinstance(a, Apply) and a.op == "wrap"}
            for k, n in [(p, size)] if unchecked(p) else parts.values():
                least, end = self.poly(n, UNARY), self.poly(n, COMPARE + 1)
                yield f"not -{least} <= {self.poly(k, COMPARE + 1)} < {end}"


def _same_for_all(r: ir.Reduce) -> list[ir.Reduce]:
    """The folds inside of a fold that are the same for all of its terms: the largest in argmax."""
    inner = [e for e in walk(r.body) if isinstance(e, ir.Reduce)]
    running = {a.name for e in (r, *inner) for a in e.axes}
    return [e for e in inner if not free_names(e) & running]
