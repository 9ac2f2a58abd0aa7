"""Numbers of Python: as arguments of kernels that take any number, and as results.

A default may be an integer (`angle=0`).  With `angle=20.5` NumPy computes with floats.  One text
serves both where the program for a float is that for an integer, but for what Python computes of
the number before it meets an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

import libcst as cst

from porter import ir
from porter.convert.served.kinds import decides, deciding, promoting
from porter.convert.served.promotion import Question
from porter.convert.served.strong import alone_of, made_of_numbers, sources_of, with_beside
from porter.dtypes.dtype import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from porter.guarded import doing_without
from porter.inference.types import ParameterType, tuple_of
from porter.ir.effects import expressions
from porter.ir.rebuild import map_blocks, map_exprs, map_statement
from porter.ir.walk import blocks, statements, walk
from porter.lowering.arrays.subscripts import host_size
from porter.lowering.program import build
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import ForNumbers, Launch, Plan, items_of
from porter.source.module import FunctionSource

_NUMBER = ir.Scalar("number", WEAK_FLOAT)
_WEAK = {"b": WEAK_BOOL, "i": WEAK_INT, "u": WEAK_INT, "f": WEAK_FLOAT, "c": WEAK_COMPLEX}


def with_floats(
    function: FunctionSource, types: Sequence[ParameterType]
) -> Iterator[tuple[ParameterType, ...]]:
    """The types with floats for numbers whose defaults are integers: all of them, then each."""
    loose = [
        k
        for k, (p, t) in enumerate(zip(parameters_of(function), types, strict=True))
        if isinstance(p.default, cst.Integer) and t.ndim is None and not t.items
        and t.dtype.kind == "i" and not (t.given or t.omitted)
    ]  # fmt: skip
    for chosen in (loose, *([k] for k in loose if len(loose) > 1)):
        if chosen:
            yield tuple(
                replace(t, dtype=WEAK_FLOAT) if k in chosen else t for k, t in enumerate(types)
            )


def with_numbers(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, planned: Plan,
    arrays: ir.Program,
) -> Plan:  # fmt: skip
    """The plan with what it returns for numbers of Python in place of the arrays.

    `x * 2` is Python's number then, `np.sin(x)` is NumPy's, and `~True` is -2, where an array of
    bools gives bools.  The program for numbers tells.
    """
    served = _served(function, types, scope, planned, arrays)
    asked = (partial(_built, function, scope), types, planned)
    numbers = replace(served.numbers, decides=decides(*asked), promotes=promoting(*asked))
    if planned.arrays and not (is_elementwise(planned) or planned.per_element):
        numbers = replace(numbers, counted=made_of_numbers(arrays, ir.Load, ir.Local))
    return replace(served, numbers=numbers)


def _served(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, planned: Plan,
    arrays: ir.Program,
) -> Plan:  # fmt: skip
    numbers, program = _numbers(function, types, scope, planned)
    if planned.per_element:
        # the function itself is one of numbers
        program = _built(replace(function, per_element=False), scope, [_weakened(t) for t in types])
    made = partial(_built, function, scope)
    if is_elementwise(planned):
        numbers = with_beside(made, types, planned, numbers, program)
    if planned.per_element:
        return replace(planned, numbers=numbers)
    if is_elementwise(planned):
        strong = program or _built(function, scope, [_strong(t) for t in types])
        points = _built(function, scope, [_of_point(t) for t in types])
        # what is an array or a number as the values say is for neither
        no_points = planned.no_points or (points is None and strong is not None)
        kept = _kept(strong, points, arrays)
        # Python's number has results of its own beside arrays, as `np.ones_like(2.0)` has
        shapes = (of for of in planned.own_shapes.values() if len(of) < len(planned.arrays))
        own = {n: "" for of in shapes for n in of}
        like = arrays.strict and arrays.sized and len(planned.arrays) > 1
        alone = alone_of(made, types, planned, numbers, None if like else own)
        numbers = replace(numbers, kept=kept, alone=alone)
        return replace(planned, numbers=numbers, no_points=no_points)
    if any(t.ndim == 0 for t in types) or (planned.leading and planned.leading.kept):
        taken = set(taken_as_numbers(planned))
        each = list(zip(planned.parameters, types, strict=True))
        strong = _built(function, scope, [_strong(t) if p.name in taken else t for p, t in each])
        points = _built(function, scope, [_of_point(t) if p.name in taken else t for p, t in each])
        alone = {p.name: "" for p, t in each if t.ndim == 0 and _beside_others(t, types)}
        kept = _kept(strong, points, arrays)
        return replace(planned, numbers=replace(numbers, kept=kept, alone=alone))
    return replace(planned, numbers=numbers)


def _beside_others(t: ParameterType, types: Sequence[ParameterType]) -> bool:
    """Whether Python's number in place of an array of no dimensions takes another array's dtype."""
    wide = {t.dtype.name, "float64", "complex128", "bool"}
    narrow = {"iu": "iufc", "fc": "fc"}
    kinds = next((own for kind, own in narrow.items() if t.dtype.kind in kind), "")
    others = (q.dtype for q in types if q is not t and q.ndim is not None)
    return any(d.kind in kinds and d.name not in wide for d in others)


def _kept(
    numbers: ir.Program | None, points: ir.Program | None, arrays: ir.Program
) -> tuple[Mapping[int, tuple[str, ...]], ...]:
    """The results of each `return` that stay arrays: those of `np.where`, not of `np.sin`.

    `x.copy()` is what `x` is: a NumPy number or a 0-d array.  What is stored into is an array,
    NumPy refuses to store into a number.
    """
    if numbers is None and points is None:
        written = {s.buffer for s in statements(arrays.body) if isinstance(s, ir.Write)}
        return tuple(
            {k: () for k, v in enumerate(r.values) if v in written} for r in _returns(arrays)
        )
    one, other = _returns(numbers), _returns(points)
    if points is None or len(one) != len(other):
        return tuple(_arrays_of(r) for r in one or other)
    if numbers is None:
        return tuple(map(_arrays_of, other))
    return tuple(
        {k: () if k in _arrays_of(r) else _read(points, p.values[k]) for k in _arrays_of(p)}
        for r, p in zip(one, other, strict=True)
    )


def _returns(program: ir.Program | None) -> list[ir.Return]:
    return [s for s in statements(program.body if program else ()) if isinstance(s, ir.Return)]


def _arrays_of(item: ir.Return) -> dict[int, tuple[str, ...]]:
    return {k: () for k, v in enumerate(item.values) if isinstance(v, str)}


def _read(program: ir.Program, result: str | ir.Expr | None) -> tuple[str, ...]:
    """The arguments that an array is made of."""
    bodies = {s.name: s.body for s in statements(program.body) if isinstance(s, ir.Def)}
    names, found = [result] if isinstance(result, str) else [], dict[str, None]()
    while names:
        name = names.pop()
        if name in bodies:
            loads = (x for x in walk(bodies.pop(name)) if isinstance(x, ir.Load))
            names += [x.buffer for x in loads]
        else:
            found[name] = None
    return tuple(p.name for p in program.parameters if p.name in found)


def _of_point(t: ParameterType) -> ParameterType:
    """An array without dimensions in place of an array."""
    return t if t.ndim is None else replace(t, ndim=0)


def _weakened(t: ParameterType) -> ParameterType:
    """Python's number in place of an array."""
    return t if t.ndim is None else ParameterType(_WEAK[t.dtype.kind], None)


