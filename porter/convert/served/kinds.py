"""Integers and bools for kernels that were made for floats, whose text is the same for them.

A kernel computes in the dtype of its arrays.  Where the function converted for integers has the
very same text, it serves them too, and its results are integers, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from porter import ir
from porter.convert.served.exact import each_expression
from porter.convert.served.promotion import (
    MOST_MIXED,
    Question,
    converted_alone,
    convertible,
    narrow_of,
    narrow_within,
    stored_alone,
    stored_into,
    within,
)
from porter.dtypes.conversions import NARROW, Conversions, shared
from porter.dtypes.dtype import FLOAT32, WEAK_BOOL, WEAK_INT, DType
from porter.inference.types import ParameterType
from porter.ir.effects import expressions
from porter.ir.rebuild import map_exprs, map_statement
from porter.ir.walk import statements, walk
from porter.schedule.nodes import Plan
from porter.schedule.overlap import overlaps

#: what is tried for the only arrays that are not converted, and for each of several
_ONE, _SEVERAL = ("int64", "int32", "uint8", "int8", "bool"), ("int64",)
_SINGLE = ("float32", "complex64")
#: with more of them there are too many mixtures
MOST_LOOSE = 2
Groups = Sequence[tuple[str, ...]]
#: of each kind, the narrow dtypes that show what a number decides
_NARROWER = {"f": FLOAT32, "i": DType("int8"), "u": DType("uint8")}
#: NumPy's integers in place of Python's, and numbers in place of floats
_BOOL = ParameterType(WEAK_BOOL, None)
_INT8, _INT64 = (ParameterType(DType(name), None, numpys=True) for name in ("int8", "int64"))
_OTHERS = (ParameterType(WEAK_INT, None), ParameterType(FLOAT32, None, numpys=True))
Types = Sequence[ParameterType]
#: builds the program of a function for other types
Made = Callable[[Types], ir.Program | None]


def other_kinds(
    question: Question, groups: Groups, found: Conversions
) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The dtypes to try for arrays that must have one dtype, if they are not converted.

    A number may be an integer or a float at run time, which decides the dtype of the results: with
    one, or with items of lists, which Python's integers may be, integers are not tried.
    """
    if question.plan.items_of_lists or any(map(_is_float, question.types)):
        return {}
    types = dict(zip(question.names, question.types, strict=True))
    loose = [g for g in groups if types[g[0]].dtype.kind == "f" and not set(g) <= set(found.names)]
    dtypes = _ONE if len(loose) == 1 else _SEVERAL
    return dict.fromkeys(loose, dtypes) if len(loose) <= MOST_LOOSE else {}


def _is_float(t: ParameterType) -> bool:
    return t.ndim is None and t.dtype.kind in "fc" and not (t.omitted or t.literal or t.generator)


def beside_floats(
    question: Question, groups: Groups, found: Conversions, kept: Sequence[tuple[str, ...]]
) -> Conversions:
    """The conversions where integers of some groups are kept: all that meet are integers there.

    Beside floats they are converted, if that is right for whichever of them are integers.  Where
    none are kept, integers are refused if all of them are, and converted beside floats.
    """
    if not kept:
        for group in groups:
            more = _all_of(question, found, group) if not set(group) <= set(found.names) else found
            if more is not found:
                return replace(more, some=set(group) <= set(more.names))
        return found
    for group in kept:
        found = _all_of(question, found, group)
    for size in range(1, len(kept) + 1):
        for groups in combinations(kept, size):
            gone = {n for g in groups for n in g}
            names = [n for n in found.names if n not in gone]
            if names and not _still(question, found, names, gone):
                return replace(found, names=())
    return replace(found, beside=bool(found.names))


def _all_of(question: Question, found: Conversions, group: tuple[str, ...]) -> Conversions:
    """The conversions with all names of a group, if some of them beside floats may be integers.

    What is stored into is of floats then.
    """
    if not 1 < len(group) <= MOST_MIXED or not set(found.names) <= set(group):
        return found
    free = [n for n in group if n in convertible(question)]
    kept = len(free) < len(group)
    if kept and not set(group) <= {*free, *stored_into(question)}:
        return found
    parts = [
        converted_alone(question, some)
        for size in range(1, len(free) + kept)
        for some in combinations(free, size)
    ]
    if not parts or not all(p.names for p in parts):
        return found
    always = shared([(p, p.names) for p in parts])
    same = replace(always, mixed=found.mixed, rounded=found.rounded)
    return same if set(always.names) == set(free) else found


def _still(
    question: Question, found: Conversions, names: Sequence[str], kept: Collection[str]
) -> bool:
    """Whether the same is converted where other arrays are of integers, and stay so."""
    other = question.with_dtypes(dict.fromkeys(kept, "int64"))
    return other is not None and within(other, names, found.integers)


