"""Statements of straight-line code: assignments, stores, returns, host statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import strengthen
from porter.ir.ops import BINARY
from porter.ir.scalars import constant_of, integer, number, on_host
from porter.ir.walk import walk
from porter.lowering.arrays import literals, subscripts
from porter.lowering.arrays.calculus import ONE, as_array, astype, either, operator, reindex
from porter.lowering.arrays.compaction import held_mask, whole
from porter.lowering.arrays.stores import no_target, same_kind, shows, store
from porter.lowering.constants import check_patched
from porter.lowering.evaluation import Body, Start, is_expr
from porter.lowering.expressions.guarded import guarded_block
from porter.lowering.expressions.numba_types import unified
from porter.lowering.functions.creation import Empty
from porter.lowering.host.statements import keep, speaks, stays
from porter.lowering.state import ambiguous
from porter.lowering.statements import branches, control, looping
from porter.lowering.statements.contexts import alone
from porter.lowering.statements.jumps import jump
from porter.lowering.statements.names import named
from porter.lowering.statements.results import give_back
from porter.lowering.statements.untouched import handed_on
from porter.resolve.globals import imported
from porter.resolve.values import NONE, Array, Function, Listed, Value, shows_buffer
from porter.sizes.polynomial import Poly
from porter.syntax.names import contains, loop_names, straight_names

_AUGMENTED = {
    "AddAssign": "Add", "SubtractAssign": "Subtract", "MultiplyAssign": "Multiply",
    "DivideAssign": "Divide", "FloorDivideAssign": "FloorDivide", "ModuloAssign": "Modulo",
    "PowerAssign": "Power", "BitAndAssign": "BitAnd", "BitOrAssign": "BitOr",
    "BitXorAssign": "BitXor", "LeftShiftAssign": "LeftShift", "RightShiftAssign": "RightShift",
}  # fmt: skip


class FunctionBody(Body):
    """The statements of a function, each by its kind."""

    # -- running ---------------------------------------------------------------------

    def run(self, statements: Sequence[cst.BaseStatement]) -> None:
        """Evaluate statements in order; what follows a `return` is dead."""
        for k, node in enumerate(statements):
            if self.returned and self.b.out.depth == 0:
                return
            self._before(statements[k + 1 :], node)

    def _before(self, rest: Sequence[cst.BaseStatement], node: cst.BaseStatement) -> None:
        """Evaluate a statement that `rest` follows in its block."""
        self.flow.rest.append(rest)
        try:
            self.statement(node)
        finally:
            self.flow.rest.pop()

    def run_again(self, statements: Sequence[cst.BaseStatement]) -> None:
        """Evaluate the body of a loop: after its end it may begin once more."""
        self.flow.rest.append(statements)
        try:
            with self.b.scope.part():
                self.run(statements)
        finally:
            self.flow.rest.pop()

    def prepare(self, statements: Sequence[cst.BaseStatement]) -> None:
        """Note which names need no variable: a later value takes the place of an earlier one."""
        check_patched(self.b, self.ev.scope, statements)
        loops = loop_names(statements)
        names = (straight_names(statements) | loops) - self.env.keys()
        self.single = {name: name in loops for name in names}

    def run_helper(self, statements: list[cst.BaseStatement]) -> Value | None:
        """Evaluate a helper; a `return` under a condition becomes a choice of values."""
        self.prepare(statements)
        return self._helper_rest(statements)

    def _helper_rest(self, statements: Sequence[cst.BaseStatement]) -> Value | None:
        for k, node in enumerate(statements):
            if isinstance(node, cst.If) and contains(node, cst.Return):
                return self._helper_branch(node, statements[k + 1 :])
            if isinstance(node, (cst.For, cst.While)) and contains(node, cst.Return):
                return self._helper_loop(node, statements[k + 1 :])
            if isinstance(node, (cst.With, cst.Try)) and contains(node, cst.Return):
                return self._helper_rest([*alone(self, node), *statements[k + 1 :]])
            last = node.body[-1] if isinstance(node, cst.SimpleStatementLine) else None
            if isinstance(last, cst.Return):
                self._origin(node)
                return NONE if last.value is None else self.ev(last.value)
            self._before(statements[k + 1 :], node)
        return None

    def _helper_branch(self, node: cst.If, rest: Sequence[cst.BaseStatement]) -> Value | None:
        cond = self.ev.condition(node.test)
        then = [*control.suite(node.body), *rest]
        other = [*control.orelse(node), *rest]
        known = constant_of(cond)
        if known is not None:
            return self._helper_rest(then if known else other)
        before = dict(self.env)
        guard = partial(guarded_block, self.b, self.env, cond)
        first, one = guard(lambda: self._helper_rest(then), negated=False)
        self.env.clear()
        self.env.update(before)
        second, two = guard(lambda: self._helper_rest(other), negated=True)
        if (one or two) and self.b.out.depth:
            found = self._helper_paths(cond, (first, second), (one, two), node)
            if found is not None:
                return found
        for s in (*one, *two):
            self.b.out.emit(s)
        if any(isinstance(s, ir.Write) for s in self.b.out.statements[-2:]):
            raise self.b.refuse("PRT902", f"`{self.helper}` stores before a conditional `return`",
                                "return at the end of it")  # fmt: skip
        self._origin(node)
        return self._merge(cond, first, second, node)

    def _helper_paths(
        self, cond: ir.Expr, values: tuple[Any, Any], blocks: tuple[list[ir.Stmt], ...],
        node: cst.If,
    ) -> Value | None:  # fmt: skip
        """A branch whose paths assign variables: each is run for itself, with its result.

        None where a result is an array.
        """
        rows = [v if isinstance(v, tuple) else (v,) for v in values]
        if len(rows[0]) != len(rows[1]) or not all(is_expr(v) for row in rows for v in row):
            return None
        names = [self.b.out.fresh("result") for _ in rows[0]]
        for row, block in zip(rows, blocks, strict=True):
            with self.b.out.block() as more:
                for name, value in zip(names, row, strict=True):
                    self.b.let(name, value)
            block += more
        self._origin(node)
        one, two = blocks
        self.b.out.emit(ir.If(cond, tuple(one), tuple(two), self.b.place.origin))
        found = tuple(ir.Local(n, self.b.dtypes.local_types[n]) for n in names)
        return found if isinstance(values[0], tuple) else found[0]

    def _helper_loop(
        self, node: cst.BaseStatement, rest: Sequence[cst.BaseStatement]
    ) -> Value | None:
        """A loop with a `return` in it: the value and a flag, tested when the loop is over."""
        outer, self.early = self.early, (self.b.out.fresh("result"), self.b.out.fresh("returned"))
        result, returned = self.early
        self._origin(node)
        self.b.let(result, integer(0))
        self.b.let(returned, number(False))
        with self.b.out.block() as collected:
            self._before(rest, node)
        for s in collected:
            self.b.out.emit(s)
        self.early = outer
        done = ir.Local(returned, self.b.dtypes.local_types[returned])
        found = ir.Local(result, self.b.dtypes.local_types[result])
        after = self._helper_rest(rest)
        return found if after is None else self._merge(done, found, after, node)

    def _merge(self, cond: ir.Expr, first: Any, second: Any, node: cst.CSTNode) -> Value:
        if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
            return tuple(self._merge(cond, f, s, node) for f, s in zip(first, second, strict=True))
        x, y = (self.ev.as_numeric(v, node) for v in (first, second))
        values = unified(x, y, self.ev.typed)
        one, other = (whole(self.b, v) if isinstance(v, Array) else v for v in values)
        return either(self.b, cond, one, other, "the returned value")

    # -- dispatch --------------------------------------------------------------------

    def _origin(self, node: cst.CSTNode) -> None:
        span = self.b.place.call_here or self.b.place.module.span(node)
        place = self.b.place.module.span(node)
        comments = tuple(
            line.comment.value for line in getattr(node, "leading_lines", ()) if line.comment
        )
        if self.helper:
            comments = ()
        lines = self.b.place.module.lines[place.line - 1 : place.end_line]
        lines = lines[:1] if isinstance(node, cst.BaseCompoundStatement) else lines
        text = " ".join(line.strip() for line in lines)
        for opening, closing in ("()", "[]", "{}"):
            text = text.replace(f"{opening} ", opening).replace(f" {closing}", closing)
        construct = _CONSTRUCTS.get(type(node), ir.Construct.SIMPLE)
        self.b.place.origin = ir.Origin(span, text, comments, construct)

    def statement(self, node: cst.BaseStatement) -> None:
        """Evaluate one statement. Raises Refusal where it cannot be converted."""
        self._origin(node)
        self.b.begins(node, self.env)
        if not self.b.host.partial:
            self._statement(node)
            return
        try:
            with self.b.attempt(self.env):
                self._statement(node)
        except Refusal as reason:
            if not stays(self, node, reason):
                raise

    def _statement(self, node: cst.BaseStatement) -> None:
        match node:
            case cst.SimpleStatementLine(body=small):
                for part in small:
                    self.b.place.node = part
                    self._small(part, node)
            case cst.For():
                looping.for_loop(self, node)
            case cst.While():
                looping.while_loop(self, node)
            case cst.If():
                branches.branch(self, node)
            case cst.FunctionDef(name=name):
                self.env[name.value] = Function(name.value, node, self.env, self.ev.scope)
            case cst.With() | cst.Try():
                self.run(alone(self, node))
            case _:
                kind = _PLAIN.get(type(node).__name__, type(node).__name__)
                raise self.b.refuse("PRT902", f"{kind} cannot be converted")

    def _small(self, part: cst.BaseSmallStatement, line: cst.SimpleStatementLine) -> None:
        match part:
            case cst.Assign(targets=targets, value=value):
                bare = handed_on(self, part)
                result = self.ev(value)
                if len(targets) > 1 and any(isinstance(t.target, cst.Subscript) for t in targets):
                    result = self._held(result) if self._changes(result, set(), True) else result
                shared = [t.target.value for t in targets if isinstance(t.target, cst.Name)]
                if len(targets) > 1 and shared and not isinstance(result, ir.Const):
                    result = self.bound(shared[0], result)  # all names mean one array
                for target in targets:
                    self.assign(target.target, result)
                if bare is not None:
                    name, first, counts = bare
                    self.flow.untouched[name] = Start(first, counts, self.env[name])
            case cst.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.ev(value))
            case cst.AugAssign():
                self._augmented(part)
            case cst.Expr(value=value):
                self._expression(value, line)
            case cst.Return(value=cst.IfExp() as choice):
                branches.return_either(self, choice, line)
            case cst.Return(value=value):
                give_back(self, value)
            case cst.Import() | cst.ImportFrom():
                names, lines = imported(part)
                self.env.update(names)
                self.b.host.local_imports.update(lines)
            case cst.Pass():
                pass
            case cst.Global() | cst.Nonlocal():
                raise self.b.refuse("PRT902", "a global variable is assigned",
                                    "return the value instead")  # fmt: skip
            case cst.Del(target=cst.Name(value=name)):
                self.env.pop(name, None)
            case cst.Break():
                jump(self, "break")
            case cst.Continue():
                jump(self, "continue")
            case cst.Assert() | cst.Raise():
                keep(self, line)
            case _:
                kind = type(part).__name__.lower()
                raise self.b.refuse("PRT902", f"`{kind}` cannot be converted")

    def _expression(self, value: cst.BaseExpression, line: cst.SimpleStatementLine) -> None:
        if isinstance(value, (cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis)):
            return
        if isinstance(value, cst.Call) and speaks(self, value):
            keep(self, line)
            return
        if isinstance(value, (cst.Yield, cst.Await)):
            raise self.b.refuse("PRT902", "a generator or coroutine cannot be converted",
                                "store the values into an array and return it")  # fmt: skip
        if not isinstance(value, cst.Call):
            raise self.b.refuse("PRT902", "this expression has no effect", "remove it")
        self.ev(value)

    # -- assignment ------------------------------------------------------------------

    def assign(self, target: cst.BaseExpression, value: Value) -> None:
        """Bind a name, unpack a tuple, or store through a subscript."""
        match target:
            case cst.Name(value=name):
                self.env[name] = named(self, value, self.bound(name, value))
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                targets = [e.value for e in elements]
                self._assign_all(targets, self._unpacked(value, len(targets)))
            case cst.Subscript():
                store(self.b, self._target(target), self.ev.as_numeric(value, target))
            case _:
                raise self.b.refuse("PRT902", "assignment to an attribute cannot be converted",
                                    "return the value instead")  # fmt: skip

    def _assign_all(self, targets: Sequence[cst.BaseExpression], values: list[Value]) -> None:
        """All right sides are evaluated before the first target changes."""
        stores = any(not isinstance(t, cst.Name) for t in targets)
        assigned: set[str] = set()
        held = []
        for target, value in zip(targets, values, strict=True):
            held.append(self._held(value) if self._changes(value, assigned, stores) else value)
            if isinstance(target, cst.Name):
                assigned.add(self.locals.get(target.value, target.value))
        bound = [self.bound(t.value, v) if isinstance(t, cst.Name) else v
                 for t, v in zip(targets, held, strict=True)]  # fmt: skip
        for target, value in zip(targets, bound, strict=True):
            if isinstance(target, cst.Name):
                self.env[target.value] = value
            else:
                self.assign(target, value)

    @staticmethod
    def _changes(value: Value, assigned: set[str], stores: bool) -> bool:
        """Whether a right side reads what an earlier target of the same statement changes."""
        if isinstance(value, Array):
            # a view shows what is stored into its array, in NumPy too
            return stores and (value.view is None or value.mask is not None)
        if not is_expr(value):
            return False
        parts = list(walk(value))
        if stores and any(isinstance(e, ir.Load) for e in parts):
            return True
        return any(isinstance(e, ir.Local) and e.name in assigned for e in parts)

    def _held(self, value: Value) -> Value:
        """The value as it is now, under a name of its own."""
        if isinstance(value, Array) and value.mask is not None:
            return self._named_selection("held", value)
        if isinstance(value, Array):
            return self.b.define("held", Array(value.shape, value.dtype, value.at))
        if self.b.out.depth:
            return self.b.let(self.b.out.fresh("held"), value)  # type: ignore[arg-type]
        return self._named_scalar("held", value)  # type: ignore[arg-type]

    def _unpacked(self, value: Value, count: int) -> list[Value]:
        if isinstance(value, Array) and value.ndim:
            value = whole(self.b, value)
            self.b.sizes.unify(value.shape[0], Poly.of(count), "unpacking")
            return [subscripts.row(self.b, value, Poly.of(k)) for k in range(count)]
        if isinstance(value, tuple) and len(value) == count:
            return list(value)
        raise self.b.refuse("PRT903", f"this value cannot be unpacked into {count} names",
                            "unpack a tuple or an array of exactly that length")  # fmt: skip

    def _target(self, node: cst.Subscript) -> Array:
        owner = self.ev(node.value)
        if not isinstance(owner, Array):
            raise no_target(self.b, owner)
        if owner.lead:
            owner = self.made_whole(owner)
        return subscripts.index_array(self.b, owner, self.ev.items(node), target=True)

    def bound(self, name: str, value: Value) -> Value:
        """What a name stands for once assigned: delayed arrays get defined here."""
        if isinstance(value, Empty):
            return self.b.allocate(name, value)
        if isinstance(value, Array):
            return self._named_array(name, value)
        if isinstance(value, tuple):
            items = (self.bound(f"{name}_{k}", v) for k, v in enumerate(value))
            return Listed(items) if isinstance(value, Listed) else tuple(items)
        if is_expr(value):
            return self._named_scalar(name, value)
        return value

    def _named_array(self, name: str, value: Array) -> Array:
        if value.lead and any(value is v for v in self.env.values()):
            return value  # another name of it
        if value.mask is not None:
            return self._named_selection(name, value)
        if value.view is not None:
            if value.view.contiguous:
                shows(self.b, value.view.buffer)
            return self.b.out.named(name, value)
        if value.shown_of:
            for buffer in value.shown_of.split():
                self.b.aliases.snapshot(buffer, name)
            made = self.b.define(name, value)
            return replace(made, view=None, shown_of=value.shown_of, chosen=value.chosen)
        flat = [d for d, n in enumerate(value.shape) if n != ONE]
        if len(flat) == value.ndim:
            return self.b.define(name, value)
        return self._squeezed(name, value, flat)

    def _named_selection(self, name: str, value: Array) -> Array:
        """A selection as it is now: its elements may change, and so may the mask."""
        held = held_mask(self.b, value, f"{name}_mask")
        snapshot = self.b.define(name, Array(value.shape, value.dtype, value.at))
        return Array(snapshot.shape, snapshot.dtype, snapshot.at, None, held, value.lead)

    def _squeezed(self, name: str, value: Array, kept: list[int]) -> Array:
        """A name for an array with axes of length 1: stored without them, seen with them."""

        def full(idx: Sequence[Poly]) -> list[Poly]:
            at = dict(zip(kept, idx, strict=True))
            return [at.get(d, Poly()) for d in range(value.ndim)]

        narrow = Array(tuple(value.shape[d] for d in kept), value.dtype,
                       lambda idx: value.at(full(idx)))  # fmt: skip
        stored = self.b.define(name, narrow)
        return reindex(stored, value.shape, lambda idx: [idx[d] for d in kept])

    def _named_scalar(self, name: str, value: ir.Expr) -> ir.Expr:
        if self.b.out.depth or (self.helper and not on_host(value)):
            if name in self.single and literals.stays(value, self.single[name]):
                return value
            return self.b.let(self.local(name), value)
        if isinstance(value, (ir.Const, ir.Scalar, ir.Value)):
            return value
        if on_host(value):
            unique = self.b.out.fresh(name)
            self.b.let(unique, value)
            if value.dtype.weak and value.dtype.kind == "i":
                return subscripts.host_integer(unique)
            return ir.Scalar(unique, value.dtype)
        array = self.b.define(name, Array((), strengthen(value.dtype), lambda _: value))
        assert array.view is not None
        element = ir.Load(array.view.buffer, (), value.dtype)
        ambiguous.meet(self.b.dtypes, element, value)
        return element

    def _augmented(self, node: cst.AugAssign) -> None:
        kind = _AUGMENTED.get(type(node.operator).__name__)
        if kind is None:
            raise self.b.refuse("PRT902", "this in-place operator cannot be converted",
                                "write the operation with `=`")  # fmt: skip
        op = BINARY[kind]
        if isinstance(node.target, cst.Subscript):
            target: Value = self._target(node.target)
        else:
            target = self.ev(node.target)
            if isinstance(target, Array) and target.mask is not None:
                target = self.made_whole(target)
        value = self.ev.numeric(node.value)
        current = self.ev.as_numeric(target, node.target)
        if isinstance(current, Array) and not current.ndim and current.view:
            result = operator(self.b, op, current.at(()), value)
        else:
            result = operator(self.b, op, current, value)
        if not isinstance(target, Array):
            if isinstance(node.target, cst.Name) and len(self.b.place.active) == 1:
                self.b.out.updated.add(node.target.value)
            self.assign(node.target, result)
            return
        if not same_kind(target, result):
            raise self.b.refuse(
                "PRT907", f"NumPy cannot cast the {result.dtype.name} result to "
                f"{target.dtype.name}", "convert the target with `astype` first")  # fmt: skip
        self.b.sizes.strict.add("stored")
        if isinstance(node.target, cst.Name) and self._owned(node.target.value, target):
            self.b.sizes.sized |= {n for p in target.shape for n in p.names()}
            self.env[node.target.value] = self._named_array(
                node.target.value, as_array(astype(result, target.dtype))
            )
            return
        if isinstance(node.target, cst.Name) and not self._is_argument(target):
            self.b.out.shared_updates = True
        store(self.b, target, result)

    def _is_argument(self, target: Array) -> bool:
        view = target.view
        return view is not None and any(
            map(self.b.out.is_parameter, self.b.aliases.may_be(view.buffer))
        )

    def _owned(self, name: str, target: Array) -> bool:
        """Whether nobody but this name can see the array: then `+=` may make a new one."""
        if target.mask is not None or not target.is_buffer or target.view is None:
            return False
        if target.view.readonly:
            return False
        buffer = target.view.buffer
        if self.b.aliases.may_be(buffer) & self.b.aliases.frozen:
            return False
        others = [v for n, v in self.env.items() if n != name]
        return (
            self.b.out.emitted_here(buffer)
            and not shows_buffer([*others, *self.lent], buffer)
            and not self.b.out.buffers[buffer].parameter
        )


_CONSTRUCTS: dict[type[cst.CSTNode], ir.Construct] = {
    cst.For: ir.Construct.FOR, cst.While: ir.Construct.WHILE, cst.If: ir.Construct.IF,
}  # fmt: skip
_PLAIN = {"ClassDef": "a class", "Match": "`match`", "TryStar": "`try`"}
