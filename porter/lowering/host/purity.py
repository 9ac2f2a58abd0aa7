"""Which code of the user's may run on copies of arrays: it must not change them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from porter import ir
from porter.lowering.evaluation import Body
from porter.lowering.expressions.texts import is_text
from porter.numpy_functions import Dotted, method_of, spec_of
from porter.resolve.values import Array, Function, Module
from porter.source.walk import children

#: libraries whose functions leave their arguments as they are (but for those below)
_LIBRARIES = {"numpy", "scipy", "math", "builtins", "logging", "warnings", "time", "json", "os"}
_CHANGING = {"setattr", "exec", "eval", "delattr"}
_CONTAINERS = {"builtins.dict", "builtins.list", "builtins.tuple"}


def callee(body: Body, func: cst.BaseExpression) -> Dotted:
    """The dotted name of a function of a library; empty for anything else."""
    if isinstance(func, cst.Attribute):
        owner = callee(body, func.value)
        return Dotted(f"{owner}.{func.attr.value}" if owner else "")
    if not isinstance(func, cst.Name):
        return Dotted()
    name = func.value
    value = body.env.get(name, body.ev.scope.names.get(name))
    if isinstance(value, Module) or (isinstance(value, Function) and value.node is None):
        return Dotted(value.name)
    if value is None and name not in body.ev.scope.constants:
        return Dotted(f"builtins.{name}")
    return Dotted()


def reads_only(body: Body, call: cst.Call) -> bool:
    """Whether a call surely keeps none of its arguments and changes none."""
    if is_text(call, body.env):
        return True
    name = callee(body, call.func)
    changes = name.path in _CHANGING or spec_of(name.short).changes
    return name.library in _LIBRARIES and not changes and name not in _CONTAINERS


def check_call(body: Body, call: cst.Call, reads: Callable[[cst.CSTNode], bool]) -> None:
    """Refuse a call that may change an array of the device: its copy would change instead."""
    func = call.func
    if isinstance(func, cst.Attribute) and reads(func.value):
        method = method_of(func.attr.value)
        if method is None or method.changes or method.view:
            raise body.b.refuse("PRT901", f"`.{func.attr.value}()` of an array on the host")
        return
    if not any(reads(a.value) for a in call.args):
        return
    if any(a.keyword is not None and a.keyword.value == "out" for a in call.args):
        raise body.b.refuse("PRT901", "`out=` of a call that stays on the host is not supported")
    if reads_only(body, call) or callee(body, func) in _CONTAINERS or _is_object(body, func):
        return
    shown = body.b.place.module.brief(func)
    raise body.b.refuse("PRT901", f"`{shown}` may modify the arrays that are passed to it",
                        "call it outside this function")  # fmt: skip


def _is_object(body: Body, func: cst.BaseExpression) -> bool:
    """A method of an object of the host, such as `rows.append`."""
    while isinstance(func, (cst.Attribute, cst.Subscript)):
        func = func.value
    return isinstance(func, cst.Name) and isinstance(body.env.get(func.value), ir.Object)


def check_block(body: Body, node: cst.CSTNode) -> None:
    """Refuse what a block of the host must not do: leave it, or store into an array."""
    match node:
        case (
            cst.Return() | cst.Yield() | cst.FunctionDef() | cst.ClassDef() | cst.Try() | cst.With()
        ):
            raise body.b.refuse(
                "PRT902",
                "this block cannot stay on the host",
                "move the block out of this function",
            )
        case cst.Assign(targets=targets):
            for t in targets:
                _check_target(body, t.target)
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            _check_target(body, target)
    for child in children(node):
        check_block(body, child)


def _check_target(body: Body, target: cst.BaseExpression) -> None:
    while isinstance(target, (cst.Attribute, cst.Subscript)):
        target = target.value
    if isinstance(target, cst.Name) and isinstance(body.env.get(target.value), Array):
        raise body.b.refuse(
            "PRT902",
            "a host loop stores into a device array",
            "store into the array outside this loop",
        )


def is_plain(value: cst.CSTNode) -> bool:
    """Whether a module-level constant may be copied: literals, arithmetic, a logger."""
    if isinstance(value, cst.Call):
        func = value.func
        return isinstance(func, cst.Attribute) and func.attr.value in ("getLogger", "array")
    if isinstance(value, (cst.Lambda, cst.Await, cst.BaseComp)):
        return False
    return all(is_plain(c) for c in children(value))