def with_stored(
    question: Question, groups: Groups, found: Conversions, kept: Sequence[tuple[str, ...]]
) -> Conversions:
    """The conversions, and the only array that is stored into, of integers: `x[x < t] = 0`.

    The host casts what kernels stored, as NumPy does: that must be a number or an element as it
    is, because the last digit of what kernels compute decides what it is cast to.
    """
    stored = [g[0] for g in groups if len(g) == 1 and g[0] in stored_into(question)]
    if found or len(stored) != 1 or tuple(stored) in kept:
        return found
    program = question.given({stored[0]: "int64"})
    if program is None or not _stores_elements(program, stored[0]):
        return found
    return stored_alone(question, stored[0])


def _stores_elements(program: ir.Program, name: str) -> bool:
    """Whether an array is stored into by statements of their own, as the last of all that read
    integers, and nothing is computed for it."""
    whole = {p.name for p in program.parameters if p.ndim is not None and p.dtype.kind in "biu"}
    written = False
    for s in program.body:
        inner = tuple(statements((s,)))
        loads = {x.buffer for t in inner for e in expressions(t) for x in walk(e)
                 if isinstance(x, ir.Load)}  # fmt: skip
        if written and loads & whole:
            return False
        if any(isinstance(t, ir.Write) and t.buffer == name for t in inner):
            if not isinstance(s, ir.Write) or not _is_plain(s.body, whole):
                return False
            written = True
    return written


def _is_plain(e: ir.Expr, whole: Collection[str]) -> bool:
    """Whether a value is a number, an element of an argument or one of them, its sign changed."""
    match e:
        case ir.Const() | ir.Scalar():
            return True
        case ir.Load(buffer=name):
            return name in whole
        case ir.Cast(arg=arg):
            return _is_plain(arg, whole)
        case ir.Select(then=then, other=other):
            return _is_plain(then, whole) and _is_plain(other, whole)
        case ir.Op(op="neg" | "abs" | "sign" | "maximum" | "minimum", args=args):
            return all(_is_plain(a, whole) for a in args)
        case ir.Op(op="mul", args=(a, b)):
            # one rounding, which is the same everywhere
            return _is_plain(a, whole) and _is_plain(b, whole) and not _has_product(e)
    return False


def _has_product(e: ir.Expr) -> bool:
    """Whether there is a product in one."""
    return sum(isinstance(x, ir.Op) and x.op == "mul" for x in walk(e)) > 1


def with_rounded(question: Question, found: Conversions) -> Conversions:
    """The conversions, and which arrays that meet are not to be the ones of float32."""
    each = {g: tuple(_rounding(question, g)) for g in found.mixed}
    mixed = tuple(g for g in found.mixed if len(each[g]) < 2 ** len(g) - 2)
    rounded = dict.fromkeys(names for g in mixed for names in each[g])
    return replace(found, mixed=mixed, rounded=tuple(rounded))


