"""What statements use and define, against what the reference interpreter reads and writes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from porter import ir
from porter.convert.passes import steps
from porter.diagnostics import Refusal
from porter.dtypes.dtype import BOOL, FLOAT64, INT64, WEAK_INT
from porter.ir.effects import (
    axes_of,
    defs,
    defs_in,
    exposed_scalars,
    indices,
    makes,
    nodes_of,
    surely_assigned,
    uses,
    uses_in,
)
from porter.ir.interp import Ending, Machine, Names
from porter.sizes.polynomial import Data, Dim, Poly, sym
from tests.corpus.inputs import CASES
from tests.support.interpreted import program_of
from tests.support.sampling import one_in

HERE = ir.Origin()
#: a twentieth of the corpus; every kind of statement is among it
KEYS = [k for k, c in CASES.items() if not c.refused and zlib.crc32(k.encode()) % 20 == 0]


@dataclass
class Frame:
    """What one statement has read and written, those inside it left out."""

    read: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)


class Watched(Names):
    """Names that note who asks for them."""

    def __init__(self, known: dict[str, Any], machine: Watching, read: str, written: str) -> None:
        super().__init__(known)
        self.machine, self.read, self.written = machine, read, written

    def __getitem__(self, name: str) -> Any:
        getattr(self.machine.frames[-1], self.read).add(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        getattr(self.machine.frames[-1], self.written).add(name)
        super().__setitem__(name, value)

    def __ior__(self, other: Any) -> Any:
        for name, value in dict(other).items():
            self[name] = value
        return self


class Watching(Machine):
    """An interpreter that compares each statement's reads and writes with what it says."""

    def __init__(self, *args: Any) -> None:
        self.frames, self.kinds = [Frame()], set[type]()
        super().__init__(*args)
        self.arrays = Watched(self.arrays, self, "read", "bound")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "numbers":
            value = Watched(value, self, "numbers", "assigned")
        super().__setattr__(name, value)

    def apart(self, method: Any, *args: Any) -> Any:
        """What is read for the sake of the interpreter's own rules."""
        self.frames.append(Frame())
        result = method(*args)
        self.frames.pop()
        return result

    def dtype(self, dtype: Any) -> Any:
        return self.apart(super().dtype, dtype)

    def check(self) -> None:
        self.apart(super().check)

    def make(self, name: str, array: Any) -> None:
        self.apart(super().make, name, array)
        self.frames[-1].bound.add(name)

    def statement(self, s: ir.Stmt) -> Ending:
        before = {n: (a, a.copy()) for n, a in self.arrays.items()}
        runs = self.apart(self.certainly_reads_all, s)
        self.frames.append(Frame())
        ending = super().statement(s)
        frame = self.frames.pop()
        self.kinds.add(type(s))
        used, defined, own = uses(s), defs(s), indices(s)
        assert frame.read <= used.arrays, s
        assert frame.numbers <= used.scalars | own, s
        assert frame.bound <= defined.arrays, s
        assert frame.assigned - own <= defined.scalars, s
        if runs:
            assert frame.read == used.arrays, s
            assert frame.numbers - own == used.scalars, s
        after = dict(self.arrays.items())
        targets = {id(after[n]) for n in defs_in((s,)).arrays if n in after}
        for name, array in after.items():
            old = before.get(name)
            same = old is not None and old[0] is array
            if old is None or not same or not np.array_equal(old[1], array, equal_nan=True):
                assert id(array) in targets, (name, s)
        return ending

    def certainly_reads_all(self, s: ir.Stmt) -> bool:
        """Whether running it evaluates everything that stands in it."""
        if isinstance(s, (ir.Host, ir.Stage)) or (isinstance(s, ir.Write) and s.mask is not None):
            return False
        for e in nodes_of(s):
            if isinstance(e, (ir.Select, ir.Reduce)) or (isinstance(e, ir.Op) and e.op in _SHORT):
                return False
        axes = axes_of(s)
        names = {a.name for a in axes}
        return all(not a.extent.names() & names and self.poly(a.extent) > 0 for a in axes)


_SHORT = ("and", "or")


