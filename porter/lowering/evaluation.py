"""What the files of lowering ask of those above them: to evaluate an expression, to run statements.

`expressions.evaluate` and `statements.statements` have the classes that do it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeGuard

import libcst as cst

from porter import ir
from porter.ir.scalars import truth
from porter.lowering.arrays.compaction import whole
from porter.lowering.state.builder import Builder
from porter.resolve.globals import Globals
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly

EXPRESSIONS = (
    ir.Const,
    ir.Value,
    ir.Scalar,
    ir.Local,
    ir.Load,
    ir.Op,
    ir.Cast,
    ir.Select,
    ir.Reduce,
)


Numeric = Array | ir.Expr


def is_expr(value: Any) -> TypeGuard[ir.Expr]:
    """Whether a value is a scalar expression."""
    return isinstance(value, EXPRESSIONS)


class Evaluator(ABC):
    """Evaluates expressions of one function (or of a helper being inlined).

    `bodies` runs the statements of the helpers.  With `typed`, numbers have the types that Numba
    infers instead of those that NumPy's operations give.
    """

    def __init__(
        self, builder: Builder, scope: Globals, env: dict[str, Value], bodies: type[Body],
        typed: bool = False,
    ) -> None:  # fmt: skip
        self.b = builder
        self.typed = typed
        self.scope = scope
        self.env = env
        self.bodies = bodies

    def within(self, scope: Globals, env: dict[str, Value]) -> Self:
        """An evaluator of other names."""
        return type(self)(self.b, scope, env, self.bodies, self.typed)

    def as_numba(self, env: dict[str, Value]) -> Self:
        """An evaluator of other names, of numbers that have the types that Numba infers."""
        return type(self)(self.b, self.scope, env, self.bodies, True)

    @abstractmethod
    def __call__(self, node: cst.BaseExpression) -> Value:
        """The value of an expression. Raises Refusal where porter has no meaning for it."""

    @abstractmethod
    def numeric(self, node: cst.BaseExpression) -> Numeric:
        """The value of an expression that must be a number or an array."""

    @abstractmethod
    def as_numeric(self, value: Value, node: cst.CSTNode) -> Numeric:
        """A value as a number or an array; a list of numbers is an array."""

    @abstractmethod
    def tested(self, node: cst.BaseExpression) -> Numeric:
        """What an `if` asks of an expression: a text, a tuple and None are true or not."""

    @abstractmethod
    def items(self, node: cst.Subscript) -> list[Any]:
        """The index items: slices, None, ellipsis, integers, arrays."""

    @abstractmethod
    def size(self, value: Value, node: cst.CSTNode) -> Poly:
        """A value as an integer expression. Refuses anything else."""

    @abstractmethod
    def extent(self, value: Value, node: cst.CSTNode) -> Poly:
        """As `size`, for the length of a new array: one that comes from data is read back."""

    def condition(self, node: cst.BaseExpression) -> ir.Expr:
        """A scalar condition. Refuses the truth of an array."""
        value = self.tested(node)
        if isinstance(value, Array):
            if value.ndim:
                raise self.b.refuse(
                    "PRT902",
                    "the truth value of an array is ambiguous",
                    "use `np.where`, `np.any` or `np.all`",
                )
            value = value.at(())
        return truth(value)


@dataclass
class Frame:
    """The loop that a `break` leaves: what it must hand on."""

    arrays: dict[str, str] = field(default_factory=dict)
    completed: str = ""  # the variable that is true until a `break`, where `else` needs one
    unrolled: int | None = None  # the depth of its block, if its iterations are written out


@dataclass(frozen=True)
class Start:
    """A number before a loop, and the counts: it stays where one of them is below 1.

    `after` is what the name means after the loop.  It is `sure` if every iteration gives the name a
    number of one dtype.
    """

    number: ir.Expr
    counts: tuple[Poly, ...]
    after: Value | None
    sure: bool = False


@dataclass
class Flow:
    """What is around the statement at hand, and how often loops run."""

    #: what runs after it, block by block
    rest: list[Sequence[cst.CSTNode]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    #: numbers that stay Python's where loops do not run
    untouched: dict[str, Start] = field(default_factory=dict)
    inner_counts: dict[cst.For, Poly] = field(default_factory=dict)


class Body(ABC):
    """Evaluates the statements of one function (or helper) into the builder."""

    def __init__(self, ev: Evaluator, helper: str = "") -> None:
        self.ev = ev
        self.helper = helper
        self.locals: dict[str, str] = {}
        self.single: dict[str, bool] = {}  # and whether each is the name of loops alone
        self.lent: tuple[Array, ...] = ()  # what the caller has names for
        self.returned = False
        self.given = {} if helper else dict(ev.env)  # the arguments as they came
        if not helper:
            ev.b.host.arguments = self.given
        self.early: tuple[str, str] | None = None
        self.loops_before = len(ev.b.scope.loops)
        self.flow = Flow()

    @property
    def b(self) -> Builder:
        """The state of the evaluation."""
        return self.ev.b

    @property
    def env(self) -> dict[str, Value]:
        """What the names mean here."""
        return self.ev.env

    def argument(self, name: str) -> str:
        """The function's argument that a name still means, also in a helper; '' if it is none."""
        value = self.env.get(name)
        if value is None or not self.helper:
            return name if value is not None and self.given.get(name) is value else ""
        return next((n for n, v in self.b.host.arguments.items() if v is value), "")

    def local(self, name: str) -> str:
        """The variable of a name in this function: helpers get names of their own."""
        if name not in self.locals:
            self.locals[name] = self.b.out.fresh(name)
        return self.locals[name]

    def leave_if_returned(self) -> None:
        """After an inner loop of a helper: leave the outer one too."""
        if self.early is not None and len(self.b.scope.loops) > self.loops_before:
            done = ir.Local(self.early[1], self.b.dtypes.local_types[self.early[1]])
            self.b.out.emit(
                ir.If(done, (ir.Jump("break", self.b.place.origin),), (), self.b.place.origin)
            )

    def made_whole(self, selection: Array) -> Array:
        """A selection that is stored into becomes an array under all its names."""
        made = whole(self.b, selection)
        for name, value in self.env.items():
            if value is selection:
                self.env[name] = made
        return made

    @abstractmethod
    def run(self, statements: Sequence[cst.BaseStatement]) -> None:
        """Evaluate statements in order; what follows a `return` is dead."""

    @abstractmethod
    def run_again(self, statements: Sequence[cst.BaseStatement]) -> None:
        """Evaluate the body of a loop: after its end it may begin once more."""

    @abstractmethod
    def run_helper(self, statements: list[cst.BaseStatement]) -> Value | None:
        """Evaluate a helper; a `return` under a condition becomes a choice of values."""

    @abstractmethod
    def assign(self, target: cst.BaseExpression, value: Value) -> None:
        """Bind a name, unpack a tuple, or store through a subscript."""