def _rounding(question: Question, group: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The arrays that are not to be of float32 where the others of a group are of float64."""
    # where one alone is of float64, what is made of it is so, and most of what that is stored in
    # is of float32
    if any(rounds_again(question, [n for n in group if n != m]) for m in group):
        for size in range(1, len(group)):
            yield from (some for some in combinations(group, size) if rounds_again(question, some))


def rounds_again(question: Question, names: Collection[str]) -> bool:
    """Whether NumPy computes with what it has rounded from float64 to float32 if these arrays are
    of that: with an `x` of float32, `x += y` rounds, and `x * y` after it shows that.

    Kernels have float64 in place of both.  What they store, the host rounds at the end.
    """
    single = dict.fromkeys(names, "float32")
    program = question.given(single)
    if program is not None:
        return _rounds_again(program, stored_into(question))
    parts = [q and q.with_dtypes(single) for q in question.for_flags()]
    return not parts or any(q is None or _rounds_again(q.program, stored_into(q)) for q in parts)


def _rounds_again(program: ir.Program, stored: Collection[str]) -> bool:
    rounded: set[str] = set()
    for s in program.body:
        inner = tuple(statements((s,)))
        writes = (w for w in inner if isinstance(w, ir.Write) and w.buffer in stored)
        last = {id(w.body): w.buffer for w in writes if _is_rounded(w.body)}
        # what a block reads may be what an earlier turn of it stored
        known = rounded if isinstance(s, ir.Write) else rounded.union(last.values())
        for x in (x for t in inner for e in expressions(t) for x in walk(e)):
            if isinstance(x, ir.Load) and x.buffer in known:
                return True
            if _is_rounded(x) and id(x) not in last:
                return True
        rounded.update(last.values())
    return False


def _is_rounded(e: ir.Expr) -> bool:
    """Whether a double, or an integer that is made of elements, is cast to single precision."""
    if not isinstance(e, ir.Cast) or e.dtype.name not in _SINGLE or e.arg.dtype.weak:
        return False
    if e.arg.dtype.kind in "iu":
        return e.arg.dtype.itemsize > 2 and any(isinstance(x, ir.Load) for x in walk(e.arg))
    return e.arg.dtype.kind in "fc" and e.arg.dtype.name not in _SINGLE


def with_lone(question: Question, groups: Groups, found: Conversions) -> Conversions:
    """The conversions, and which arrays may be of narrow integers where all others are float64.

    `r * np.cos(angle)` takes an `r` of int8 beside angles of float64; NumPy computes the cosine
    of an int8 in float16.
    """
    questions = [question, *question.for_flags()]
    if not found.floats and any(map(_is_float, question.types)):
        questions.append(question.with_integers)
    if found.beside:
        apart = _apart(questions, convertible(question), groups, found)
        return replace(found, lone=tuple(apart))
    if found.some:
        return found
    known = narrow_of(found.integers)
    lone = [
        (name, kinds)
        for group in groups if 1 < len(group) <= MOST_MIXED and set(group) <= set(found.names)
        for name in group if (kinds := _narrow(questions, name, found)) not in ("", known)
    ]  # fmt: skip
    return replace(found, lone=tuple(lone))


def _apart(
    questions: Sequence[Question | None], free: Collection[str], groups: Groups, found: Conversions
) -> Iterator[tuple[str, str]]:
    """The arrays that are not converted beside other integers, but where all others are float64."""
    for group in groups:
        small = 1 < len(group) <= MOST_MIXED and {*group} & {*found.names}
        for name in group if small else ():
            if name in free and name not in found.names:
                known = [q and converted_alone(q, [name]) for q in questions]
                rules = {c.integers if c and c.names else None for c in known}
                rule = rules.pop()
                if not rules and rule is not None and rule.kind != "exact":
                    yield name, f"w{narrow_of(rule)}"


def widened(
    question: Question, groups: Groups, also: Collection[tuple[tuple[str, ...], str]]
) -> tuple[tuple[str, ...], ...]:
    """The groups of arrays of integers of which the host may make the widest dtype: NumPy does so
    before it computes.  `also` are other dtypes that the text serves, each with its group."""
    types = dict(zip(question.names, question.types, strict=True))
    stored = overlaps(question.plan).written
    return tuple(
        g for g in groups
        if 1 < len(g) <= MOST_MIXED and not stored & {*g} and types[g[0]].dtype.name == "int64"
        and all((g, d) in also for d in ("int8", "int16", "int32"))
        and all(_widens(question, dict.fromkeys(some, "int8"))
                for size in range(1, len(g)) for some in combinations(g, size))
    )  # fmt: skip


def _widens(question: Question, narrow: Mapping[str, str]) -> bool:
    """Whether the program with some arrays of narrow integers is that for wide ones, as soon as
    what it loads from them is wide."""
    program, own = question.given(narrow), question.program
    if program is None:
        return False

    def dtype(d: DType) -> DType:
        return replace(d, var=None)

    def change(e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Cast(arg=ir.Load(buffer=name)) if name in narrow and e.dtype.name == "int64":
                return replace(e.arg, dtype=e.dtype)
        return None

    def shown(p: ir.Program) -> list[ir.Stmt]:
        body = (map_exprs(s, change) for s in p.body)
        return [map_statement(s, lambda n: n, dtype) for s in body]

    return shown(program) == shown(own)


def _narrow(questions: Sequence[Question | None], name: str, found: Conversions) -> str:
    """The kinds of narrow integers that an array may have, the others being of float64."""
    chosen = ""
    for kinds in (k for k in NARROW if k and len(narrow_of(found.integers)) < 3):
        if not all(q and narrow_within(q, name, kinds, found.integers) for q in questions):
            break
        chosen = kinds
    return chosen


# -- numbers that decide a dtype -------------------------------------------------------------------


def decides(made: Made, types: Types, planned: Plan) -> dict[str, tuple[str, ...]]:
    """The numbers, and the arrays of integers beside which a float32 of NumPy's makes one, if they
    are narrow: of `k * s` Python's float makes a float64.  Integers are among them, without arrays,
    if a result has their dtype."""
    found = _deciding_integers(made, types, planned)
    arrays = [k for k, t in enumerate(types) if t.ndim is not None and t.dtype.kind in "biu"]
    single = ParameterType(FLOAT32, None, numpys=True)
    for n in [n for n, t in enumerate(types) if arrays and t.is_number and t.dtype.kind == "f"]:
        met = []
        for k in arrays:
            narrow = [replace(t, dtype=DType("int8")) if j == k and t.dtype.kind != "b" else t
                      for j, t in enumerate(types)]  # fmt: skip
            program, other = made(narrow), made([*narrow[:n], single, *narrow[n + 1 :]])
            if program is None or other is None or _floats(program) != _floats(other):
                met.append(planned.parameters[k].name)
        if met:
            found[planned.parameters[n].name] = tuple(met)
    return found


def _deciding_integers(made: Made, types: Types, planned: Plan) -> dict[str, tuple[str, ...]]:
    """The integers of which an array is made that has the dtype of NumPy's."""
    others = _numbers(types, planned, "iu")
    # beside narrow ones; `promoting` is about those of floats
    narrow = [replace(t, dtype=_NARROWER[t.dtype.kind])
              if t.ndim is not None and t.dtype.kind in "iu" else t for t in types]  # fmt: skip
    each = [(own, _array_dtypes(made, own)[:1]) for own in (types, narrow) if others]
    return {planned.parameters[k].name: () for k in others
            if any(_unlike(known, made, own, {k: _INT8}) for own, known in each)}  # fmt: skip


def promoting(made: Made, types: Types, planned: Plan) -> dict[str, tuple[str, ...]]:
    """The numbers of which NumPy's make another float before they meet an array, and the arrays: of
    `x * (k / 2)` and `x * np.sqrt(s)` for an `x` of float32; a bool in place of `s` may, too."""
    floats = [k for k, t in enumerate(types) if t.ndim is not None and t.dtype.kind == "f"]
    others = {k: [_INT8, _INT64] for k in _numbers(types, planned, "iu")}
    others |= {k: [_OTHERS[1], _BOOL] for k in _numbers(types, planned, "f")}
    single = [replace(t, dtype=FLOAT32) if k in floats else t for k, t in enumerate(types)]
    known = _array_dtypes(made, single)[:1] if others and floats else []
    arrays = tuple(planned.parameters[k].name for k in floats)
    return {planned.parameters[k].name: arrays for k, each in others.items()
            if any(_unlike(known, made, single, {k: q}) for q in each)}  # fmt: skip


def _numbers(types: Types, planned: Plan, kinds: str) -> list[int]:
    """The numbers of some kinds, where there are arrays."""
    own = [k for k, t in enumerate(types) if t.is_number and t.dtype.kind in kinds]
    return [k for k in own if planned.arrays and not planned.parameters[k].fixed]


def deciding(made: Made, types: Types, numbers: Sequence[int]) -> tuple[int, ...]:
    """Those of some floats of which an array is made that has another dtype with an integer, or
    with a float32 of NumPy's; all of them where none does alone.

    Beside narrow arrays a float32 decides more often: `decides` and `promoting` tell that.
    """
    known = _array_dtypes(made, types)
    if any(t.ndim is not None and t.dtype.kind in "biu" for t in types):
        known[1] = []

    def differ(chosen: Sequence[int]) -> bool:
        integers, single = (dict.fromkeys(chosen, q) for q in _OTHERS)
        return _unlike(known, made, types, integers) or _unlike(known[:1], made, types, single)

    if not numbers or not differ(numbers):
        return ()
    alone = [k for k in numbers if len(numbers) > 1 and differ([k])]
    return tuple(alone or numbers)


def _unlike(
    known: Sequence[Sequence[str]], made: Made, types: Types, others: Mapping[int, ParameterType]
) -> bool:
    """Whether other numbers make arrays that are returned of other dtypes."""
    found = _array_dtypes(made, [others.get(k, t) for k, t in enumerate(types)])
    return any(a and b and a != b for a, b in zip(known, found, strict=False))


def _array_dtypes(made: Made, types: Types) -> list[list[str]]:
    """The dtypes of the arrays that are returned, of those that are given as they are, and narrow;
    none where there is no program."""
    narrow = [replace(t, dtype=_NARROWER.get(t.dtype.kind, t.dtype)) if t.ndim is not None else t
              for t in types]  # fmt: skip
    programs = map(made, (types, narrow))
    return [[] if p is None else _returned_dtypes(p) for p in programs]


def _returned_dtypes(program: ir.Program) -> list[str]:
    """The dtypes of the arrays that are returned."""
    stored = {s.name: s.dtype for s in statements(program.body) if isinstance(s, ir.Def)}
    returns = (s for s in statements(program.body) if isinstance(s, ir.Return))
    values = [v for r in returns for v in r.values if isinstance(v, str)]
    return [(stored.get(v) or program.buffers[v].dtype).name for v in values]


def _floats(program: ir.Program) -> list[tuple[str, str]]:
    """What is computed of floats, and in which dtypes, but for what is Python's."""
    each = (x for x in each_expression(program) if x.dtype.kind in "fc" and not x.dtype.weak)
    return [(type(x).__name__, x.dtype.name) for x in each]
