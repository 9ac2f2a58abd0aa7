"""Numbers of Python that become NumPy's before they meet an array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from typing import Any

from porter import ir
from porter.convert.served.exact import arguments_of, each_expression, exact_of, values_of
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import FLOAT32, FLOAT64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, DType
from porter.inference.types import WEAK, ParameterType
from porter.ir.effects import expressions
from porter.ir.ops import OPS
from porter.ir.walk import children, statements, walk
from porter.schedule.nodes import ForNumbers, Plan
from porter.schedule.overlap import overlaps

#: what Python's `math` gives floats and integers of its own of
_OF_MATH = ("float", "real_float", "whole", "test")
#: dtypes of integers, the one that shows most first; NumPy's functions make float16 of it
_NARROW = ("int8", "int32")
#: how many numbers there are at most; each set of them has a program of its own
_MOST = 4
#: the kinds of Python's numbers that may stand for an array, its own first, and their types
_BELOW = {"b": "b", "i": "ib", "u": "ib", "f": "fib", "c": "cfib"}
_PYTHONS = {"b": "bool", "i": "int", "f": "float", "c": "complex"}
_SINGLES = {"f": FLOAT32, "c": DType("complex64")}
#: numbers that are no float of Python's, which its complex takes for one
_AS_FLOATS = {"np.float64": ParameterType(FLOAT64, None, numpys=True),
              "bool": ParameterType(WEAK_BOOL, None)}  # fmt: skip
Types = Sequence[ParameterType]


def with_beside(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan, numbers: ForNumbers,
    program: ir.Program | None,
) -> ForNumbers:  # fmt: skip
    """The same, with what becomes of numbers that stand beside arrays.

    `program` is that of numbers alone, if there is one; `made` makes others.
    """
    written = overlaps(planned).written
    loose = [k for k, p in enumerate(planned.parameters)
             if p.ndim is not None and p.name not in written]  # fmt: skip
    if not loose or len(planned.arrays) < 2:
        return replace(numbers, strong=strong_of(program))
    if program is None and written:
        # what is stored into is no number
        program = made([_as_number(t) if k in loose else t for k, t in enumerate(types)])
    not_weak = dict(_not_weak(made, types, loose))
    always = strong_of(program)
    beside = {g: arrays for g, arrays in not_weak.items() if arrays and g not in always}
    return replace(
        numbers, strong=tuple(dict.fromkeys([*always, *not_weak])), beside=beside,
        computed=_computed(made, types, loose), exact=exact_of(made, types, loose),
        narrowing=_narrowing(made, types, planned, loose),
        as_floats=_as_floats(made, types, planned, loose),
    )  # fmt: skip


def _as_number(t: ParameterType) -> ParameterType:
    return ParameterType(WEAK[t.dtype.kind], None)


def _not_weak(
    made: Callable[[Types], ir.Program | None], types: Types, numbers: Sequence[int]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The numbers of which results are float64 beside arrays of float32, `np.asarray(y) * x`, or
    integers, and what must be arrays then: `x` in `(x > 0) * y`.
    """
    floats = [t.ndim is not None and t.dtype.kind == "f" for t in types]
    own = [replace(t, dtype=FLOAT32) if f else t for t, f in zip(types, floats, strict=True)]
    program = made(own)
    if program is None:
        return
    names = [p.name for p in program.parameters]

    def are_others(*chosen: int) -> bool:
        for number in (WEAK_FLOAT, WEAK_INT):
            weak = ParameterType(number, None)
            mixed = made([weak if k in chosen else t for k, t in enumerate(own)])
            if mixed is not None and _results(mixed) != _results(program):
                return True
        return False

    loose = [k for k in numbers if floats[k]]
    for k in filter(are_others, loose):
        yield (names[k],), tuple(names[j] for j in loose if j != k and not are_others(j, k))


