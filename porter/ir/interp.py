"""The reference interpreter: what an array program means, one scalar at a time.

It runs the statements of an array program, before or after any pass, directly on NumPy
arrays.  Every scalar is a NumPy scalar of its node's dtype, or a Python number where the
dtype is weak; every operation is the ufunc that `ir/ops.py` names.  Nothing is fused,
reordered or vectorised, so that the passes and the generated code can be held against it.
"""

from __future__ import annotations

import builtins
import math
import random
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from porter.dtypes.dtype import DType
from porter.ir import nodes as ir
from porter.ir.check import IRError
from porter.ir.nodes import Expr, Load, Program, Stmt, Write
from porter.ir.ops import OPS
from porter.ir.recurrences import FIELD, Coupled, Recurrence, StateMaps
from porter.ir.walk import scalars_of
from porter.sizes.polynomial import BORDERS, Atom, Data, Dim, Index, Poly, Symbol, unchecked

Number = Any  # a NumPy scalar, or a Python number where the dtype is weak
Array = np.ndarray[Any, Any]
Buffers = dict[str, ir.Buffer]
Block = tuple[Stmt, ...]
#: how a block ends early: `break`, `continue`, or a list with the function's result
Ending = str | list[Any] | None
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_MATH = {"erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "lgamma": math.lgamma}
_FOLD = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
         "any": np.logical_or, "all": np.logical_and}  # fmt: skip
_COMBINE: dict[str | None, Any] = {
    "add": np.add, "max": lambda a, b: b if b > a else a, "min": lambda a, b: b if b < a else a,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
}  # fmt: skip
_START = {"sum": 0, "prod": 1, "max": -math.inf, "min": math.inf, "any": False, "all": True}
#: what an array holds whose content is not defined: nothing that a result could be made of
_JUNK = {"f": math.nan, "c": math.nan, "i": 99, "u": 99, "b": True}


def _is_running(e: ir.Reduce) -> bool:
    """Whether it is a float fold of everything up to an index, of at least one element."""
    hi = e.axes[0].hi
    ups = [a for a in hi.atoms() if isinstance(a, Index) and hi == Poly.atom(a) + 1]
    return e.dtype.kind == "f" and len(e.axes) == 1 and bool(ups)


def run(
    program: Program, args: Sequence[Any], body: Block | None = None, buffers: Buffers | None = None
) -> Any:
    """What the function returns for these arguments, which it may change.

    `body` and `buffers` are the statements after some passes and the arrays of their context.
    Raises what the program's checks and `raise` statements say, ValueError and TypeError for
    arguments that do not fit, and IRError where the statements themselves are wrong: a
    subscript outside of its array, a wrong dtype, threads of a stage that meet.
    """
    machine = Machine(program, args, program.buffers if buffers is None else buffers)
    with np.errstate(all="ignore"):
        machine.check()
        ending = machine.block(program.body if body is None else body)
    return ending[0] if isinstance(ending, list) else None


class Unbound(IRError, UnboundLocalError):
    """A name without a value: as in the original, or a mistake in the statements."""


class Names(dict[str, Any]):
    """Arrays or numbers by name."""

    def __missing__(self, name: str) -> Any:
        raise Unbound(f"`{name}` has no value here")


#: constants of a module that passes use: small ones, so that short loops have turns on both sides
MODULE = {"BLOCK_X": 3, "LAST_TURNS": 2}


