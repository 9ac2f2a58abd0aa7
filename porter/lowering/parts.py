"""A function that is called for parts of arrays, as a generalized ufunc is.

The axes that its layout does not name are looped over, and broadcast; its body sees a part of each
argument, and stores into a part of each result or returns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from porter import ir
from porter.diagnostics import refusal
from porter.dtypes.dtype import DType
from porter.ir.effects import expressions
from porter.ir.walk import blocks, children, statements
from porter.lowering.arrays.calculus import ONE, aligned, as_array, broadcast_shape, reindex
from porter.lowering.arrays.rearrange import readonly
from porter.lowering.arrays.stores import store
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.expressions.inline import statements_of
from porter.lowering.state.scope import Loop
from porter.lowering.statements import control
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, sym
from porter.source.layout import Parts
from porter.source.module import FunctionSource
from porter.syntax.names import contains


def run_parts(ev: Evaluator, function: FunctionSource, parts: Parts) -> None:
    """Emit loops over the axes that the layout does not name, and the return of what they store."""
    b = ev.b
    origin = b.place.origin = ir.Origin(function.span)
    given = list(ev.env.items())
    cores = parts.layout.arrays
    sizes = _sizes(ev, function, parts)
    outer = broadcast_shape(
        b, [_outer(v, core) for (_, v), core in zip(given, cores, strict=False)], "the looped axes"
    )
    axes = b.axes([n for n in outer if n != ONE])
    running = iter(axes)
    index = [Poly() if n == ONE else sym(next(running).name, True) for n in outer]
    made = _results(ev, parts, outer, sizes)
    b.scope.ranges += axes
    b.scope.loops.append(Loop.THREADS)
    with b.out.block() as collected:
        types = parts.types[0]
        own: dict[str, Value] = {
            name: _part(_read(name, v), index, core, rank)
            for (name, v), core, (_, rank) in zip(given, cores, types, strict=False)
        }
        inputs = parts.layout.inputs
        outs = [
            _part(Array.of(buffer), index, core, max(rank, 1))
            for buffer, core, (_, rank) in zip(made, cores[inputs:], types[inputs:], strict=True)
        ]
        own |= zip(parts.outputs, outs, strict=False)
        body = ev.bodies(ev.within(ev.scope, own), function.name)
        value = body.run_helper(without_returns(statements_of(function.node)))
        if value is not None and value is not NONE:
            _store(ev, function, value, outs)
        elif not parts.outputs:
            raise b.refuse("PRT803", f"`{function.name}` returns nothing on some path",
                           "return the result on every path")  # fmt: skip
    b.scope.loops.pop()
    del b.scope.ranges[len(b.scope.ranges) - len(axes) :]
    for buffer in made:
        _check_stored(ev, collected, buffer.name)
    b.place.origin = origin
    for buffer in made:
        b.out.emit(ir.Alloc(buffer, origin))
    inner: Sequence[ir.Stmt] = collected
    for a in reversed(axes):
        inner = (ir.For(a.name, a.lo, a.hi, 1, tuple(inner), origin),)
    for s in inner:
        b.out.emit(s)
    # of parts alone NumPy makes a number, not an array of no dimensions
    results = tuple(m.name if m.shape else ir.Load(m.name, (), m.dtype) for m in made)
    b.out.emit(ir.Return(results, len(made) == 1, origin))


def without_returns(statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Statements in which what follows a bare `return` under a condition is the `else` of it."""
    found: list[cst.BaseStatement] = []
    for k, s in enumerate(statements):
        if _is_bare(s):
            break
        if isinstance(s, cst.If) and contains(s, cst.Return):
            rest = statements[k + 1 :]
            then = without_returns([*control.suite(s.body), *rest])
            other = without_returns([*control.orelse(s), *rest])
            if not any(contains(x, cst.Return) for x in (*then, *other)):
                found.append(_choice(s, then, other))
                return found
        found.append(s)
    return found


def _choice(
    node: cst.If, then: Sequence[cst.BaseStatement], other: Sequence[cst.BaseStatement]
) -> cst.If:
    """The same condition around other statements."""
    empty = [cst.SimpleStatementLine([cst.Pass()])]
    orelse = cst.Else(cst.IndentedBlock(list(other))) if other else None
    return node.with_changes(body=cst.IndentedBlock(list(then) or empty), orelse=orelse)


def _is_bare(node: cst.BaseStatement) -> bool:
    """`return`."""
    small = node.body if isinstance(node, cst.SimpleStatementLine) else ()
    return len(small) == 1 and isinstance(small[0], cst.Return) and small[0].value is None


