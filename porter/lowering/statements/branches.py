"""The `if` statement: decided at conversion, kept on the host, or a branch of the thread."""

from __future__ import annotations

from contextlib import suppress

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.ir.scalars import constant_of, on_host
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.expressions.guarded import counted
from porter.lowering.expressions.texts import is_text
from porter.lowering.host.statements import host_can_test, keep
from porter.lowering.statements.control import branch_on, orelse, suite
from porter.lowering.statements.results import give_back


def branch(body: Body, node: cst.If) -> None:
    """An `if`: decided at conversion, kept on the host, or a branch of the thread."""
    b = body.b
    if (
        _is_check(node)
        and not b.scope.ranges
        and not b.scope.in_while
        and host_can_test(body, node.test)
    ):
        if not _never(body, node):
            keep(body, node)
        return
    branch_on(body, body.ev.condition(node.test), suite(node.body), orelse(node))


def return_either(body: Body, node: cst.IfExp, line: cst.SimpleStatementLine) -> None:
    """`return a if c else b`: one value, or an `if` with two returns where no value is both."""
    b = body.b
    then, other = (cst.SimpleStatementLine([cst.Return(v)]) for v in (node.body, node.orelse))
    b.place.module.put(then, line)
    b.place.module.put(other, line)

    def value() -> None:
        give_back(body, node)

    def branches() -> None:
        branch_on(body, _tested(body, node), [then], [])
        body.run([other])

    ways = (branches, value) if _is_one_pythons(body, node) else (value, branches)
    try:
        with b.attempt(body.env):
            ways[0]()
    except Refusal as reason:
        try:
            with b.attempt(body.env):
                ways[1]()
        except Refusal:
            raise reason from None


def _is_one_pythons(body: Body, node: cst.IfExp) -> bool:
    """Whether the host decides if a number is Python's or NumPy's: no variable holds both."""
    with suppress(Refusal), body.b.attempt(body.env) as undo:
        cond = _tested(body, node)
        kinds = {v.dtype.weak for v in map(body.ev, (node.body, node.orelse)) if is_expr(v)}
        undo()
        return len(kinds) > 1 and on_host(cond)
    return False


def _tested(body: Body, node: cst.IfExp) -> ir.Expr:
    """The condition, of which the host knows how many elements a mask selects."""
    ev = body.ev
    first = ev.condition(node.test)
    return counted(ev, first, lambda: ev.condition(node.test), node.body, node.orelse)


def _is_check(node: cst.If) -> bool:
    """Whether an `if` only raises, perhaps with a message it makes first: an argument check."""
    statements = suite(node.body)
    lines = [s for s in statements if isinstance(s, cst.SimpleStatementLine)]
    parts = [p for s in lines for p in s.body]
    if node.orelse is not None or len(lines) < len(statements):
        return False
    return isinstance(parts[-1], cst.Raise) and all(map(_is_of_raise, parts))


def _is_of_raise(part: cst.BaseSmallStatement) -> bool:
    match part:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value):
            return is_text(value, {})
    return isinstance(part, cst.Raise)


def _never(body: Body, node: cst.If) -> bool:
    """Whether a check holds whatever is passed.  Refuses one that can only raise."""
    sizes = body.b.sizes
    known, asked = None, set[str]()
    with suppress(Refusal), body.b.attempt() as undo:
        known = constant_of(body.ev.condition(node.test))
        asked = set(sizes.asked)
        undo()
    if known is False:
        sizes.asked |= asked  # what holds for this number of dimensions need not hold for others
    if known is True:
        raise body.b.refuse("PRT903", "the function always raises an exception for these types",
                            "give the types that it accepts with `--signature`")  # fmt: skip
    return known is False