def _strong(t: ParameterType) -> ParameterType:
    """NumPy's number in place of an array."""
    return t if t.ndim is None else ParameterType(t.dtype, None)


def _built(
    function: FunctionSource, scope: Globals, types: Sequence[ParameterType]
) -> ir.Program | None:
    with doing_without():
        return build(function, types, scope, grow=False)
    return None


def _numbers(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, planned: Plan
) -> tuple[ForNumbers, ir.Program | None]:
    """What numbers give, and the program for them if there is one."""
    taken = set(taken_as_numbers(planned))
    parameters = planned.parameters
    chosen = [t for p, t in zip(parameters, types, strict=True) if p.name in taken]
    if all(p.ndim is None for p in parameters) and any(p.scalars for p in parameters):
        with doing_without():
            return _of_numbers_alone(build(function, types, scope)), None
    if not chosen or any(t.dtype.kind not in _WEAK for t in chosen):
        return ForNumbers(), None
    numbers = [
        ParameterType(_WEAK[t.dtype.kind], None) if p.name in taken else t
        for p, t in zip(parameters, types, strict=True)
    ]
    names = tuple(p.name for p in parameters if p.name in taken)
    with doing_without():
        program = build(function, numbers, scope, grow=False)
        found = _compared(program, planned, names, any(map(_is_refused, chosen)))
        if found is not None:
            return found, program
    if any(t.dtype.kind == "b" for t in chosen) or _inverts_bools(planned):
        # `~True` is -2, where arrays of bools give bools
        return ForNumbers(unlike=(names,)), None
    return ForNumbers(), None