def alone_of(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan, numbers: ForNumbers,
    own: Mapping[str, str] | None,
) -> dict[str, str]:  # fmt: skip
    """The arrays in whose place Python's numbers of some types, or all of them, have other results
    beside arrays: of `np.ones_like(y) * x` for a float `y`, a float64 beside an `x` of float32.

    A number of the kind of its array is as good as one of NumPy's where all are as wide as it.
    Where no array is made like another, those that have results of their `own` are known.
    """
    found = _alone_like(made, types, planned, numbers) if own is None else own
    return {**_integers_alone(made, types, planned), **found}


def _alone_like(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan, numbers: ForNumbers
) -> dict[str, str]:
    """The same where arrays are made like others."""
    own = [replace(t, dtype=FLOAT32) if t.ndim is not None and t.dtype.kind == "f" else t
           for t in types]  # fmt: skip
    programs = [(ts, made(ts)) for ts in ([*types], own)]
    found: dict[str, str] = {}
    # a number that is made NumPy's first stays a float64 beside arrays of float32
    strong = {n for g in numbers.strong for n in g if list(types) != own}
    for k, (p, t) in enumerate(zip(planned.parameters, types, strict=True)):
        if t.ndim is None or p.name in strong:
            found |= {p.name: ""} if p.name in strong else {}
            continue
        served = [
            all(
                wanted is not None and (mixed := made(_with_number(ts, k, kind))) is not None
                and _operations(mixed) == _operations(wanted)
                for ts, wanted in programs
            )
            for kind in _BELOW[t.dtype.kind]
        ]  # fmt: skip
        if not served[0]:
            found[p.name] = ""
        elif not all(served):
            found[p.name] = ", ".join(_PYTHONS[k] for k in _BELOW[t.dtype.kind][:0:-1])
    return found


def _integers_alone(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan
) -> dict[str, str]:
    """The arrays of floats in whose place Python's integers compute otherwise beside arrays of
    integers: `x * m` of `x * m / p` is of integers for an `x` of 3, and wraps around."""
    if not any(t.ndim is not None and t.dtype.kind in "iu" for t in types):
        return {}
    floats = [k for k, t in enumerate(types) if t.ndim is not None and t.dtype.kind == "f"]
    program = made(types) if floats else None
    wanted = None if program is None else _operations(program, "iu")
    mixed = ((planned.parameters[k].name, made(_with_number(types, k, "i"))) for k in floats)
    return {n: "bool, int" for n, other in mixed if wanted is not None
            and (other is None or Counter(_operations(other, "iu")) - Counter(wanted))}  # fmt: skip


