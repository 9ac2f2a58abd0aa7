"""What must be written otherwise for CuPy, node by node: found first, then written at once."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from porter.convert.cupy.calls import leaves
from porter.convert.cupy.expressions import Expressions
from porter.convert.cupy.places import (
    ARRAY,
    NUMBER,
    Where,
    index_names,
    loop_names,
    on_device,
)
from porter.source.walk import walk
from porter.syntax.liveness import exposed
from porter.syntax.names import assigned_names


class Marker(Expressions):
    """Goes through the statements of one function; raises Refusal where CuPy has no equal."""

    # -- statements ------------------------------------------------------------------------

    def block(self, nodes: Sequence[cst.CSTNode]) -> None:
        """The statements of a block, in order."""
        never = [node for node in nodes if self.places.seen.dead(node)]
        for k, node in enumerate(nodes):
            if node in never:
                # not reached: the arguments that lead there are refused
                said = 'raise AssertionError("for other arguments")' if node is never[0] else ""
                self.marks.instead[node] = said
                continue
            self.after.append(nodes[k + 1 :])
            self._statement(node)
            self.after.pop()

    def _statement(self, node: cst.CSTNode) -> None:
        match node:
            case cst.SimpleStatementLine(body=body):
                for small in body:
                    self._small(small)
            case cst.For() | cst.While() if self._over_elements(node):
                self._kernel(node)
            case cst.For(iter=items, body=body, orelse=orelse):
                self._head(node)
                self.expression(items)
                self._again(body.body, orelse)
            case cst.While(test=test, body=body, orelse=orelse):
                self._test(test)
                self._again(body.body, orelse)
            case cst.If(test=test, body=body, orelse=orelse):
                self._test(test)
                self.block(body.body)
                self._orelse(orelse)
            case cst.With(items=items, body=body):
                for item in items:
                    self.expression(item.item)
                self.block(body.body)
            case _:
                raise self._unknown(node)

    def _orelse(self, node: cst.If | cst.Else | None) -> None:
        if isinstance(node, cst.If):
            self._statement(node)
        elif node is not None:
            self.block(node.body.body)

    def _again(self, body: Sequence[cst.CSTNode], orelse: cst.Else | None) -> None:
        """A block that may run again: its first statements follow its last ones."""
        self.after.append(body)
        self.block(body)
        self.after.pop()
        self._orelse(orelse)

    def _small(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Assign(targets=targets, value=value):
                self._value(value)
                for t in targets:
                    self._target(t.target, value)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                self._value(value)
                self._target(target, value)
                self.marks.plain.add(node)
            case cst.AugAssign(value=value):
                self.expression(value)
                self._augmented(node)
            case cst.Return(value=value):
                if value is not None:
                    self._value(value)
            case cst.Expr(value=value):
                self.expression(value)
            case cst.Assert(test=test):
                self._test(test)
            case cst.Raise(exc=value):
                if value is not None:
                    self.expression(value)
            case cst.Pass() | cst.Break() | cst.Continue():
                return
            case _:
                raise self._unknown(node)

    def _value(self, node: cst.BaseExpression) -> None:
        """A value that gets a name or is returned: no view of one element."""
        self.expression(node)
        self._kept(node)

    def _kept(self, node: cst.BaseExpression) -> None:
        match node:
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                for e in elements:
                    self._kept(e.value)
            case cst.IfExp(body=body, orelse=orelse):
                self._kept(body)
                self._kept(orelse)
            case cst.Subscript() | cst.Attribute() if self.places.of(node) is NUMBER:
                # NumPy's scalar does not change with its array
                self.marks.around.setdefault(node, ".copy")

    def _target(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        places = self.places
        match target:
            case cst.Name(value=name):
                if name in places.fetched and places.of(value) is NUMBER:
                    self._read(value, "scalar")
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                own = value.elements if isinstance(value, (cst.Tuple, cst.List)) else None
                if own is not None and len(own) == len(elements):
                    for e, v in zip(elements, own, strict=True):
                        self._target(e.value, v.value)
                    return
                names = [e.value for e in elements]
                if any(isinstance(n, cst.Name) and n.value in places.fetched for n in names):
                    raise places.refuse(
                        target,
                        "PRT806",
                        "unpacks a number that the host needs elsewhere",
                        "name it in a statement of its own",
                    )
                for n in names:
                    if not isinstance(n, cst.Name):
                        raise self._unknown(target)
            case cst.Subscript():
                self._store(target, places.of(value))
            case _:
                raise self._unknown(target)

    def _store(self, target: cst.Subscript, value: Where) -> None:
        """A store into an array; its value is a number or an array."""
        if not on_device(self.places.of(target.value)):
            raise self._unknown(target)
        self.expression(target.value)
        self._index(target)
        if isinstance(value, tuple):
            raise self.places.refuse(
                target,
                "PRT806",
                "stores a list or a tuple, which CuPy does not take",
                "make an array of it: `np.array(...)`",
            )
        if value is ARRAY and self._is_fancy(target):
            text = "stores an array at positions that may repeat: CuPy leaves open which one stays"
            raise self.places.refuse(target, "PRT806", text, "use --target cuda")

    def _is_fancy(self, target: cst.Subscript) -> bool:
        """Whether an index is an array or a list of positions."""
        for e in target.slice:
            if isinstance(e.slice, cst.Index):
                where, dtype = self.places.of(e.slice.value), self.places.seen.dtype(e.slice.value)
                positions = isinstance(e.slice.value, cst.List) and where != ()
                if positions or (where is ARRAY and (dtype is None or dtype.kind != "b")):
                    return True
        return False

    def _augmented(self, node: cst.AugAssign) -> None:
        places, target = self.places, node.target
        if isinstance(target, cst.Subscript):
            self._store(target, places.of(node.value))
            return
        if not isinstance(target, cst.Name):
            raise self._unknown(node)
        name = target.value
        if name in places.both:
            raise places.refuse(
                node,
                "PRT806",
                f"`{name}` is a number here and an array there",
                "use a separate variable for each of them",
            )
        if name in places.fetched and places.of(node.value) is NUMBER:
            self._read(node.value, "scalar")
        elif places.names.get(name) is NUMBER:
            self.marks.plain.add(node)

    # -- loops -----------------------------------------------------------------------------

    def _over_elements(self, node: cst.For | cst.While) -> bool:
        """Whether a loop goes through the elements of arrays, itself or with loops in it."""
        own = loop_names(node) if isinstance(node, cst.For) else set(assigned_names([node]))
        if isinstance(node, cst.For) and NUMBER in leaves(self.places.items(node.iter)):
            return True
        found = list(self.places.subscripts(node))
        if not any(index_names(s) & own for s in found):
            return False
        inner = [n for n in walk(node) if isinstance(n, (cst.For, cst.While))]
        counted = {n for each in inner for n in assigned_names([each])}
        return any(self.places.is_element(s) and index_names(s) & counted for s in found)

    def _kernel(self, node: cst.For | cst.While) -> None:
        later = {n for block in self.after for n in exposed(block)}
        call = self.loop(node, later & set(assigned_names([node])))
        self.marks.instead[node] = call.text
        self.marks.helpers |= set(call.helpers)

    def _head(self, node: cst.For) -> None:
        if NUMBER in leaves(self.places.items(node.iter)):
            raise self._unknown(node)
        own = loop_names(node)
        if any(index_names(s) & own for s in self.places.subscripts(node)):
            self._note("array operations of a loop: launches for each of its iterations", node)
