"""Which names may still be read: a value that nobody reads again needs no variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from porter.syntax.names import assigned_names, used_names


def exposed(nodes: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements may read before they bind them."""
    return _effect(nodes)[0]


def bound(nodes: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements bind whatever happens."""
    return _effect(nodes)[1]


def _effect(nodes: Sequence[cst.CSTNode]) -> tuple[set[str], set[str]]:
    """(names that may be read first, names that are bound whatever happens)."""
    needed: set[str] = set()
    bound: set[str] = set()
    for node in _flat(nodes):
        reads, binds = _of(node)
        needed |= reads - bound
        bound |= binds
    return needed, bound


def _flat(nodes: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for node in nodes:
        if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            yield from node.body
        else:
            yield node


def _of(node: cst.CSTNode) -> tuple[set[str], set[str]]:
    match node:
        case cst.Assign(targets=targets, value=value):
            places = [t.target for t in targets]
            names = set(assigned_names([node]))
            read = {n for p in places if not _plain(p) for n in used_names(p)}
            return used_names(value) | read, names
        case cst.AnnAssign(target=target, value=value) if _plain(target):
            if value is None:
                return set(), set()
            return used_names(value), set(assigned_names([node]))
        case cst.If(test=test, body=body, orelse=orelse):
            then = _effect(body.body)
            other = _of(orelse) if orelse is not None else (set[str](), set[str]())
            return used_names(test) | then[0] | other[0], then[1] & other[1]
        case cst.Else(body=body):
            return _effect(body.body)
        case cst.For(target=target, iter=iter_, body=body, orelse=orelse):
            last = [] if orelse is None else orelse.body.body
            inner = (exposed(body.body) | exposed(last)) - set(assigned_names([_binding(node)]))
            place = set[str]() if _plain(target) else used_names(target)
            return used_names(iter_) | inner | place, set()
        case cst.While(test=test, body=body, orelse=orelse):
            last = [] if orelse is None else orelse.body.body
            return used_names(test) | exposed(body.body) | exposed(last), set()
    return used_names(node), set()


def _binding(node: cst.For) -> cst.For:
    """The loop without its body: what its head binds."""
    return node.with_changes(body=cst.SimpleStatementSuite([]))


def _plain(target: cst.CSTNode) -> bool:
    """Only names: a subscript or an attribute reads what it stores into."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return all(_plain(e.value) for e in target.elements)
    return isinstance(target, cst.Name)
