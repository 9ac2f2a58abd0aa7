"""The scalar IR and the statements of an array program.

Expressions are immutable trees over scalars.  Their operands already have the dtype that NumPy
computes in: promotion is written out as `Cast`, so that no later stage has to know its rules.
Subscripts, bounds and sizes are `Poly` (see `sizes/polynomial.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from porter.diagnostics import Diagnostic, Span
from porter.dtypes.dtype import BOOL, DType
from porter.ir.engines import Engine
from porter.ir.ops import SIGNS
from porter.sizes.hashed import hashed_once
from porter.sizes.polynomial import Poly


@hashed_once
@dataclass(frozen=True)
class Const:
    """A literal."""

    value: complex | float | int | bool
    dtype: DType

    def __str__(self) -> str:
        return repr(self.value)


@hashed_once
@dataclass(frozen=True)
class Value:
    """An integer expression (index, size, integer argument) used as a number."""

    poly: Poly
    dtype: DType

    def __str__(self) -> str:
        return str(self.poly)


@hashed_once
@dataclass(frozen=True)
class Scalar:
    """A scalar that the host knows: an argument or a name assigned on the host."""

    name: str
    dtype: DType

    def __str__(self) -> str:
        return self.name


@hashed_once
@dataclass(frozen=True)
class Local:
    """A scalar variable of a thread, or of the host where its loop stays there."""

    name: str
    dtype: DType

    def __str__(self) -> str:
        return self.name


@hashed_once
@dataclass(frozen=True)
class Load:
    """One element of an array."""

    buffer: str
    index: tuple[Poly, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(str, self.index))}]"


@hashed_once
@dataclass(frozen=True)
class Draw(Load):
    """One element of an array of random numbers that is not in memory.

    As long as nothing but one place reads it, and reads each element once, a number is drawn
    there; passes may treat it as any element of an array that never changes.
    """


@hashed_once
@dataclass(frozen=True)
class Op:
    """An operation of the table in `ir/ops.py` on operands of the dtype it computes in."""

    op: str
    args: tuple[Expr, ...]
    dtype: DType

    def __str__(self) -> str:
        infix = self.op if self.op in ("and", "or") else SIGNS.get(self.op)
        if infix is not None and len(self.args) == 2:
            return f"({self.args[0]} {infix} {self.args[1]})"
        return f"{self.op}({', '.join(map(str, self.args))})"


@hashed_once
@dataclass(frozen=True)
class Cast:
    """`arg` converted to `dtype`, as `astype` does."""

    arg: Expr
    dtype: DType

    def __str__(self) -> str:
        return f"{self.dtype.name}({self.arg})"


@hashed_once
@dataclass(frozen=True)
class Select:
    """`then` where `cond` is true, else `other`; the one not chosen is not evaluated."""

    cond: Expr
    then: Expr
    other: Expr
    dtype: DType

    def __str__(self) -> str:
        return f"({self.then} if {self.cond} else {self.other})"


@hashed_once
@dataclass(frozen=True)
class Axis:
    """A bound index running over `range(lo, hi)`."""

    name: str
    hi: Poly
    lo: Poly = field(default_factory=Poly)

    @property
    def extent(self) -> Poly:
        """How many values it takes (negative counts as none)."""
        return self.hi - self.lo

    def __str__(self) -> str:
        low = "" if self.lo.constant == 0 else f"{self.lo} <= "
        return f"{low}{self.name} < {self.hi}"


@hashed_once
@dataclass(frozen=True)
class Reduce:
    """`op` (sum, prod, max, min, any, all) of `body` over the axes."""

    op: str
    axes: tuple[Axis, ...]
    body: Expr
    dtype: DType

    def __str__(self) -> str:
        return f"{self.op}[{', '.join(map(str, self.axes))}]({self.body}):{self.dtype.name}"


@hashed_once
@dataclass(frozen=True)
class Scan(Reduce):
    """A fold of everything up to one index of its store: each element continues from the last."""

    @property
    def along(self) -> str:
        """The index of the store that it runs along; its only axis ends after that index."""
        (axis,) = self.axes
        name = (axis.hi - 1).name
        assert name is not None
        return name


@hashed_once
@dataclass(frozen=True)
class Object:
    """A value that only the host knows: statements of the host pass it on.

    `array` unless it is certainly no array; then it is returned where the arguments are.
    """

    name: str
    array: bool = True
    dtype: DType = BOOL

    def __str__(self) -> str:
        return self.name


Expr = Const | Value | Scalar | Local | Load | Op | Cast | Select | Reduce | Object


class Construct(Enum):
    """What kind of source statement something comes from, where that is asked."""

    SIMPLE = auto()
    FOR = auto()
    WHILE = auto()
    IF = auto()


@dataclass(frozen=True)
class Origin:
    """The source statement that a node comes from, its own comments included.

    `looped` marks the stores of a loop of the user's whose iterations are threads, `late` those
    of its iterations that are made once, after the last of them.
    """

    span: Span = field(default_factory=Span)
    text: str = ""
    comments: tuple[str, ...] = ()
    construct: Construct = field(default=Construct.SIMPLE, compare=False)
    looped: bool = field(default=False, compare=False)
    late: bool = field(default=False, compare=False)


#: what `Buffer.draws` says of the states of the threads' generators
STATES = "states"


@dataclass(frozen=True)
class Buffer:
    """An array by name: a parameter, or an array that the function makes.

    One of `draws` is not in memory: its element at each tuple of indices is a random number of
    this kind (see `transforms/arrays/draws.py`), drawn where it is read.
    """

    name: str
    shape: tuple[Poly, ...]
    dtype: DType
    parameter: bool = False
    draws: str = ""

    def is_like(self, other: Buffer) -> bool:
        """Whether two arguments can be one array: the same number of dimensions and kind."""
        return len(self.shape) == len(other.shape) and self.dtype.kind == other.dtype.kind


@dataclass(frozen=True)
class Def:
    """An array as a function of its indices: `name[axes] = body`, not yet stored."""

    name: str
    axes: tuple[Axis, ...]
    dtype: DType
    body: Expr
    origin: Origin


@dataclass(frozen=True)
class Alloc:
    """An array whose content is not defined yet (`np.empty`), or filled by a `Write`."""

    buffer: Buffer
    origin: Origin


@dataclass(frozen=True)
class Write:
    """`buffer[index] = body` for all axes, where `mask` holds; the right side is read first.

    Where subscripts from data are equal, the last store of the axes' order counts, as in
    NumPy.  `combine` (see `ir/ops.py`) means any order: `buffer[index] = op(buffer[index],
    body)`, or a promise about the elements that meet.
    """

    buffer: str
    axes: tuple[Axis, ...]
    index: tuple[Poly, ...]
    body: Expr
    origin: Origin
    mask: Expr | None = None
    checked: bool = False
    combine: str | None = None
    schedule: object = None  # a class of `porter/schedule/` once it is chosen, if threads share it


@dataclass(frozen=True)
class Let:
    """A scalar variable takes a value (again)."""

    name: str
    value: Expr
    origin: Origin


@dataclass(frozen=True)
class Fetch:
    """The host reads the integer in a 0-d array, to use it as a size."""

    name: str
    buffer: str
    origin: Origin


@dataclass(frozen=True)
class For:
    """`for index in range(lo, hi, step)`; `step` is a nonzero integer."""

    index: str
    lo: Poly
    hi: Poly
    step: int
    body: tuple[Stmt, ...]
    origin: Origin


@dataclass(frozen=True)
class While:
    """A `while` loop."""

    cond: Expr
    body: tuple[Stmt, ...]
    origin: Origin


@dataclass(frozen=True)
class If:
    """A branch on a scalar condition."""

    cond: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    origin: Origin


@dataclass(frozen=True)
class Jump:
    """`break` or `continue`."""

    kind: str
    origin: Origin


@dataclass(frozen=True)
class Bind:
    """The host names now mean these arrays, all at once (`u, v = v, u`)."""

    names: tuple[str, ...]
    buffers: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True)
class Return:
    """The results: buffer names, or scalar expressions that the host evaluates."""

    values: tuple[str | Expr | None, ...]
    single: bool
    origin: Origin
    listed: bool = False  # a list instead of a tuple
    squeezed: frozenset[int] = frozenset()  # positions: axes that turn out 1 long are dropped
    given: frozenset[int] = frozenset()  # positions: the very object that the caller gave


class HostKind(Enum):
    """What a statement of the host is there for."""

    RAISE = auto()  # nothing runs after it
    CHECK = auto()  # `assert`, or `if ...: raise`
    RUN = auto()  # what it computes, prints or logs


@dataclass(frozen=True)
class Host:
    """A statement that stays in the host function as the user wrote it.

    In its text, placeholders stand for scalars (`values`) and for arrays, which are brought
    to the host first (`arrays`; those in `itself` are meant as objects).  What it asks of arguments
    by their names needs no elements (`asks`).  If it makes arrays, its text is an expression.
    """

    text: str
    origin: Origin
    kind: HostKind = HostKind.RUN
    values: tuple[tuple[str, Expr], ...] = ()
    arrays: tuple[tuple[str, str], ...] = ()
    itself: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()
    makes: tuple[str, ...] = ()
    engine: Engine = Engine.NUMPY
    objects: tuple[str, ...] = ()  # names that the text gives values of the host's own
    first: bool = False  # an `assert` above everything that could raise: no check comes before it


@dataclass(frozen=True)
class Stage:
    """Independent threads over a domain, each running the same scalar statements.

    `axes` is the domain, slowest axis first; `body` holds Let, Write without axes, For,
    While, If and Jump.  Only the plan makes these.
    """

    axes: tuple[Axis, ...]
    body: tuple[Stmt, ...]
    origin: Origin


Stmt = (
    Stage | Def | Alloc | Write | Let | Fetch | For | While | If | Jump | Bind | Return | Host
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A condition on the arguments that NumPy would raise about; tested before any launch."""

    kind: str  # "equal", "broadcast" (or one is 1), "store" (or left is 1), "index" (<=)
    left: Poly
    right: Poly
    message: str
    error: str = "ValueError"
    when: tuple[Poly, ...] = ()  # tested only if all of these are positive
    conditions: tuple[Expr, ...] = ()  # tested only if all of these hold
    # NumPy broadcasts, where one is 1: kernels with strides may serve it
    ones: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Classes:
    """Python's classes that an array argument must be of (`taken`), or must not be of."""

    names: tuple[str, ...]
    taken: bool


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function: `ndim` None for a Python scalar."""

    name: str
    dtype: DType
    ndim: int | None
    default: str | None = None
    fixed: bool = False  # the function is converted for one value: None, text, an axis
    keyword: bool = False  # keyword-only
    attribute: str = ""  # of `self`, which the host reads
    conversion: str = ""  # what the host makes of it first: `np.asarray(x, dtype=np.float64)`
    items: tuple[Parameter, ...] = ()  # a tuple of Python scalars: each has a name of its own
    value: str = ""  # of a fixed one, where it is not the default
    classes: tuple[Classes, ...] = ()  # what `isinstance` in the function tells apart
    updated: bool = False  # a number with `k -= 1`, which would change a 0-d array
    floated: bool = False  # a number that a floating function is called with: float16 of int8
    beside_bools: bool = False  # an integer that decides a dtype: bools and an int8 make an int8
    pythons: bool = False  # `int(k)` or `float(k)` makes Python's number of it
    generator: str = ""  # NumPy's class of a random generator: fixed, kernels have nothing of it
    numeric: bool = False  # its default is a number

    @property
    def only(self) -> str:
        """The value that a fixed parameter must have."""
        return self.value or self.default or "None"

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        """The Python scalars that it is or consists of."""
        return self.items or ((self,) if self.ndim is None else ())


@dataclass(frozen=True)
class Program:
    """The array program of one function: what the front end hands to the plan."""

    name: str
    parameters: tuple[Parameter, ...]
    buffers: dict[str, Buffer]
    body: tuple[Stmt, ...]
    checks: tuple[Check, ...]
    docstring: str | None
    assumed: tuple[str, ...]
    constants: dict[str, str]
    origin: Origin
    imports: tuple[str, ...] = ()  # what the statements of the host need
    shown: dict[str, str] = field(default_factory=dict)  # the user's name of one of ours
    allow_serial: bool = False  # loops that run in order may run on one thread
    kept: tuple[Diagnostic, ...] = ()  # statements that should run on the device, but stay
    indexed: bool = False  # shapes or positions are used: the number of dimensions matters
    ranked: bool = False  # the number of dimensions is asked for
    # arrays are stored into, or made like others: shapes must match, not just broadcast
    strict: bool = False
    stored: bool = False  # arrays are stored into
    shared_updates: bool = False  # arrays with two names are changed: numbers would not be
    per_element: bool = False  # all arrays are broadcast, and everything is about one element
    sized: frozenset[str] = frozenset()  # the sizes that the function asks for
    # (written, read) arguments that must not be one array
    no_alias: frozenset[tuple[str, str]] = frozenset()
    around: frozenset[str] = frozenset()  # the functions of the file
    host_products: bool = False  # NumPy on the host multiplies matrices faster than the target
    seed: Expr | None = None  # what the function itself gives its random numbers to start from
    way: tuple[tuple[Expr, bool], ...] = ()  # where the branches go that the host decides
    runs: tuple[Expr, ...] = ()  # what holds where loops run whose first turn is before them
