"""The reference interpreter: what an array program means, one scalar at a time.

It runs the statements of an array program, before or after any pass, directly on NumPy
arrays.  Every scalar is a NumPy scalar of its node's dtype, or a Python number where the
dtype is weak; every operation is the ufunc that `ir/ops.py` names.  Nothing is fused,
reordered or vectorised, so that the passes and the generated code can be held against it.
"""

from __future__ import annotations

import builtins
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from porter.arrays.dtypes import DType
from porter.arrays.sizes import Atom, Data, Poly, Sym
from porter.ir.check import IRError
from porter.ir.nodes import (
    Alloc,
    Axis,
    Bind,
    Buffer,
    Cast,
    Check,
    Const,
    Def,
    Expr,
    For,
    Host,
    If,
    Jump,
    Let,
    Load,
    Local,
    Op,
    Program,
    Reduce,
    Return,
    Scalar,
    Select,
    Stage,
    Stmt,
    Value,
    While,
    Write,
)
from porter.ir.ops import OPS
from porter.ir.printer import show

Number = Any  # a NumPy scalar, or a Python number where the dtype is weak
Array = np.ndarray[Any, Any]
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_MATH = {"erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "lgamma": math.lgamma}
_FOLD = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
         "any": np.logical_or, "all": np.logical_and}  # fmt: skip
_START = {"sum": 0, "prod": 1, "max": -math.inf, "min": math.inf, "any": False, "all": True}


def run(
    program: Program,
    args: Sequence[Any],
    body: tuple[Stmt, ...] | None = None,
    buffers: dict[str, Buffer] | None = None,
) -> Any:
    """What the function returns for these arguments, which it may change.

    `body` stands for the program's own statements: those after some passes, with the
    `buffers` of their context.  Raises what the program's checks and `raise` statements
    say, ValueError where shapes do not match, and IRError where the statements themselves
    are wrong: a subscript outside of its array, a dtype that is not the node's, threads
    of a stage that meet.
    """
    machine = Machine(program, args, program.buffers if buffers is None else buffers)
    with np.errstate(all="ignore"):
        machine.check()
        result = machine.block(program.body if body is None else body)
    return result[0] if isinstance(result, list) else None