def _of_numbers_alone(program: ir.Program) -> ForNumbers:
    """Which results of a function that takes no arrays are NumPy's where numbers are that."""
    return ForNumbers(made_of_numbers(program, ir.Load))


def _is_refused(t: ParameterType) -> bool:
    """Whether the host refuses Python's numbers by their dtype, in place of such an array."""
    return t.dtype.kind not in "fc" and t.dtype.name != _WEAK[t.dtype.kind].name


def _compared(
    program: ir.Program, planned: Plan, names: tuple[str, ...], refused: bool
) -> ForNumbers | None:
    """What the program for numbers says, beside the plan; None where one of them ends nowhere."""
    own = next((i for i in items_of(planned.items) if isinstance(i, ir.Return)), None)
    returns = _returns(program)
    if own is None or not returns:
        return None
    together = is_elementwise(planned) and not planned.own_shapes
    found = sources_of(program, set(names) if together else set())
    each = {tuple(found(v) if _is_pythons_own(v) else () for v in r.values) for r in returns}
    pairs = (pair for r in returns for pair in zip(r.values, own.values, strict=False))
    others = {p.name for p in program.parameters if p.ndim is not None}
    if len(each) > 1 or any(
        _dtype(program, v, others) != _dtype(planned, w, others) for v, w in pairs
    ):
        return ForNumbers(unlike=() if refused else (names,))
    (python,) = each
    return ForNumbers(python if any(python) else ())


def _inverts_bools(planned: Plan) -> bool:
    return any(
        isinstance(x, ir.Op) and x.op in ("invert", "not") and x.dtype.kind == "b"
        for i in items_of(planned.items) if isinstance(i, Launch)
        for e in i.kernel.expressions() for x in walk(e)
    )  # fmt: skip


def _dtype(
    program: ir.Program | Plan, value: str | ir.Expr | None, others: Set[str] = frozenset()
) -> str:
    """The dtype of a result, for arguments that are as wide as Python's numbers, but for others."""
    if value is None:
        return ""
    dtype = (program.buffers[value] if isinstance(value, str) else value).dtype
    wide = _WEAK.get(dtype.kind, dtype)
    return (wide if dtype.weak or dtype.var not in (None, *others) else dtype).name


def taken_as_numbers(planned: Plan) -> Iterator[str]:
    """The arrays in whose place a number may be given."""
    leading = planned.leading
    for p in planned.parameters:
        if p.ndim is None or p.conversion:
            continue
        core = None if leading is None or p.name not in leading.arrays else p.ndim - 1
        if is_elementwise(planned) or p.ndim == 0 or (core == 0 and leading and not leading.least):
            yield p.name


def with_lists(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals, planned: Plan
) -> Plan:
    """The plan with what it returns for lists, whose items are Python's numbers.

    `w, x = q` gives such items, and `w * x` is Python's number then; `np.dot(q, q)` is NumPy's.
    The program for tuples in place of the arrays tells.
    """
    lengths = lengths_of(planned)
    arrays = [t for t in types if t.ndim is not None]
    if (
        planned.numbers.python
        or not arrays
        or any(t.ndim != 1 or t.dtype.kind != "f" for t in arrays)
    ):
        return planned
    if any(p.name not in lengths for p in planned.parameters if p.ndim is not None):
        return planned
    tuples = [
        t if t.ndim is None else tuple_of([ParameterType(WEAK_FLOAT, None)] * lengths[p.name])
        for p, t in zip(planned.parameters, types, strict=True)
    ]
    with doing_without():
        program = build(function, tuples, scope, grow=False)
        returns = _returns(program)
        python = [tuple(map(_is_pythons_own, r.values)) for r in returns]
        if any(any(p) for p in python):
            own_returns = [i for i in items_of(planned.items) if isinstance(i, ir.Return)]
            if len({len(r.values) for r in (*own_returns, *returns)}) > 1:
                return planned  # of a tuple it makes another number of results
            rule = _rule(program, returns)
            loose = tuple(p.name for p in planned.parameters if not (p.fixed or p.items))
            if rule == "all" and not all(map(_is_unpacked(planned), lengths)):
                rule = "floats"  # there may be further items
            own = () if rule == "none" else tuple(loose if k else () for k in python[0])
            numbers = replace(planned.numbers, python=own)
            return replace(planned, numbers=numbers, items_of_lists=rule)
    return planned


