"""Arguments of other dtypes that the host may convert to float64, and NumPy's results are the same.

The array program says it.  It is built again for integers: where it is the program for float64 as
soon as what it loads from them is float64, NumPy converts them as well before it computes.  The
same holds for float32 beside float64, apart from what NumPy computes in float32 only and kernels
in float64: that is more accurate, but must not be rounded, compared or returned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from struct import pack, unpack

from porter import ir
from porter.convert.served.exact import Exact, Uneven
from porter.diagnostics import Refusal
from porter.dtypes.conversions import LARGEST, NARROW, Conversions, Integers, shared
from porter.dtypes.dtype import FLOAT64, WEAK_INT, DType
from porter.inference.types import ParameterType, literal_of
from porter.ir.rebuild import map_parts, map_statement
from porter.ir.walk import rewrite, statements, walk
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan, items_of
from porter.schedule.overlap import overlaps
from porter.sizes.polynomial import Poly

#: with more parameters that meet, mixed dtypes are not looked at
MOST_MIXED = 4
#: with more bools, the others are not told apart
MOST_FLAGS = 2
#: a rounding of these shows however small the difference of their operands is
_STEPS = {
    "floordiv", "mod", "fmod", "sign", "lt", "le", "gt", "ge", "eq", "ne", "floor", "ceil",
    "trunc", "rint", "isnan", "isinf", "isfinite", "signbit", "heaviside", "not", "and", "or",
    "xor", "copysign",
}  # fmt: skip
_DOUBLE = {"float32": "float64", "complex64": "complex128"}
#: magnitudes between which a number has a float32 near it
_SMALLEST, _GREATEST = 1e-37, 1e38
#: builds the program of one function for other types; None where that is refused
Build = Callable[[Sequence[ParameterType], tuple[bool, ...] | None], ir.Program | None]


@dataclass(frozen=True)
class Question:
    """A function as it was converted: its parameters' names, types, program and plan.

    With `floats` its numbers are floats beside integers or bools; programs may go one `way`.
    """

    names: Sequence[str]
    types: Sequence[ParameterType]
    program: ir.Program
    plan: Plan
    build: Build
    planned: Callable[[ir.Program], Plan]
    floats: bool = False
    way: tuple[bool, ...] | None = None

    def made(self, types: Sequence[ParameterType]) -> ir.Program | None:
        """The program for other types."""
        return self.build(types, self.way)

    def on(self, way: tuple[bool, ...]) -> Question | None:
        """The same on one way; None where there is no program."""
        program = self.build(self.types, way)
        with suppress(Refusal):  # a first turn that is written out may have to run in order
            if program is not None:
                return replace(self, program=program, plan=self.planned(program), way=way)
        return None

    def given(self, dtypes: Mapping[str, str]) -> ir.Program | None:
        """The program with other dtypes for some of the arrays."""
        return self.made(self._types(dtypes))

    def with_dtypes(self, dtypes: Mapping[str, str]) -> Question | None:
        """The same with other dtypes for some of the arrays; None where there is no program."""
        types = self._types(dtypes)
        program = self.made(types)
        return None if program is None else replace(self, types=types, program=program)

    @property
    def in_float64(self) -> Question | None:
        """The same with float64 in place of float32; None where there is no program."""
        single = {
            n: "float64"
            for n, t in zip(self.names, self.types, strict=True)
            if t.ndim is not None and t.dtype.name == "float32"
        }
        other = self.with_dtypes(single) if single else self
        return other and (replace(other, plan=self.planned(other.program)) if single else self)

    def _types(self, dtypes: Mapping[str, str]) -> list[ParameterType]:
        return [
            replace(t, dtype=DType(dtypes[n])) if n in dtypes else t
            for n, t in zip(self.names, self.types, strict=True)
        ]

    @property
    def with_integers(self) -> Question | None:
        """The same with integers in place of numbers; None where there are none, or no program."""
        types = [replace(t, dtype=WEAK_INT) if _is_number(t) else t for t in self.types]
        program = self.made(types)
        return None if program is None else replace(self, types=types, program=program)

    def for_flags(self) -> Iterator[Question | None]:
        """The same for each value of the bools, which may decide the dtypes of arrays."""
        flags = [k for k, t in enumerate(self.types) if _is_flag(t)][:MOST_FLAGS]
        for values in product((False, True), repeat=len(flags)) if flags else ():
            chosen = dict(zip(flags, map(literal_of, values), strict=True))
            types = [chosen.get(k, t) for k, t in enumerate(self.types)]
            program = self.made(types)
            yield (
                None
                if program is None
                else replace(self, types=types, program=program, plan=self.planned(program))
            )


def _is_flag(t: ParameterType) -> bool:
    return t.is_number and t.dtype.kind == "b"


def _is_number(t: ParameterType) -> bool:
    return t.is_number and t.dtype.kind in "fc"


def conversions(question: Question, groups: Sequence[Sequence[str]]) -> Conversions:
    """What the host may convert; `groups` are the arrays that must have one dtype."""
    found = _conversions(question, groups)
    floats = {n for n, t in zip(question.names, question.types, strict=True)
              if t.ndim is not None and t.dtype.name == "float64"}  # fmt: skip
    if floats <= set(found.names):
        return found
    parts = [None if q is None else _conversions(q, groups) for q in question.for_flags()]
    if not parts or None in parts:
        return found
    always = shared([(p, floats) for p in parts if p is not None])
    return always if set(found.names) < set(always.names) else found


def _conversions(question: Question, groups: Sequence[Sequence[str]]) -> Conversions:
    free, stored = convertible(question), stored_into(question)
    if not (free or stored) or any(p.conversion for p in question.program.parameters):
        return Conversions()
    names, integers = _integers(question, free)
    beside = _beside_integers(question, names, integers) if names else integers
    floats = beside is None
    if floats:
        names, integers = _integers(replace(question, floats=True), free)
    integers = beside or integers
    mixed = tuple(
        tuple(g) for g in groups if 1 < len(g) <= MOST_MIXED and set(g) <= free | stored
        and all(_mixes(question, g, m) for m in g)
    )  # fmt: skip
    return Conversions(names, integers, mixed, floats)


def convertible(question: Question, dtype: str = "float64") -> set[str]:
    """The arrays of a dtype that are only read: no store (not `z[1] = z[1]`, which is in no
    kernel), result or statement of the host shows what they are."""
    shown = {s.buffer for s in statements(question.program.body) if isinstance(s, ir.Write)}
    shown |= _shown_by(question, ir.Return, ir.Host, ir.Bind) | overlaps(question.plan).written
    return _arrays_of(question, dtype) - shown


def stored_into(question: Question) -> set[str]:
    """The arrays of float64 of an elementwise function that nothing but kernels store into.

    The host gives kernels a copy in float64, and casts what they stored, as NumPy does.
    """
    if not is_elementwise(question.plan) or question.plan.per_element:
        return set()
    written = overlaps(question.plan).written & _arrays_of(question, "float64")
    return written - _shown_by(question, ir.Host, ir.Bind)


def _arrays_of(question: Question, dtype: str) -> set[str]:
    return {
        p.name
        for p, t in zip(question.program.parameters, question.types, strict=True)
        if p.ndim is not None and t.ndim is not None and not p.conversion and not p.attribute
        and t.dtype.name == dtype
    }  # fmt: skip


def _shown_by(question: Question, *kinds: type[ir.Return | ir.Host | ir.Bind]) -> set[str]:
    """The arguments that results or statements of the host show."""
    plan, shown = question.plan, set[str]()
    for item in items_of(plan.items):
        if not isinstance(item, kinds):
            continue
        match item:
            case ir.Return():
                own = _given_back(item, question)
                values = [v for v in item.values if isinstance(v, str) and v not in own]
            case ir.Host():
                values = [name for _, name in item.arrays]
            case ir.Bind():
                values = [*item.names, *item.buffers]
            case _:
                values = []
        for v in values:
            shown |= plan.aliases.arguments(v)
    return shown


def _given_back(item: ir.Return, question: Question) -> set[str]:
    """The arguments that are returned as they came; on one way of several that is not known."""
    given = {v for k, v in enumerate(item.values) if k in item.given and isinstance(v, str)}
    loose = {p.name for p in question.plan.parameters if not (p.conversion or p.attribute)}
    return set() if question.way is not None else given & loose - overlaps(question.plan).written


# -- integers ------------------------------------------------------------------------------------


def _integers(question: Question, free: Collection[str]) -> tuple[tuple[str, ...], Integers]:
    """The arrays that may be of integers, all or any of them at once, and of which."""
    chosen = [n for n in question.names if n in free]
    exact, uneven = _as_floats(question, dict.fromkeys(chosen, "int64"))
    if exact is None and uneven:
        chosen = [n for n in chosen if n not in uneven]
        exact, _ = _as_floats(question, dict.fromkeys(chosen, "int64"))
    if (exact is None or not chosen) and 1 < len(free) <= MOST_MIXED:
        chosen = []
        for name in (n for n in question.names if n in free):
            more, _ = _as_floats(question, dict.fromkeys([*chosen, name], "int64"))
            if more is not None:
                exact, chosen = more, [*chosen, name]
    return _rule(question, chosen, exact)


def converted_alone(question: Question, names: Sequence[str]) -> Conversions:
    """What is converted where these arrays, and no others, are of integers."""
    exact, _ = _as_floats(question, dict.fromkeys(names, "int64"))
    chosen = names if set(names) <= convertible(question) else ()
    found, rule = _rule(question, chosen, exact)
    kept = _beside_integers(question, found, rule) if found else rule
    return Conversions(() if kept is None else found, kept or rule)


def stored_alone(question: Question, name: str) -> Conversions:
    """What is converted where an array that is stored into is of integers."""
    exact, _ = _as_floats(question, {name: "int64"})
    found, rule = _rule(question, [name], exact)
    kept = _beside_integers(question, found, rule) if found else rule
    return Conversions(found, kept or rule, floats=kept is None)


def _rule(
    question: Question, chosen: Sequence[str], exact: Exact | None
) -> tuple[tuple[str, ...], Integers]:
    """Which integers some arrays may be of, if they are converted at all."""
    if exact is None or not chosen:
        return (), Integers("wide")
    if exact.needs:
        # `0 * x` has no bound
        factor = max([1, *(c for c, _, _ in exact.needs)])
        own = max([1, *(c for c, _, summed in exact.needs if not summed)])
        power = max(d for _, d, _ in exact.needs)
        if factor * 2**power > LARGEST:
            return (), Integers("wide")
        rule = Integers("exact", own, factor, power)
    else:
        rule = Integers("wide")
    kinds = [k for k in NARROW if k and _holds(question, chosen, replace(rule, narrow=k))]
    if rule.kind == "wide" and kinds[-1:] == ["iub"]:
        return tuple(chosen), Integers("integers")
    return tuple(chosen), replace(rule, narrow=kinds[-1] if kinds else "")


def _holds(question: Question, names: Sequence[str], rule: Integers) -> bool:
    """Whether integers of the narrow dtypes of a rule are converted by it."""
    return all(_is_covered(question, names, n, rule) for n in NARROW[rule.narrow])


def _is_covered(question: Question, names: Sequence[str], dtype: str, rule: Integers) -> bool:
    """Whether a program for integers is that for floats, within the bounds of a rule."""
    exact, _ = _as_floats(question, dict.fromkeys(names, dtype))
    if exact is None or (exact.needs and rule.kind != "exact"):
        return False
    return all(
        c <= (rule.factor if summed else rule.own) and c <= rule.factor and d <= rule.power
        for c, d, summed in exact.needs
    )


def _beside_integers(
    question: Question, names: Sequence[str], integers: Integers
) -> Integers | None:
    """The rule that holds where integers are given for numbers, too; None where there is none."""
    if any(t.items and t.dtype.kind == "f" for t in question.types):
        return None
    if not any(map(_is_number, question.types)):
        return integers
    other = question.with_integers
    if other is None:
        return None
    fewer = replace(integers, kind="wide") if integers.kind == "integers" else integers
    narrower = [replace(fewer, narrow=k) for k in NARROW if len(k) < len(narrow_of(integers))]
    return next((r for r in (integers, *narrower[::-1]) if within(other, names, r)), None)


def narrow_of(integers: Integers) -> str:
    """The kinds of the narrow dtypes of a rule."""
    return "iub" if integers.kind == "integers" else integers.narrow


def narrow_within(question: Question, name: str, kinds: str, integers: Integers) -> bool:
    """Whether narrow integers of one array, the others being floats, are converted by a rule."""
    return all(_is_covered(question, [name], d, integers) for d in NARROW[kinds])


def within(question: Question, names: Sequence[str], integers: Integers) -> bool:
    """Whether integers of arrays are converted by a rule in this program, too."""
    narrow = NARROW[narrow_of(integers)]
    return all(_is_covered(question, names, d, integers) for d in ("int64", *narrow))


def _as_floats(
    question: Question, dtypes: Mapping[str, str]
) -> tuple[Exact | None, AbstractSet[str]]:
    """How the program for these dtypes is that for float64; else which arrays differ, if known."""
    program = question.given(dtypes)
    if program is None:
        return None, frozenset()
    exact = Exact(dtypes, literals=question.way is not None)
    try:
        body = exact.statements(program.body)
    except Uneven as found:
        return None, found.names
    if _returned(program) & exact.stored.keys():
        return None, frozenset()
    buffers = {
        n: replace(b, dtype=FLOAT64) if n in dtypes or n in exact.stored else b
        for n, b in program.buffers.items()
    }
    if stored_into(question) & dtypes.keys():
        exact.needs.add((1, 1, False))  # what nothing is stored into is given back
    own, floats = question.program, question.floats
    same = _shown(body, buffers, program, floats=floats) == _shown(
        own.body, own.buffers, own, floats=floats
    )
    return (exact if same else None), frozenset()


def _known(p: ir.Parameter, floats: bool) -> ir.Parameter:
    """A number without what only matters where it may be an integer, if it is a float."""
    return replace(p, floated=False, beside_bools=False) if floats else p


def _returned(program: ir.Program) -> set[str]:
    """The names of what is returned, or has another name."""
    found: set[str] = set()
    for s in statements(program.body):
        if isinstance(s, ir.Return):
            found |= {v for v in s.values if isinstance(v, str)}
        elif isinstance(s, ir.Bind):
            found |= {*s.names, *s.buffers}
        elif isinstance(s, ir.Host):
            found |= {name for _, name in s.arrays}
    return found


def _shown(
    body: Sequence[ir.Stmt], buffers: Mapping[str, ir.Buffer], program: ir.Program,
    single: bool = False, floats: bool = False,
) -> tuple[object, ...]:  # fmt: skip
    """What must be equal for two programs to be one; with `single`, float32 counts as float64, and
    with `floats`, numbers are floats."""

    def dtype(d: DType) -> DType:
        return DType(_DOUBLE.get(d.name, d.name) if single else d.name, d.weak)

    def same(p: Poly) -> Poly:
        return p

    return (
        tuple(map_statement(s, same, dtype) for s in body),
        {n: (b.shape, dtype(b.dtype)) for n, b in buffers.items()},
        tuple(replace(p, dtype=FLOAT64) for p in program.parameters if p.ndim is not None),
        tuple(replace(_known(p, floats), dtype=dtype(p.dtype))
              for p in program.parameters if p.ndim is None),
        program.checks, program.constants, program.imports, program.indexed, program.strict,
        program.sized, program.no_alias, program.way, program.runs,
    )  # fmt: skip


# -- float32 beside float64 ----------------------------------------------------------------------


def _mixes(question: Question, group: Sequence[str], wide: str) -> bool:
    """Whether the program with one array of float64 and the others of float32 is all float64.

    An operation on none of several arrays of float64 is one of float32.  So what any mixture
    computes in float32 is so with one of its float64 arrays being the only one.
    """
    return widens(question, [n for n in group if n != wide])


def widens(question: Question, names: Collection[str]) -> bool:
    """Whether the program with arrays of float32 is that of float64, but for what it rounds."""
    program, own = question.given(dict.fromkeys(names, "float32")), question.program
    if program is None:
        return False
    if _shown(_rounded(program.body), program.buffers, program, True) != _shown(
        _rounded(own.body), own.buffers, own
    ):
        return False
    # what is stored into is the argument itself when it is returned
    stored = stored_into(question)
    for s, t in zip(_returns(program), _returns(own), strict=True):
        given = stored | _given_back(t, question)
        if _dtypes(program, s, given) != _dtypes(own, t, given):
            return False
    return not _shows_rounding(program)


def _rounded(body: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
    """The statements with their numbers in float32, but for those that it has no place for.

    `0.1 * x` of float32 is computed with the float32 nearest to 0.1, and more accurately here.
    """

    def change(e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Const(value=float() as v) if _SMALLEST < abs(v) < _GREATEST:
                return replace(e, value=unpack("f", pack("f", v))[0])
        return None

    return tuple(map_parts(s, lambda e: rewrite(e, change), lambda p: p, lambda d: d) for s in body)


def _shows_rounding(program: ir.Program) -> bool:
    """Whether a value that NumPy computes or stores in float32 is rounded, compared or made an
    integer."""
    stored: set[str] = set()
    for s in program.body:
        own = {w.buffer for w in statements((s,)) if isinstance(w, ir.Write)}
        # what a block reads may be what an earlier turn of it stored
        known = stored if isinstance(s, ir.Write) else stored | own
        if any(_steps(e, known) for t in statements((s,)) for e in _expressions(t)):
            return True
        stored |= own
    return False


def _returns(program: ir.Program) -> list[ir.Return]:
    return [s for s in statements(program.body) if isinstance(s, ir.Return)]


def _dtypes(program: ir.Program, item: ir.Return, given: Collection[str]) -> list[str]:
    """The dtypes of results, but for arguments that are given back."""
    made = {s.name: s.dtype for s in statements(program.body) if isinstance(s, ir.Def)}
    known = {n: b.dtype for n, b in program.buffers.items()} | made
    return [
        "" if v is None or v in given else known[v].name if isinstance(v, str) else v.dtype.name
        for v in item.values
    ]


def _expressions(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement, subscripts and bounds left out: they have no floats."""
    match stmt:
        case ir.Def(body=e) | ir.Let(value=e) | ir.While(cond=e) | ir.If(cond=e):
            yield from walk(e)
        case ir.Write():
            yield from walk(stmt.body)
            yield from walk(stmt.mask) if stmt.mask is not None else ()
        case ir.Return():
            yield from (x for v in stmt.values if v is not None and not isinstance(v, str)
                        for x in walk(v))  # fmt: skip
        case ir.Host():
            yield from (x for _, v in stmt.values for x in walk(v))


def _steps(e: ir.Expr, stored: Collection[str]) -> bool:
    """Whether a value that NumPy computes in float32 is rounded, compared or made an integer."""
    match e:
        case ir.Op(op, args) if op in _STEPS:
            return any(_is_single(a) for a in args) and not all(_is_given(a, stored) for a in args)
        case ir.Cast(arg, dtype) if dtype.kind not in "fc":
            return _is_single(arg) and not _is_given(arg, stored)
    return False


def _is_single(e: ir.Expr) -> bool:
    return e.dtype.name in _DOUBLE and not e.dtype.weak


def _is_given(e: ir.Expr, stored: Collection[str]) -> bool:
    """An element as it was given, or a number that float32 holds: it is the same in float64."""
    if isinstance(e, ir.Const):
        return isinstance(e.value, int) or float(e.value.real).is_integer()
    return isinstance(e, ir.Load) and not e.dtype.weak and e.buffer not in stored
