"""Statements that the host runs as they are written: `raise`, `assert`, `print`, logging, and
what porter cannot convert but NumPy or Python can do on the host.

What such a statement assigns is an `Object`: the host passes it on and returns it, but no
kernel can use it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.scalars import on_host
from porter.ir.walk import statements, walk
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.host import purity
from porter.lowering.host.preconditions import is_first, learn
from porter.lowering.host.text import SHAPE, HostText
from porter.lowering.state.builder import Builder
from porter.lowering.statements.results import returned
from porter.resolve.values import NONE, Array, Value
from porter.source.walk import children
from porter.syntax.names import assigned_names


def keep(body: Body, node: cst.BaseStatement) -> None:
    """`raise`, `assert`, `print`, logging: the statement stays, whatever its values are made of."""
    if body.b.scope.speculative:
        raise body.b.refuse("PRT902", "`raise`, `assert` or `print` in code that may not run",
                            "check the arguments at the start of the function")  # fmt: skip
    host = HostText(body, set(assigned_names([node])))
    new = _checked(node).visit(host)
    assert isinstance(new, cst.CSTNode)
    kept = host.statement(host.code(new), kind=_kind(node))
    kept = replace(kept, first=is_first(body, kept))
    body.b.out.emit(kept)
    if kept.first:
        learn(body, node)


def _kind(node: cst.BaseStatement) -> ir.HostKind:
    match node:
        case cst.SimpleStatementLine(body=[cst.Raise(), *_]):
            return ir.HostKind.RAISE
        case cst.SimpleStatementLine(body=[cst.Assert(), *_]) | cst.If():
            return ir.HostKind.CHECK
    return ir.HostKind.RUN


def check_kept(body: Body, block: Sequence[ir.Stmt], index: str) -> None:
    """Refuse what the host does once for each element: it would fetch them one by one.

    A loop that goes through arrays in each of its turns may test what these turns store, as the
    pivots of an elimination: no test before the loop could know them.
    """
    stored = _stored_in_turns(block)
    for s in statements(tuple(block)):
        if isinstance(s, ir.If) and any(isinstance(x, ir.Host) for x in statements((s,))):
            read: Iterator[ir.Expr] = iter((s.cond,))
        elif isinstance(s, ir.Host):
            read = (value for _, value in s.values)
        else:
            continue
        loads = (x for e in read for x in walk(e) if isinstance(x, ir.Load))
        if any(index in p.names() and x.buffer not in stored for x in loads for p in x.index):
            body.b.place.node, body.b.place.origin = None, s.origin
            raise _for_each_element(body.b, "inside a loop over elements", "the loop")


def _stored_in_turns(block: Sequence[ir.Stmt]) -> frozenset[str]:
    """The arrays that a turn of a loop stores into; none if a turn is about single elements."""
    inside = list(statements(tuple(block)))
    lengths = [a.hi - a.lo for s in inside if isinstance(s, (ir.Def, ir.Write)) for a in s.axes]
    lengths += [s.hi - s.lo for s in inside if isinstance(s, ir.For)]
    if all(n.constant is not None for n in lengths):
        return frozenset()
    return frozenset(s.buffer for s in inside if isinstance(s, ir.Write))


def refuse_kept(b: Builder, block: Sequence[ir.Stmt]) -> None:
    """Refuse what the host does, in a function that is called for each element."""
    kept = next((s for s in statements(tuple(block)) if isinstance(s, ir.Host)), None)
    if kept is not None:
        b.place.node, b.place.origin = None, kept.origin
        raise _for_each_element(b, "in a function that is called for each element", "the call")


def _for_each_element(b: Builder, where: str, what: str) -> Refusal:
    return b.refuse(
        "PRT902",
        f"`raise`, `assert` or `print` {where}",
        f"check the whole array before or after {what}, for example with `np.any`",
    )


def _checked(node: cst.BaseStatement) -> cst.BaseStatement:
    """Without the comments above it: they are written by themselves."""
    return node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node


def stays(body: Body, node: cst.BaseStatement, reason: Refusal) -> bool:
    """Leave on the host what could not be converted; False if that is not possible either."""
    b = body.b
    if body.ev.scope.options.refuse_host or reason.diagnostic.code not in _CURABLE:
        return False
    if body.helper or b.scope.loops or b.scope.speculative:
        return False
    try:
        with b.attempt(body.env):
            _stay(body, node)
    except Refusal:
        return False
    b.host.note_fallback(reason.diagnostic.message)
    return True


#: refusals that say what a kernel cannot do; the others are about what NumPy would not do either
_CURABLE = {"PRT901", "PRT902"}


def _stay(body: Body, node: cst.BaseStatement) -> None:
    b = body.b
    if isinstance(node, (cst.For, cst.While, cst.If)):
        _compound(body, node)
        return
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        raise b.refuse(
            "PRT902",
            "this statement cannot stay on the host",
            "move the statement out of this function",
        )
    part = node.body[0]
    match part:
        case cst.Return(value=value) if value is not None:
            _returned(body, value)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            _assigned(body, name, value)
        case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
            _assigned(body, name, value)
        case cst.Assign() | cst.AugAssign() | cst.Expr():
            _plain(body, node)
        case _:
            raise b.refuse(
                "PRT902",
                "this statement cannot stay on the host",
                "move the statement out of this function",
            )


def _assigned(body: Body, name: str, value: cst.BaseExpression) -> None:
    host = HostText(body, set())
    new = value.visit(host)
    assert isinstance(new, cst.BaseExpression)
    freeze(body, host)
    known = body.env.get(name)
    held = known.name if isinstance(known, ir.Object) else body.b.out.fresh(name)
    if known is not None and body.b.out.depth and not isinstance(known, ir.Object):
        raise body.b.refuse(
            "PRT908",
            f"`{name}` is a host value in only one of the branches",
            "assign a host value in both branches",
        )
    text = f"{held} = {host.code(new)}"
    body.b.out.emit(host.statement(text, (held,)))
    body.env[name] = ir.Object(held, not isinstance(value, _NO_ARRAY))


_NO_ARRAY = (cst.Dict, cst.List, cst.SimpleString, cst.FormattedString, cst.ListComp, cst.DictComp)


def _returned(body: Body, value: cst.BaseExpression) -> None:
    """`return {"mean": ...}`: made on the host, then returned."""
    parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
    values = [_evaluated(body, part) for part in parts]
    returned(body, values, not isinstance(value, cst.Tuple))


def _evaluated(body: Body, node: cst.BaseExpression) -> Value:
    """The value of an expression, by the host if it cannot be converted."""
    with suppress(Refusal), body.b.attempt() as undo:
        value = body.ev(node)
        if isinstance(value, Array) or is_expr(value) or value is NONE:
            return value
        undo()
    before = dict(body.env)
    _assigned(body, "result", node)
    result = body.env["result"]
    body.env.clear()
    body.env.update(before)
    return result


def _plain(body: Body, node: cst.SimpleStatementLine) -> None:
    """A call for its effect, or a change of an object of the host."""
    part = node.body[0]
    _make_lists(body, node)
    for target in _targets(part):
        root = _root(target)
        if not isinstance(body.env.get(root), ir.Object):
            raise body.b.refuse(
                "PRT902",
                f"`{root}` is not a host object",
                "use an object that the host makes, or do this outside the function",
            )
    host = HostText(body, set())
    new = _checked(node).visit(host)
    assert isinstance(new, cst.CSTNode)
    freeze(body, host)
    body.b.out.emit(host.statement(host.code(new)))


def _compound(body: Body, node: cst.For | cst.While | cst.If) -> None:
    """A whole loop or branch that only handles objects of the host."""
    b = body.b
    purity.check_block(body, node)
    names = list(dict.fromkeys(assigned_names([node])))
    _make_lists(body, node)
    for name in names:
        known = body.env.get(name)
        if known is not None and not isinstance(known, ir.Object):
            raise b.refuse(
                "PRT902",
                f"`{name}` is not a host object",
                "use an object that the host makes, or do this outside the function",
            )
    host = HostText(body, set(names))
    for name in names:
        known = body.env.get(name)
        host.renamed[name] = known.name if isinstance(known, ir.Object) else b.out.fresh(name)
    new = _checked(node).visit(host)
    assert isinstance(new, cst.CSTNode)
    freeze(body, host)
    held = tuple(host.renamed.values())
    b.out.emit(host.statement(textwrap.dedent(host.code(new)), held))
    body.env.update({name: ir.Object(host.renamed[name]) for name in names})


def _make_lists(body: Body, node: cst.CSTNode) -> None:
    """Lists that the code appends to become objects of the host."""
    for name in sorted(_changed(node)):
        value = body.env.get(name)
        if not isinstance(value, tuple):
            continue
        if body.b.out.depth:
            raise body.b.refuse(
                "PRT908",
                f"the list `{name}` is changed by the host inside a branch or a loop",
                "change the list outside of branches and loops",
            )
        host = HostText(body, set())
        text = host.code(host.value(value, cst.Name(name)))
        freeze(body, host)
        held = body.b.out.fresh(name)
        body.b.out.emit(host.statement(f"{held} = {f'list({text})' if value else '[]'}", (held,)))
        body.env[name] = ir.Object(held, array=False)


def _changed(node: cst.CSTNode) -> set[str]:
    """Names whose methods are called, or whose items are assigned."""
    found = {n for child in children(node) for n in _changed(child)}
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        found.add(_root(node.func.value))
    if isinstance(node, (cst.Assign, cst.AugAssign)):
        found |= {_root(t) for t in _targets(node) if not isinstance(t, cst.Name)}
    return found


def freeze(body: Body, host: HostText) -> None:
    """Arrays that an object of the host may hold must not change any more: it has copies."""
    body.b.aliases.frozen |= {buffer for _, buffer in host.needs.arrays}


def _targets(part: cst.BaseSmallStatement) -> list[cst.BaseExpression]:
    match part:
        case cst.Assign(targets=targets):
            return [t.target for t in targets]
        case cst.AugAssign(target=target):
            return [target]
    return []


def _root(node: cst.BaseExpression) -> str:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


# -- what the host can do without asking the device ------------------------------------------


def host_can_test(body: Body, test: cst.CSTNode) -> bool:
    """Whether a test needs nothing from the device: of arguments at most their shapes."""
    match test:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=attr)) if attr in SHAPE:
            given = isinstance(body.given.get(name), Array) or body.argument(name) != ""
            return given or not _is_array(body, name)
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=name))]):
            return not _is_array(body, name) or bool(body.argument(name))
        case cst.Call(func=cst.Name(value="isinstance" | "callable" | "hasattr")):
            return False
        case cst.Attribute(value=value):
            return host_can_test(body, value)
        case cst.Name(value=name):
            known = body.env.get(name)
            return not _is_array(body, name) and (not is_expr(known) or on_host(known))
    return all(host_can_test(body, child) for child in children(test))


def _is_array(body: Body, name: str) -> bool:
    return isinstance(body.env.get(name), Array)


def speaks(body: Body, call: cst.Call) -> bool:
    """Whether a call only tells the user something: `print`, a warning, a log line."""
    name = purity.callee(body, call.func)
    if name == "builtins.print" or name.library in ("warnings", "logging"):
        return True
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    if not isinstance(owner, cst.Name) or owner.value in body.env:
        return False
    made = body.ev.scope.assigned.get(owner.value)
    return isinstance(made, cst.Call) and purity.callee(body, made.func) == "logging.getLogger"


def transparent(body: Body, node: cst.With) -> Sequence[cst.BaseStatement]:
    """The statements under `with np.errstate(...)`, which changes no result."""
    for item in node.items:
        name = purity.callee(body, item.item.func) if isinstance(item.item, cst.Call) else ""
        if name not in ("numpy.errstate", "warnings.catch_warnings"):
            raise body.b.refuse("PRT902", "this `with` statement cannot be converted",
                                "move the `with` around the call of this function")  # fmt: skip
        if any(
            word in body.b.place.module.code(item.item) for word in ('"raise"', "'raise'", "call")
        ):
            raise body.b.refuse(
                "PRT902",
                "`np.errstate` is set to raise, which a kernel cannot do",
                "use `ignore`, and test the results with `np.isfinite`",
            )
    statements = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    return [s for s in statements if not isinstance(s, cst.BaseSmallStatement)
            and not _sets_filter(body, s)]  # fmt: skip


def _sets_filter(body: Body, node: cst.BaseStatement) -> bool:
    part = node.body[0] if isinstance(node, cst.SimpleStatementLine) else None
    call = part.value if isinstance(part, cst.Expr) else None
    names = ("warnings.simplefilter", "warnings.filterwarnings")
    return isinstance(call, cst.Call) and purity.callee(body, call.func) in names