def _is_unpacked(planned: Plan) -> Callable[[str], bool]:
    """Whether an array has as many items as names are given to them."""
    equal = [d for c in planned.checks if c.kind == "equal" for d in (c.left.dim, c.right.dim)]
    return {d.array for d in equal if d is not None}.__contains__


def lengths_of(planned: Plan) -> dict[str, int]:
    """How long the arrays are that are unpacked, or from which single elements are taken."""
    found: dict[str, int] = {}
    for c in planned.checks:
        for dim, size in ((c.left.dim, c.right.constant), (c.right.dim, c.left.constant)):
            if dim is not None and isinstance(size, int) and c.kind in ("equal", "index"):
                found[dim.array] = max(size, found.get(dim.array, 1))
    return found


def _rule(program: ir.Program, returns: Sequence[ir.Return]) -> str:
    """`floats` where each result that is Python's number is sums and products of items of tuples,
    `all` where it is of all of them, else `none`."""
    values = {s.name: s.value for s in program.body if isinstance(s, ir.Let)}
    if len(returns) > 1 or len(values) + 1 != len(program.body):
        return "none"
    items = {q.name for p in program.parameters for q in p.items}
    results = [v for v in returns[0].values if v is not None and not isinstance(v, str)]
    used = [_summed(v, values) for v in results if v.dtype.weak]
    if not all(used):
        return "none"
    return "all" if all(items <= names for names in used) else "floats"


def _summed(e: ir.Expr, values: Mapping[str, ir.Expr]) -> set[str]:
    """The arguments that are added and multiplied to a number; nothing if more is done to one."""
    match e:
        case ir.Local(name=name) if name in values:
            return _summed(values[name], values)
        case ir.Scalar(name=name):
            return {name}
        case ir.Cast(arg=arg):
            return _summed(arg, values)
        case ir.Const():
            return {""}
        case ir.Op("add" | "sub" | "mul" | "neg" | "pos", args):
            parts = [_summed(a, values) for a in args]
            return set().union(*parts) if all(parts) else set()
    return set()


def _is_pythons_own(value: str | ir.Expr | None) -> bool:
    return value is not None and not isinstance(value, str) and value.dtype.weak


def reals(question: Question) -> tuple[str, ...]:
    """Numbers that must be floats: with an integer NumPy would have other results.

    Beside arrays of floats an integer is as good as a float; beside integers it decides, and
    beside bools (`(x > k) * payout`).  Complex ones must be that where a float gives floats.
    """
    types, parameters = list(question.types), question.program.parameters
    floats = {k: [q.name for q in p.items or (p,) if q.dtype.kind == "f"]
              for k, (t, p) in enumerate(zip(types, parameters, strict=True))
              if not (t.ndim is not None or t.omitted or t.literal or p.fixed)}  # fmt: skip
    chosen = [k for k, names in floats.items() if names]
    arrays, found = any(t.ndim is not None and t.dtype.kind in "biu" for t in types), list[int]()
    if arrays or _has_integers(question.program):
        others = ((k, _made_with(question, {k: _of_integers(types[k])})) for k in chosen)
        found = [k for k, q in others if q is None or not serves_integers(question.program, q)]
    found += deciding(question.made, types, [k for k in chosen if k not in found])
    return (*_complex_numbers(question), *(n for k in found for n in floats[k]))


def _made_with(question: Question, others: Mapping[int, ParameterType]) -> ir.Program | None:
    return question.made([others.get(k, t) for k, t in enumerate(question.types)])