class Machine:
    """The state of one run: arrays by name, numbers by name, checks still to be made."""

    def __init__(self, program: Program, args: Sequence[Any], buffers: dict[str, Buffer]) -> None:
        self.buffers = buffers
        self.arrays: dict[str, Array] = {}
        self.numbers: dict[str, Number] = {}
        self.scope: dict[str, Any] = {"np": np, "numpy": np, "math": math}
        self.pending = list(program.checks)
        # inside a stage: element -> (threads that read it, threads that wrote it)
        self.touched: dict[tuple[Any, ...], tuple[set[int], set[int]]] | None = None
        self.thread = 0
        for name, text in program.constants.items():
            self.scope[name] = self.numbers[name] = eval(text, self.scope)
        defaults = [p.default for p in program.parameters[len(args) :]]
        values = [*args, *(eval(d or "None", self.scope) for d in defaults)]
        for p, value in zip(program.parameters, values, strict=True):
            self.scope[p.name] = value
            if p.ndim is not None:
                array = self.arrays[p.name] = np.asarray(value)
                if array.ndim != p.ndim:
                    raise ValueError(f"{p.name} has {array.ndim} dimensions, not {p.ndim}")
                self.numbers |= {f"{p.name}.shape[{d}]": n for d, n in enumerate(array.shape)}
            elif not p.fixed:
                self.numbers[p.name] = self.typed(value, p.dtype)

    # -- types -------------------------------------------------------------------------

    def dtype(self, dtype: DType) -> np.dtype[Any]:
        """The dtype at run time: the argument's own where the program is generic over it."""
        carrier = self.arrays.get(dtype.var) if dtype.var is not None else None
        return np.dtype(dtype.name) if carrier is None else carrier.dtype

    def typed(self, value: Number, dtype: DType) -> Number:
        """A number converted as `astype` does; a Python number if the dtype is weak."""
        if dtype.weak:
            return _PYTHON[dtype.kind](value)
        return np.asarray(value).astype(self.dtype(dtype))[()]

    def checked(self, value: Number, e: Expr) -> Number:
        """The value of a node, which must have the node's dtype already."""
        found, wanted = getattr(value, "dtype", None), self.dtype(e.dtype)
        if found is not None and found != wanted:
            raise IRError(f"`{show(e)}` is {found}, not {wanted}")
        return self.typed(value, e.dtype)

    # -- sizes and subscripts ----------------------------------------------------------

    def poly(self, poly: Poly) -> int:
        """The integer that a size, bound or subscript is."""
        return sum(c * math.prod(map(self.atom, monomial)) for monomial, c in poly.terms)

    def atom(self, atom: Atom) -> int:
        """The integer that a symbol, an application or a datum is."""
        if isinstance(atom, Data):
            return int(self.expr(atom.expr))
        if isinstance(atom, Sym):
            if atom.name not in self.numbers:
                raise IRError(f"`{atom.name}` has no value here")
            return int(self.numbers[atom.name])
        a, b = map(self.poly, atom.args)
        if atom.op == "bound":
            return min(max(a + b, 0) if a < 0 else a, b)
        if atom.op in ("min", "max"):
            return min(a, b) if atom.op == "min" else max(a, b)
        return a // b if atom.op == "//" else a % b

    def domain(self, axes: tuple[Axis, ...]) -> Iterator[None]:
        """Every combination of the indices, the last one fastest; they are bound meanwhile."""
        if not axes:
            yield
            return
        axis, outer = axes[0], dict(self.numbers)
        for k in range(self.poly(axis.lo), self.poly(axis.hi)):
            self.numbers[axis.name] = k
            yield from self.domain(axes[1:])
        self.numbers.pop(axis.name, None)
        if axis.name in outer:
            self.numbers[axis.name] = outer[axis.name]

    def position(self, node: Load | Write) -> tuple[int, ...]:
        """A subscript, inside its array; one that comes from data may count from the end."""
        if node.buffer not in self.arrays:
            raise IRError(f"`{node.buffer}` does not exist here")
        at = []
        for p, size in zip(node.index, self.arrays[node.buffer].shape, strict=True):
            k, data = self.poly(p), any(isinstance(a, Data) for m, _ in p.terms for a in m)
            if data and not -size <= k < size:
                raise IndexError("an index read from data is out of bounds")
            if not data and not 0 <= k < size:
                raise IRError(f"`{place(node)}`: `{p}` is {k}, the size is {size}")
            at.append(k % size)
        return tuple(at)

    def touch(self, node: Load | Write, at: tuple[int, ...]) -> None:
        """In a stage, no thread may write what another one reads or writes."""
        if self.touched is None:
            return
        element = (id(self.arrays[node.buffer]), at)
        readers, writers = self.touched.setdefault(element, (set(), set()))
        write = isinstance(node, Write)
        if (writers | readers if write else writers) - {self.thread}:
            raise IRError(f"`{place(node)}`: element {at} is touched by two threads of a stage")
        (writers if write else readers).add(self.thread)

    # -- expressions -------------------------------------------------------------------

    def expr(self, e: Expr) -> Number:
        """The value of an expression, of its dtype."""
        match e:
            case Const(value=value, dtype=dtype):
                return self.typed(value, dtype)
            case Value(poly=poly, dtype=dtype):
                return self.typed(self.poly(poly), dtype)
            case Scalar(name=name) | Local(name=name):
                if name not in self.numbers:
                    raise IRError(f"`{name}` has no value here")
                return self.checked(self.numbers[name], e)
            case Load(buffer=name):
                at = self.position(e)
                self.touch(e, at)
                return self.checked(self.arrays[name][at], e)
            case Cast(arg, dtype):
                return self.typed(self.expr(arg), dtype)
            case Select(cond, then, other, _):
                return self.checked(self.expr(then if self.expr(cond) else other), e)
            case Reduce():
                return self.reduce(e)
            case Op():
                return self.op(e)

    def op(self, e: Op) -> Number:
        """The ufunc of the operation; `and` and `or` stop where Python's would."""
        if e.op in ("and", "or"):
            first = bool(self.expr(e.args[0]))
            return self.typed(self.expr(e.args[1]) if first == (e.op == "and") else first, e.dtype)
        args = [self.expr(a) for a in e.args]
        if e.op in _MATH:
            return self.typed(_MATH[e.op](*args), e.dtype)
        return self.checked(getattr(np, OPS[e.op].numpy)(*args), e)

    def reduce(self, e: Reduce) -> Number:
        """The fold from left to right. Raises ValueError for an extreme of no integers."""
        start = _START[e.op]
        total = None if start in (math.inf, -math.inf) else self.typed(start, e.dtype)
        if total is None and e.dtype.kind == "f":
            total = self.typed(start, e.dtype)
        for _ in self.domain(e.axes):
            value = self.expr(e.body)
            folded = value if total is None else _FOLD[e.op](total, value)
            total = self.checked(folded, e)
        if total is None:
            raise ValueError(f"zero-size array to reduction operation {_FOLD[e.op].__name__}")
        return total

    # -- statements --------------------------------------------------------------------

    def block(self, body: tuple[Stmt, ...]) -> str | list[Any] | None:
        """Run statements; `break`, `continue` or [the result] if they end the block."""
        for s in body:
            try:
                ended = self.statement(s)
            except IRError as error:
                error.where = error.where or s
                raise
            if ended is not None:
                return ended
        return None

    def statement(self, s: Stmt) -> str | list[Any] | None:
        """Run one statement."""
        match s:
            case Def(name, axes, dtype, body, _):
                values = [self.expr(body) for _ in self.domain(axes)]
                shape = [max(0, self.poly(a.extent)) for a in axes]
                self.arrays[name] = np.array(values, self.dtype(dtype)).reshape(shape)
                self.declared(name)
            case Alloc(buffer, _):
                shape = [max(0, self.poly(n)) for n in buffer.shape]
                self.arrays[buffer.name] = poisoned(shape, self.dtype(buffer.dtype))
                self.declared(buffer.name)
            case Write():
                self.write(s)
            case Let(name, value, _):
                self.numbers[name] = self.scope[name] = self.expr(value)
                self.check()
            case Stage():
                self.stage(s)
            case Bind(names, buffers, _):
                meant = [self.arrays[b] for b in buffers]
                self.arrays |= dict(zip(names, meant, strict=True))
            case Host(text, _):
                exec(textwrap.dedent(text), self.scope)
            case Jump(kind, _):
                return kind
            case Return(values, single, _):
                results = [None if v is None else self.arrays[v] if isinstance(v, str)
                           else self.expr(v) for v in values]  # fmt: skip
                return [results[0] if single else tuple(results)]
            case If(cond, body, orelse, _):
                return self.block(body if self.expr(cond) else orelse)
            case For() | While():
                return self.loop(s)
        return None

    def loop(self, s: For | While) -> str | list[Any] | None:
        """Run a loop."""
        counts: Iterator[Any] = iter(range(self.poly(s.lo), self.poly(s.hi), s.step)
                                     if isinstance(s, For) else iter(bool, True))  # fmt: skip
        for k in counts:
            if isinstance(s, For):
                self.numbers[s.index] = k
            elif not self.expr(s.cond):
                break
            ended = self.block(s.body)
            if ended == "break":
                break
            if isinstance(ended, list):
                return ended
        return None

    def stage(self, s: Stage) -> None:
        """Every thread runs the statements with variables of its own; none may meet another."""
        outer, self.touched = dict(self.numbers), {}
        for thread, _ in enumerate(self.domain(s.axes)):
            before, self.thread = dict(self.numbers), thread
            if self.block(s.body) not in (None, "continue"):
                raise IRError("a thread leaves its stage")
            self.numbers = before
        self.numbers, self.touched = outer, None

    def write(self, s: Write) -> None:
        """Read everything, then store."""
        new: list[tuple[tuple[int, ...], Number]] = []
        for _ in self.domain(s.axes):
            if s.mask is None or self.expr(s.mask):
                new.append((self.position(s), self.expr(s.body)))
        array = self.arrays[s.buffer]
        for at, value in new:
            if not s.body.dtype.weak and value.dtype != array.dtype:
                raise IRError(f"`{place(s)}` is {array.dtype}, the value {value.dtype}")
            self.touch(s, at)
            array[at] = value

    def declared(self, name: str) -> None:
        """An array must have the shape and dtype that its buffer is declared with."""
        want, array = self.buffers[name], self.arrays[name]
        shape = tuple(max(0, self.poly(n)) for n in want.shape)
        if (array.shape, array.dtype) != (shape, self.dtype(want.dtype)):
            raise IRError(f"`{name}` is {array.dtype}{array.shape}, declared {want.dtype}{shape}")

    # -- checks ------------------------------------------------------------------------

    def check(self) -> None:
        """Make the checks whose sizes are known by now. Raises what a failed one says."""
        for c in self.pending.copy():
            atoms = [a for p in (c.left, c.right, *c.when) for a in p.atoms()]
            if all(a.name in self.numbers for a in atoms if isinstance(a, Sym)):
                self.pending.remove(c)
                self.test(c)

    def test(self, c: Check) -> None:
        """Make one check: sizes that must be equal, or `left <= right`."""
        left, right = self.poly(c.left), self.poly(c.right)
        failed = left > right if c.kind == "index" else left != right
        if failed and all(self.poly(p) > 0 for p in c.when):
            sizes = "" if c.kind == "index" else f": sizes {left} and {right} do not match"
            raise getattr(builtins, c.error)(c.message + sizes)


def place(node: Load | Write) -> str:
    """The element that is read or stored, for messages."""
    return f"{node.buffer}[{', '.join(map(str, node.index))}]"


def poisoned(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array whose content nobody may rely on: NaN, or a large odd number."""
    if dtype.kind in "fc":
        return np.full(shape, math.nan, dtype)
    return np.full(shape, dtype.kind == "b" or np.iinfo(dtype).max - 2, dtype)