def _narrowing(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan, numbers: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    """The groups of arrays of integers in whose place Python's integers compute otherwise beside
    single precision: `x * k` of a float32 `x` is one for a `k` of 3, and a float64 for an array."""
    single = [
        replace(t, dtype=_SINGLES[t.dtype.kind])
        if t.ndim is not None and t.dtype.kind in _SINGLES else t for t in types
    ]  # fmt: skip
    whole = [k for k in numbers if types[k].dtype.kind in "iu"]
    floats = any(t.ndim is not None and t.dtype.kind in _SINGLES for t in types)
    program = made(single) if floats and 0 < len(whole) <= _MOST else None
    if program is None:
        return ()
    return _unlike(made, single, {k: planned.parameters[k].name for k in whole}, program)


def refusals(planned: Plan, allowed: Mapping[str, Sequence[str]], conversions: Conversions) -> str:
    """The lines that refuse numbers beside arrays that may be of single precision: as they are
    `allowed`, or converted."""
    lines = ""
    single = {n for n, dtypes in allowed.items() if {"float32", "complex64"} & {*dtypes}}
    single = single.union(conversions.doubled, *conversions.mixed)
    arrays = [p.name for p in planned.parameters if p.name in single]
    alike = [(g, "int", "Python's int", "np.asarray") for g in planned.numbers.narrowing]
    alike += [(g, name, f"a {name}", "float") for name, g in planned.numbers.as_floats]
    for group, number, said, other in alike if arrays else ():
        test = " and ".join(f"type({n}) is {number}" for n in group)
        kind = f"{group[0]} is {said}, which"
        lines += f"    if {test} and _has_single({', '.join(arrays)}):\n"
        cure = f"pass {other}({group[0]}), or {{_command()}}"
        lines += f'        raise TypeError(f"{kind} computes otherwise than an array: {cure}")\n'
    return lines


def reached(plans: Sequence[Plan]) -> list[Plan]:
    """The plans of all forms, each without the refusals that no call reaches: beside floats, a
    form that takes them in place of the integers gets Python's, too."""
    floats = {p.name for plan in plans for p in plan.parameters if p.ndim is not None
              and p.dtype.kind in "fc"}  # fmt: skip
    found = []
    for plan in plans:
        complexes = any(p.ndim is not None and p.dtype.kind == "c" for p in plan.parameters)
        groups = plan.numbers.narrowing
        kept = tuple(g for g in groups if complexes or not floats & {*g})
        found.append(replace(plan, numbers=replace(plan.numbers, narrowing=kept)))
    return found


def _as_floats(
    made: Callable[[Types], ir.Program | None], types: Types, planned: Plan, numbers: Sequence[int]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The types of numbers, and the smallest groups of arrays in whose place they compute otherwise
    beside arrays of float32.

    Python's complex takes a float64 of NumPy's as a float of its own: `1j * x` does not promote
    arrays then, and that of an array does.
    """
    whole = made(types)
    if whole is None or not any(map(_is_complex_number, each_expression(whole))):
        return ()
    floats = [k for k, t in enumerate(types) if t.ndim is not None and t.dtype.kind == "f"]
    loose = [k for k in numbers if k in floats]
    found: list[tuple[str, tuple[str, ...]]] = []
    for name, number in _AS_FLOATS.items():
        if len(loose) > _MOST:
            found += [(name, (planned.parameters[k].name,)) for k in loose]
            continue
        for chosen in (c for n in range(1, len(loose) + 1) for c in combinations(loose, n)):
            group = tuple(planned.parameters[k].name for k in chosen)
            if len(chosen) == len(floats) or any({*g} <= {*group} for n, g in found if n == name):
                continue
            own = [replace(t, dtype=FLOAT64 if k in chosen else FLOAT32) if k in floats else t
                   for k, t in enumerate(types)]  # fmt: skip
            program = made(own)
            other = made([number if k in chosen else t for k, t in enumerate(own)])
            if program is None or other is None or _complexes(program) != _complexes(other):
                found.append((name, group))
    return tuple(found)


def _is_complex_number(e: ir.Expr) -> bool:
    return e.dtype.kind == "c" and (e.dtype.weak or isinstance(e, ir.Const))


def _complexes(program: ir.Program) -> list[tuple[str, str]]:
    """What is computed of complex numbers, and in which dtypes."""
    each = (x for x in each_expression(program) if x.dtype.kind == "c")
    return [(getattr(x, "op", ""), x.dtype.name) for x in each
            if isinstance(x, (ir.Op, ir.Select, ir.Reduce))]  # fmt: skip


def _with_number(types: Types, k: int, kind: str) -> list[ParameterType]:
    """The types with Python's number of a kind for one of the arrays."""
    return [*types[:k], ParameterType(WEAK[kind], None), *types[k + 1 :]]


def _results(program: ir.Program) -> list[str]:
    """The dtypes of what is returned, but for arguments that are given back as they came."""
    stored = {s.name: s.dtype for s in statements(program.body) if isinstance(s, ir.Def)}
    returns = (s for s in statements(program.body) if isinstance(s, ir.Return))
    return [
        (stored.get(v) or program.buffers[v].dtype if isinstance(v, str) else v.dtype).name
        for r in returns for k, v in enumerate(r.values) if v is not None and k not in r.given
    ]  # fmt: skip


def strong_of(program: ir.Program | None) -> tuple[tuple[str, ...], ...]:
    """The numbers of which NumPy's functions make a number of their own: those of each, once.

    `np.cos(a) * x` is float64 for an `a` of Python's and a float32 array; `a * x` is float32.
    """
    if program is None:
        return ()
    found = sources_of(program, set())
    groups: dict[tuple[str, ...], None] = {}
    for s in statements(program.body):
        for x in (x for e in expressions(s) for x in walk(e)):
            parts = _numbers_in(x)
            if parts:
                names = {n for p in parts for n in found(p)}
                groups[tuple(p.name for p in program.parameters if p.name in names)] = None
    return tuple(g for g in groups if g and not any({*o} < {*g} for o in groups if o))


def _numbers_in(e: ir.Expr) -> list[ir.Expr]:
    """The numbers of Python's that a function of NumPy's takes, if it takes nothing else."""
    if e.dtype.weak or e.dtype.kind == "b" or isinstance(e, ir.Cast):
        return []
    # what they are cast to is the dtype of the result
    parts = [c.arg if isinstance(c, ir.Cast) else c for c in children(e)]
    parts = [c for c in parts if c.dtype.kind != "b" and not isinstance(c, ir.Const)]
    return parts if all(c.dtype.weak for c in parts) else []


def sources_of(program: ir.Program, always: Set[str]) -> Callable[[Any], tuple[str, ...]]:
    """The arguments that a result is made of, those that `always` count included."""
    lets = [s for s in statements(program.body) if isinstance(s, ir.Let)]
    once = {n for n, k in Counter(s.name for s in lets).items() if k == 1}
    loose = [q.name for p in program.parameters for q in p.scalars if not p.fixed]
    made: dict[str, set[str]] = {}  # what the named values are made of, each looked at once

    def of(e: ir.Expr) -> Iterator[str]:
        for x in walk(e):
            match x:
                case ir.Scalar(name=name) | ir.Local(name=name) if name in made:
                    yield from made[name]
                case ir.Scalar(name=name):
                    yield name
                case ir.Value(poly=poly):
                    yield from poly.names()
                case ir.Local() | ir.Load() | ir.Reduce():
                    yield from loose

    for s in program.body:
        if isinstance(s, ir.Let) and s.name in once:
            made[s.name] = set(of(s.value))

    def found(e: ir.Expr) -> tuple[str, ...]:
        names = {*always, *of(e)}
        return tuple(n for n in loose if n in names)

    return found


def made_of_numbers(
    program: ir.Program, *kinds: type[ir.Load | ir.Local]
) -> tuple[tuple[str, ...], ...]:
    """For each result of these kinds that is Python's number, the numbers that make it NumPy's."""
    known: dict[str, list[ir.Expr]] = {}
    for s in statements(program.body):
        match s:
            case ir.Let(name, value, _) | ir.Def(name=name, body=value):
                known.setdefault(name, []).append(value)
            case ir.Write(buffer=name, body=value):
                known.setdefault(name, []).append(value)
    loose = [q.name for p in program.parameters for q in p.scalars if not (p.fixed or p.pythons)]

    def sources(result: ir.Expr) -> tuple[str, ...]:
        found, seen = set[str](), set[str]()
        todo = [result]
        while todo:
            parts, names = _typed_by(todo.pop())
            found |= parts
            for name in names - seen:
                todo += known.get(name, ())
            seen |= names
        return tuple(n for n in loose if n in found)

    each = {
        tuple(sources(v) if isinstance(v, kinds) and v.dtype.weak else () for v in r.values)
        for r in statements(program.body)
        if isinstance(r, ir.Return)
    }
    (only,) = each if len(each) == 1 else [()]
    return only if any(only) else ()


def _typed_by(e: ir.Expr) -> tuple[set[str], set[str]]:
    """The numbers that say whose number an expression is, and the variables that do."""
    parts: tuple[ir.Expr, ...] = ()
    match e:
        case ir.Scalar(name=name):
            return {name}, set()
        case ir.Value(poly=poly):
            return set(poly.names()), set()
        case ir.Local(name=name) | ir.Load(buffer=name):
            return set(), {name}
        case ir.Op(op=op) if OPS[op].rule in _OF_MATH:
            return set(), set()
        case ir.Cast(arg=arg) if e.dtype.kind in "iu" and arg.dtype.kind == "f":
            return set(), set()  # `int(v)`
        case ir.Select(_, then, other):
            parts = (then, other)
        case ir.Cast(arg=arg) | ir.Reduce(body=arg):
            parts = (arg,)
        case ir.Op(args=args):
            parts = args
    each = [_typed_by(p) for p in parts]
    return set().union(*(n for n, _ in each)), set().union(*(v for _, v in each))


def _computed(
    made: Callable[[Types], ir.Program | None], types: Types, numbers: Sequence[int]
) -> tuple[tuple[str, ...], ...] | None:
    """The groups of arguments that are no arrays of integers if all of one are Python's integers.

    Python computes `y + 1` of `(y + 1) * x` with integers of any size, NumPy makes an int64 of
    `np.abs(y)` and of `(x > 0) * y`.  In `x * y + 1` the number is what the array is.  Which of the
    arguments may be `numbers` is told by their positions; None where no integers are computed, or
    where there are too many numbers to look at each set of them.
    """
    if len(numbers) > _MOST:
        return None
    for name in _NARROW:
        own = [replace(t, dtype=DType(name)) if t.ndim is not None and t.dtype.kind in "iuf" else t
               for t in types]  # fmt: skip
        program = made(own)
        if program is not None:
            break
    else:
        return None
    made_of = (x for x in each_expression(program) if isinstance(x, (ir.Op, ir.Select)))
    if not any(x.dtype.kind in "iu" for x in made_of):
        if not any(isinstance(s, ir.Write) for s in statements(program.body)):
            return None
    names = {k: program.parameters[k].name for k in numbers}
    found = _of_numbers_alone(program, {*names.values()})
    if found is None:
        return tuple((n,) for n in names.values())
    return _unlike(made, own, names, program, found)


def _unlike(
    made: Callable[[Types], ir.Program | None], types: Types, names: Mapping[int, str],
    program: ir.Program, known: Sequence[tuple[str, ...]] = (),
) -> tuple[tuple[str, ...], ...]:  # fmt: skip
    """The smallest groups of arguments that compute otherwise if all of one are Python's integers,
    those that are `known` first."""
    wanted, found = _operations(program), [*known]
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            group = tuple(names[k] for k in chosen)
            if any({*g} <= {*group} for g in found):
                continue
            weak = ParameterType(WEAK_INT, None)
            mixed = made([weak if k in chosen else t for k, t in enumerate(types)])
            if mixed is None or _operations(mixed) != wanted:
                found.append(group)
    return tuple(found)


def _operations(program: ir.Program, kinds: str = "biufc") -> list[tuple[str, str]]:
    """What is computed, and in which dtypes of these kinds."""
    found = [
        (x.op if isinstance(x, (ir.Op, ir.Reduce)) else "select", x.dtype.name)
        for x in each_expression(program) if isinstance(x, (ir.Op, ir.Select, ir.Reduce))
    ]  # fmt: skip
    found += [("", s.dtype.name) for s in statements(program.body) if isinstance(s, ir.Def)]
    return [(op, dtype) for op, dtype in found if DType(dtype).kind in kinds]


def _of_numbers_alone(program: ir.Program, numbers: set[str]) -> list[tuple[str, ...]] | None:
    """The sets of arguments of which alone something is computed, or chosen, or copied; None where
    a variable has several values."""
    values = values_of(program)
    if values is None:
        return None
    order = [p.name for p in program.parameters]
    copied = [s.body for s in statements(program.body) if isinstance(s, ir.Def)]
    computed = [x for x in each_expression(program) if isinstance(x, (ir.Op, ir.Select, ir.Reduce))]
    found: dict[tuple[str, ...], None] = {}
    for e in (*copied, *computed):
        names = arguments_of(e, values)
        if names and names <= numbers:
            found[tuple(n for n in order if n in names)] = None
    return [g for g in found if not any({*o} < {*g} for o in found)]