def _complex_numbers(question: Question) -> list[str]:
    """The complex numbers with which results have a dtype that they have not with a float."""
    types, found = list(question.types), list[str]()
    for k, t in enumerate(types):
        if t.is_number and t.dtype.kind == "c":
            program = _made_with(question, {k: replace(t, dtype=WEAK_FLOAT)})
            if program is None or _result_dtypes(program) != _result_dtypes(question.program):
                found.append(question.names[k])
    return found


def _result_dtypes(program: ir.Program) -> list[str]:
    """The dtypes of what a program returns."""
    return [_dtype(program, v) for r in _returns(program) for v in r.values]


def _has_integers(program: ir.Program) -> bool:
    """Whether elements that are bools or integers become floats somewhere."""
    return any(
        isinstance(x, ir.Cast) and x.dtype.kind in "fc"
        and x.arg.dtype.kind in "biu" and not x.arg.dtype.weak
        for s in statements(program.body) for e in expressions(s) for x in walk(e)
    )  # fmt: skip


def _of_integers(t: ParameterType) -> ParameterType:
    """A number, or a tuple of them, with integers in place of floats."""
    if t.items:
        return replace(t, items=tuple(map(_of_integers, t.items)))
    return replace(t, dtype=WEAK_INT) if t.dtype.kind == "f" else t


def serves_integers(number: ir.Program, integer: ir.Program) -> bool:
    """Whether a program for floats is right for integers too, whose own program is known."""
    names = {
        p.name
        for p, q in zip(number.parameters, integer.parameters, strict=True)
        if p.dtype != q.dtype
    }
    return _hidden(number, names) == _hidden(integer, names)


def _hidden(program: ir.Program, names: set[str]) -> tuple[object, ...]:
    """The program without what Python computes of some numbers, and without their dtypes."""
    known = set(names)
    for s in statements(program.body):
        if isinstance(s, ir.Let) and _is_pythons(s.value, known):
            known.add(s.name)

    def change(e: ir.Expr) -> ir.Expr | None:
        if _is_pythons(e, known):
            return _NUMBER
        match e:
            case ir.Cast(arg, dtype) if dtype.kind in "fc" and _is_pythons(arg, known):
                return _NUMBER
        return None

    def dtype(d: DType) -> DType:
        return replace(d, var=None)

    def hidden(s: ir.Stmt) -> tuple[object, ...]:
        inner = tuple(tuple(map(hidden, block)) for block in blocks(s))
        own = map_blocks(s, lambda _: ())
        # what is returned, or shown by a statement of the host, has the type that Python gives it
        if isinstance(own, ir.Host):
            # an argument is there as it was passed, as in the original
            values = ((n, _NUMBER if _is_one_of(v, names) else v) for n, v in own.values)
            own = replace(own, values=tuple(values))
        elif not isinstance(s, ir.Return):
            own = map_exprs(own, change)
        return map_statement(own, lambda p: p, dtype), inner

    return (
        tuple(map(hidden, program.body)),
        {n: (b.shape, dtype(b.dtype)) for n, b in program.buffers.items()},
        tuple(p for p in program.parameters if p.name not in names),
        program.checks, program.constants, program.imports, program.indexed, program.strict,
        program.sized, program.no_alias,
    )  # fmt: skip


def _is_one_of(e: ir.Expr, names: set[str]) -> bool:
    """Whether this is one of some arguments, with nothing computed of it."""
    match e:
        case ir.Scalar(name=name):
            return name in names
        case ir.Value(poly=poly):
            return any(poly == host_size(name) for name in names)
    return False


def _is_pythons(e: ir.Expr, names: set[str]) -> bool:
    """Whether Python computes this of numbers alone, some of these among them."""
    if not (e.dtype.weak or e.dtype.kind == "b"):
        return False
    found = False
    for x in walk(e):
        match x:
            case ir.Scalar(name=name) | ir.Local(name=name):
                found |= name in names
            case ir.Value(poly=poly):
                found |= bool(poly.names() & names)
            case ir.Const() | ir.Op() | ir.Select():
                pass
            case ir.Cast(dtype=dtype) if dtype.kind in "fc":
                pass
            case _:
                return False
    return found