class Machine:
    """The state of one run: arrays by name, numbers by name, checks still to be made."""

    def __init__(self, program: Program, args: Sequence[Any], buffers: Buffers) -> None:
        self.buffers = buffers
        self.arrays, self.numbers = Names(), Names(MODULE)
        self.scope: dict[str, Any] = {"np": np, "numpy": np, "math": math}
        self.pending = list(program.checks)
        self.drawn: dict[tuple[str, tuple[int, ...]], float] = {}
        # inside a stage: element -> (read, write or a combination -> threads that did so)
        self.touched: dict[tuple[Any, ...], dict[str, set[int]]] | None = None
        self.thread = 0
        for line in program.imports:
            exec(line, self.scope)
        for name, text in program.constants.items():
            self.scope[name] = self.numbers[name] = eval(text, self.scope)
        missing = program.parameters[len(args) :]
        values = [*args, *(eval(p.default or "None", self.scope) for p in missing)]
        for p, value in zip(program.parameters, values, strict=True):
            self.argument(p, value)

    def argument(self, p: ir.Parameter, value: Any) -> None:
        """Take one argument."""
        self.scope[p.name] = value
        if p.conversion:
            self.scope[p.name] = value = eval(p.conversion, self.scope)
        if p.generator:
            return
        if p.fixed and value != eval(p.only, self.scope):
            raise TypeError(f"{p.name} must be {p.only}: converted for that value")
        if p.items:
            for q, part in zip(p.items, value, strict=True):
                self.argument(q, part)
            return
        if p.ndim is None:
            self.numbers[p.name] = value if p.fixed else self.typed(value, p.dtype)
            return
        array = self.arrays[p.name] = np.asarray(value)
        if array.ndim != p.ndim:
            raise ValueError(f"{p.name} has {array.ndim} dimensions, not {p.ndim}")
        fits = array.dtype.kind == p.dtype.kind if p.dtype.var else array.dtype == p.dtype.name
        if not fits:
            raise TypeError(f"{p.name} is {array.dtype}, not {p.dtype.name}")
        self.numbers |= {Dim(p.name, d).name: n for d, n in enumerate(array.shape)}

    def dtype(self, dtype: DType) -> np.dtype[Any]:
        """The dtype at run time: the argument's own where the program is generic over it."""
        return np.dtype(dtype.name) if dtype.var is None else self.arrays[dtype.var].dtype

    def typed(self, value: Number, dtype: DType) -> Number:
        """A number converted as `astype` does; a Python number if the dtype is weak."""
        if dtype.weak:
            return _PYTHON[dtype.kind](value)
        return np.asarray(value).astype(self.dtype(dtype))[()]

    def checked(self, value: Number, e: Expr) -> Number:
        """The value of a node, which must have the node's dtype already."""
        found, wanted = getattr(value, "dtype", None), self.dtype(e.dtype)
        if found is not None and found != wanted:
            raise IRError(f"`{e}` is {found}, not {wanted}")
        return self.typed(value, e.dtype)

    def poly(self, poly: Poly) -> int:
        """The integer that a size, bound or subscript is."""
        return sum(c * math.prod(map(self.atom, monomial)) for monomial, c in poly.terms)

    def atom(self, atom: Atom) -> int:
        """The integer that a symbol, an application or a datum is."""
        if isinstance(atom, Data):
            return int(self.expr(atom.expr))
        if isinstance(atom, Symbol):
            return int(self.numbers[atom.name])
        a, b = map(self.poly, atom.args)
        if atom.op == "bound":
            return min(max(a + b, 0) if a < 0 else a, b)
        if atom.op == "wrap" and not -b <= a < b:
            raise IndexError("an index read from data is out of bounds")
        if atom.op in BORDERS:
            return BORDERS[atom.op](a, b)
        if atom.op in ("min", "max"):
            return min(a, b) if atom.op == "min" else max(a, b)
        if atom.op == "**":
            if b < 0:
                raise IRError(f"the exponent of `{atom}` is {b}")
            return int(a**b)
        return a // b if atom.op == "//" else a % b  # `wrap` is `%` too, within the bounds

    def domain(self, axes: tuple[ir.Axis, ...]) -> Iterator[None]:
        """Every combination of the indices, the last one fastest; they are bound meanwhile."""
        if not axes:
            yield
            return
        for k in range(self.poly(axes[0].lo), self.poly(axes[0].hi)):
            self.numbers[axes[0].name] = k
            yield from self.domain(axes[1:])
        self.numbers.pop(axes[0].name, None)

    def position(self, node: Load | Write) -> tuple[int, ...]:
        """A subscript inside its array; in a stage, no thread writes what another one touches."""
        at = []
        for p, size in zip(node.index, self.arrays[node.buffer].shape, strict=True):
            k, data = self.poly(p), unchecked(p)
            if data and not -size <= k < size:
                raise IndexError("an index read from data is out of bounds")
            # in a stored array a position of unknown sign counts from the end if it is negative
            least = 0 if p.is_nonneg() else -size
            if not data and not least <= k < size:
                raise IRError(f"`{node.buffer}[.. {p} ..]` is at {k}, the size is {size}")
            at.append(k % size)
        if self.touched is not None:
            kind = (node.combine or "once") if isinstance(node, Write) else "read"
            kinds = self.touched.setdefault((id(self.arrays[node.buffer]), *at), {})
            for other, threads in kinds.items():
                if (other != kind or kind == "once") and threads - {self.thread}:
                    raise IRError(f"two threads of a stage touch `{node.buffer}` at {at}")
            kinds.setdefault(kind, set()).add(self.thread)
        return tuple(at)

    def expr(self, e: Expr) -> Number:
        """The value of an expression, of its dtype."""
        match e:
            case ir.Const(value=value, dtype=dtype):
                return self.typed(value, dtype)
            case ir.Value(poly=poly, dtype=dtype):
                return self.typed(self.poly(poly), dtype)
            case ir.Scalar(name=name) | ir.Local(name=name):
                return self.checked(self.numbers[name], e)
            case ir.Draw():
                return self.typed(self.draw(e), e.dtype)
            case ir.Load(buffer=name):
                at = self.position(e)
                return self.checked(self.arrays[name][at], e)
            case ir.Cast(arg, dtype):
                return self.typed(self.expr(arg), dtype)
            case ir.Select(cond, then, other, _):
                return self.checked(self.expr(then if self.expr(cond) else other), e)
            case ir.Reduce():
                return self.reduce(e)
            case ir.Op():
                return self.op(e)
            case ir.Object(name=name):
                return self.scope[name]

    def draw(self, e: ir.Draw) -> float:
        """A random number, the same one whenever it is read."""
        key = e.buffer, tuple(self.poly(p) for p in e.index)
        if key not in self.drawn:
            normal = self.buffers[e.buffer].draws == "normal"
            self.drawn[key] = random.gauss() if normal else random.random()
        return self.drawn[key]

    def op(self, e: ir.Op) -> Number:
        """The ufunc of the operation; `and` and `or` stop where Python's would."""
        if e.op in ("and", "or"):
            first = bool(self.expr(e.args[0]))
            return self.typed(self.expr(e.args[1]) if first == (e.op == "and") else first, e.dtype)
        args = [self.expr(a) for a in e.args]
        if e.op in _MATH:
            return self.typed(_MATH[e.op](*args), e.dtype)
        return self.checked(getattr(np, OPS[e.op].numpy)(*args), e)

    def reduce(self, e: ir.Reduce) -> Number:
        """The fold from left to right. Raises ValueError for an extreme of no integers.

        A float sum up to an index keeps the sign of -0.0 as `np.cumsum` does (`analyses/scans.py`).
        """
        if isinstance(e, Recurrence):
            return self.recurrence(e)
        if isinstance(e, StateMaps):
            return self.composed(e)
        start = -0.0 if e.op == "sum" and _is_running(e) else _START[e.op]
        known = e.dtype.kind == "f" or not math.isinf(start)
        total = self.typed(start, e.dtype) if known else None
        for _ in self.domain(e.axes):
            value = self.expr(e.body)
            total = self.checked(value if total is None else _FOLD[e.op](total, value), e)
        if total is None:
            raise ValueError(f"zero-size array to reduction operation {e.op}")
        return total

    def recurrence(self, e: Recurrence) -> Number:
        """The steps in order; two values that weigh each other take theirs at once."""
        start, step = [e.start], [e.step]
        if isinstance(e, Coupled):
            start, step = [e.start, e.other_start], [e.step, e.other_step]
        values = [self.expr(s) for s in start]
        for _ in self.domain(e.axes):
            self.numbers |= dict(zip(e.olds, values, strict=True))
            values = [self.checked(self.expr(s), e) for s in step]
        for name in e.olds:
            self.numbers.pop(name, None)
        return values[0]

    def composed(self, e: StateMaps) -> Number:
        """The maps in order, from each state on."""
        fields = range(0, FIELD * e.count, FIELD)
        states = list(range(e.count))
        for _ in self.domain(e.axes):
            bits = int(self.checked(self.expr(e.body), e))
            states = [bits >> FIELD * s & 2**FIELD - 1 for s in states]
        bits = sum(s << k for s, k in zip(states, fields, strict=True))
        return self.typed(np.uint64(bits), e.dtype)

    def block(self, body: Block) -> Ending:
        """Run statements up to one that ends the block."""
        for s in body:
            try:
                ending = self.statement(s)
            except IRError as error:
                error.where = error.where or s
                raise
            if ending is not None:
                return ending
        return None

    def statement(self, s: Stmt) -> Ending:
        """Run one statement."""
        match s:
            case ir.Def(name, axes, dtype, body, _):
                shape = [max(0, self.poly(a.extent)) for a in axes]
                values = [self.expr(body) for _ in self.domain(axes)]
                self.make(name, np.array(values, self.dtype(dtype)).reshape(shape))
            case ir.Alloc(buffer, _):
                shape = [max(0, self.poly(n)) for n in buffer.shape]
                self.make(
                    buffer.name, np.full(shape, _JUNK[buffer.dtype.kind], self.dtype(buffer.dtype))
                )
            case ir.Let(name, value, _):
                self.numbers[name] = self.scope[name] = self.expr(value)
                self.check()
            case ir.Fetch(name, buffer, _):
                self.numbers[name] = self.scope[name] = int(self.arrays[buffer][()])
                self.check()
            case ir.Bind(names, buffers, _):
                meant = [self.arrays[b] for b in buffers]
                self.arrays |= dict(zip(names, meant, strict=True))
            case ir.Host():
                self.host(s)
            case ir.Jump(kind, _):
                return kind
            case ir.Return(values, single, _, listed, squeezed):
                results: list[Any] = [
                    self.arrays[v] if isinstance(v, str) else None if v is None else self.expr(v)
                    for v in values
                ]
                results = [np.squeeze(r) if k in squeezed else r for k, r in enumerate(results)]
                return [results[0] if single else results if listed else tuple(results)]
            case ir.If(cond, body, orelse, _):
                return self.block(body if self.expr(cond) else orelse)
            case ir.Write():
                self.write(s)
            case ir.Stage():
                self.stage(s)
            case ir.For(index=index):
                for k in range(self.poly(s.lo), self.poly(s.hi), s.step):
                    self.numbers[index] = k
                    ending = self.block(s.body)
                    if ending not in (None, "continue"):
                        return None if ending == "break" else ending
            case ir.While(cond, body, _):
                while self.expr(cond):
                    ending = self.block(body)
                    if ending not in (None, "continue"):
                        return None if ending == "break" else ending
        return None

    def host(self, s: ir.Host) -> None:
        """Run the text; the arrays that it makes must have the declared shapes and dtypes."""
        self.scope |= {n: self.expr(e) for n, e in s.values}
        self.scope |= {n: self.arrays[a] for n, a in s.arrays}
        if not s.makes:
            exec(textwrap.dedent(s.text), self.scope)
            return
        made = eval(s.text, self.scope)
        for name, array in zip(s.makes, made if len(s.makes) > 1 else (made,), strict=True):
            self.make(name, np.asarray(array))

    def stage(self, s: ir.Stage) -> None:
        """Every thread runs the statements with variables of its own; none may meet another."""
        self.touched = {}
        for thread, _ in enumerate(self.domain(s.axes)):
            before, self.thread = Names(self.numbers), thread
            if self.block(s.body) not in (None, "continue"):
                raise IRError("a thread leaves its stage")
            self.numbers = before
        self.touched = None

    def write(self, s: Write) -> None:
        """Read everything, then store."""
        domain = (None for _ in self.domain(s.axes) if s.mask is None or self.expr(s.mask))
        new = [(self.position(s), self.expr(s.body)) for _ in domain]
        seen: dict[Any, Number] = {}
        for at, value in new:
            array = self.arrays[s.buffer]
            if not s.body.dtype.weak and value.dtype != array.dtype:
                raise IRError(f"`{s.buffer}` is {array.dtype}, the value {value.dtype}")
            meets = at in seen and (s.combine == "once" or repr(seen[at]) != repr(value))
            if meets and s.combine in ("once", "same"):
                raise IRError(f"two stores into `{s.buffer}` meet at {at}")
            seen[at] = value
            array[at] = _COMBINE[s.combine](array[at], value) if s.combine in _COMBINE else value

    def make(self, name: str, array: Array) -> None:
        """A new array, which must have the shape and dtype that its buffer is declared with."""
        want = self.buffers[name]
        shape = tuple(max(0, self.poly(n)) for n in want.shape)
        if (array.shape, array.dtype) != (shape, self.dtype(want.dtype)):
            raise IRError(f"`{name}` is {array.dtype}{array.shape}, not {want.dtype}{shape}")
        self.arrays[name] = array

    def check(self) -> None:
        """Make the checks whose sizes are known by now. Raises what a failed one says."""
        for c in self.pending.copy():
            atoms = [a for p in (c.left, c.right, *c.when) for a in p.atoms()]
            names = {a.name for a in atoms if isinstance(a, Symbol)}
            for e in c.conditions:
                names |= scalars_of(e)
            if not names <= self.numbers.keys():
                continue
            self.pending.remove(c)
            left, right = self.poly(c.left), self.poly(c.right)
            if c.kind != "index":
                left, right = max(left, 0), max(right, 0)
            failed = left > right if c.kind == "index" else left != right
            met = all(self.poly(p) > 0 for p in c.when) and all(map(self.expr, c.conditions))
            if failed and met:
                raise getattr(builtins, c.error)(f"{c.message}: {left} and {right}")