def watched(key: str) -> set[type]:
    """The kinds of statements that a case of the corpus runs, in all its forms."""
    program = program_of(key)
    kinds: set[type] = set()
    for _, body, context in steps(program):
        arguments = CASES[key].make(np.random.default_rng(5), 5)
        machine = Watching(program, arguments, dict(context.buffers))
        with np.errstate(all="ignore"):
            machine.block(body)
        kinds |= machine.kinds
    return kinds


@pytest.mark.parametrize("key", one_in(3, KEYS))
def test_statements_read_and_write_what_they_say(key: str) -> None:
    try:
        assert watched(key)
    except Refusal as refused:
        pytest.skip(f"refused: {refused}")


# -- one by one ----------------------------------------------------------------------------

N, i, t = Poly.atom(Dim("x", 0)), sym("i", True), sym("t")
AXIS = ir.Axis("i", N)
LOCAL = ir.Local("s", FLOAT64)
BUFFER = ir.Buffer("y", (N + t,), FLOAT64)
GATHER = Poly.atom(Data(ir.Load("p", (i,), INT64)))
STATEMENTS: list[tuple[ir.Stmt, str, str, str]] = [
    (ir.Def("y", (AXIS,), FLOAT64, ir.Load("x", (i + t,), FLOAT64), HERE), "x", "t x.shape[0]",
     "y"),
    (ir.Alloc(BUFFER, HERE), "", "t x.shape[0]", "y"),
    (ir.Write("y", (AXIS,), (GATHER,), LOCAL, HERE), "p y", "s x.shape[0]", "y"),
    (ir.Let("s", ir.Op("add", (LOCAL, LOCAL), FLOAT64), HERE), "", "s", "s"),
    (ir.Fetch("n", "count", HERE), "count", "", "n"),
    (ir.Bind(("u", "v"), ("v", "u"), HERE), "u v", "", "u v"),
    (ir.Host("text", HERE, values=(("a", ir.Scalar("k", INT64)),), arrays=(("b", "x"),),
             makes=("y",), objects=("o",)), "x", "k", "o y"),
    (ir.Return(("x", ir.Object("o"), None), False, HERE), "x", "o", ""),
    (ir.For("i", Poly(), t, 1, (ir.Let("s", LOCAL, HERE),), HERE), "", "t", ""),
    (ir.While(ir.Load("go", (), BOOL), (ir.Let("s", LOCAL, HERE),), HERE), "go", "", ""),
    (ir.Jump("break", HERE), "", "", ""),
    (ir.Let("m", ir.Reduce("max", (AXIS,), ir.Load("x", (i,), FLOAT64), FLOAT64), HERE), "x",
     "x.shape[0]", "m"),
]  # fmt: skip


@pytest.mark.parametrize(("s", "arrays", "scalars", "defined"), STATEMENTS)
def test_one_statement(s: ir.Stmt, arrays: str, scalars: str, defined: str) -> None:
    assert uses(s).arrays == set(arrays.split())
    assert uses(s).scalars == set(scalars.split())
    assert defs(s).arrays | defs(s).scalars == set(defined.split())


def test_a_store_and_a_move_make_no_array() -> None:
    made = {type(s).__name__ for s, *_ in STATEMENTS if makes(s)}
    assert made == {"Def", "Alloc", "Host"}


def test_what_is_bound_inside_is_not_used_outside() -> None:
    inner = ir.Write("y", (), (i,), ir.Value(i + t, WEAK_INT), HERE)
    loop = ir.For("i", Poly(), N, 1, (inner,), HERE)
    assert uses_in((loop,)).scalars == {"t", "x.shape[0]"}
    assert exposed_scalars((loop,)) == {"t", "x.shape[0]"}
    assert defs_in((loop,)).arrays == {"y"}


def test_a_variable_is_exposed_unless_it_is_surely_assigned_before() -> None:
    start, read = ir.Let("s", ir.Const(0.0, FLOAT64), HERE), ir.Let("r", LOCAL, HERE)
    yes = ir.Const(True, BOOL)
    assert exposed_scalars((start, read)) == set()
    assert exposed_scalars((ir.If(yes, (start,), (), HERE), read)) == {"s"}
    both = ir.If(yes, (start,), (start,), HERE)
    assert exposed_scalars((both, read)) == set()
    assert surely_assigned((both,)) == {"s"}
    assert surely_assigned((ir.For("i", Poly(), N, 1, (start,), HERE),)) == set()