def _sizes(ev: Evaluator, function: FunctionSource, parts: Parts) -> dict[str, Poly]:
    """The size that each symbol of the layout has: NumPy demands it of all inputs that have it."""
    sizes: dict[str, Poly] = {}
    letters: dict[str, str] = {}
    for (name, v), core in zip(ev.env.items(), parts.layout.arrays, strict=False):
        shape = v.shape if isinstance(v, Array) else ()
        if not (isinstance(v, Array) or is_expr(v)) or len(shape) < len(core):
            raise ev.b.refuse("PRT803", f"`{name}` has no {len(core)} axes for `({','.join(core)})`"
                              " of the layout", "give it as many dimensions")  # fmt: skip
        for symbol, n in zip(core, shape[len(shape) - len(core) :], strict=True):
            # what the body makes of the sizes must fit the layout
            letters |= dict.fromkeys(n.names(), symbol)
            known = sizes.get(symbol)
            what = f"`{function.name}` has a mismatch in the core dimension `{symbol}`"
            sizes[symbol] = n if known is None else ev.b.sizes.unify(known, n, what)
    ev.b.place.letters = letters
    return sizes


def _check_stored(ev: Evaluator, body: Sequence[ir.Stmt], name: str) -> None:
    """Refuse a result that is read while it holds what happened to be in memory."""
    found = _read_first(body, name)
    if found is not None and found is not _STORED:
        raise refusal("PRT803", f"`{name}` is read before anything is stored into it", found.span,
                      f"store its first value before, such as `{name}[0] = 0`")  # fmt: skip


_STORED = ir.Origin(text="stored")


def _read_first(body: Sequence[ir.Stmt], name: str) -> ir.Origin | None:
    """The statement that surely reads an array before any stores into it; _STORED if one may."""
    for s in body:
        sure = [e for top in expressions(s) for e in _sure(top)]
        if any(isinstance(e, ir.Load) and e.buffer == name for e in sure):
            return s.origin
        inner = () if isinstance(s, (ir.If, ir.While)) else blocks(s)
        for block in inner:
            found = _read_first(block, name)
            if found is not None:
                return found
        if any(isinstance(x, ir.Write) and x.buffer == name for x in statements((s,))):
            return _STORED
    return None


def _sure(e: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of an expression that are computed whatever the values are."""
    yield e
    lazy = isinstance(e, ir.Select) or (isinstance(e, ir.Op) and e.op in ("and", "or"))
    for part in children(e)[: 1 if lazy else None]:
        yield from _sure(part)


def _outer(value: Value, core: Sequence[str]) -> tuple[Poly, ...]:
    """The shape of an argument without its core dimensions."""
    return value.shape[: value.ndim - len(core)] if isinstance(value, Array) else ()


def _results(
    ev: Evaluator, parts: Parts, outer: Sequence[Poly], sizes: dict[str, Poly]
) -> list[ir.Buffer]:
    """The arrays that are stored into."""
    inputs = parts.layout.inputs
    types = parts.types[0][inputs:]
    names = parts.outputs or (
        ("out",) if len(types) == 1 else [f"out{k}" for k in range(1, len(types) + 1)]
    )
    made = []
    for name, (dtype, _), core in zip(names, types, parts.layout.results, strict=True):
        shape = (*outer, *(sizes[s] for s in core))
        buffer = ir.Buffer(ev.b.out.fresh(name), shape, _dtype(ev, parts, dtype))
        ev.b.out.add(buffer)
        made.append(buffer)
    return made


def _dtype(ev: Evaluator, parts: Parts, name: str) -> DType:
    """The dtype of a result: that of the inputs where all arrays have one in every signature."""
    variables = [v.dtype for v in ev.env.values() if isinstance(v, Array)]
    alike = all(len({d for d, _ in types}) == 1 for types in parts.types)
    if alike and variables and variables[0].var:
        ev.b.dtypes.same_dtype(*variables)
        return variables[0]
    ev.b.dtypes.pin(*variables)
    return DType(name)


def _read(name: str, value: Value) -> Value:
    """An argument into which nothing is stored: NumPy may pass a copy of it."""
    if not isinstance(value, Array):
        return value
    return readonly(value, f"`{name}` is an input of the layout")


def _part(value: Value, index: Sequence[Poly], core: Sequence[str], rank: int) -> Value:
    """What the body sees of an argument: a number, or an array of the core dimensions.

    Of no core dimensions it is an array of one element, if its type is that of an array.
    """
    if not isinstance(value, Array):
        return _one(as_array(value)) if rank and is_expr(value) else value
    count = value.ndim - len(core)
    lead = aligned(value.shape[:count], index)
    if not core:
        return _one(value, lead) if rank else value.at(lead)
    return reindex(value, value.shape[count:], lambda idx: [*lead, *idx])


def _one(array: Array, lead: Sequence[Poly] = ()) -> Array:
    return reindex(array, (ONE,), lambda _: list(lead))


def _store(ev: Evaluator, function: FunctionSource, value: Value, outs: Sequence[Value]) -> None:
    """What is returned is stored: NumPy takes a tuple for several results."""
    values = value if isinstance(value, tuple) else (value,)
    if len(values) != len(outs):
        text = f"`{function.name}` returns {len(values)} values for {len(outs)} outputs"
        raise ev.b.refuse("PRT803", text, "return one value for each output")  # fmt: skip
    # all are computed before one of them is stored
    found = [ev.as_numeric(v, function.node) for v in values]
    for out, v in zip(outs, found, strict=True):
        assert isinstance(out, Array)
        store(ev.b, out, v, "the result")
