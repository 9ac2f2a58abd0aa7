"""Texts that are made of values: f-strings, `"...".format(x)` and `"..." % x`, for messages."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from porter.resolve.values import Said, Text, Value
from porter.support.parsing import string_value
from porter.syntax.names import used_names

STRINGS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)


def is_text(node: cst.BaseExpression, env: Mapping[str, Value]) -> bool:
    """Whether an expression is a text for certain."""
    match node:
        case cst.Name(value=name):
            return isinstance(env.get(name), (Text, Said))
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="format"))):
            return is_text(owner, env)
        case cst.BinaryOperation(left=left, operator=cst.Modulo() | cst.Add()):
            return is_text(left, env)
    return isinstance(node, STRINGS)


def said(node: cst.BaseExpression, env: Mapping[str, Value]) -> Said | None:
    """The text that the host will make of values, if that is what an expression is."""
    if not isinstance(node, (*STRINGS, cst.Call, cst.BinaryOperation)) or not is_text(node, env):
        return None
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        if string_value(node) is not None:
            return None
    return Said(node, {n: env[n] for n in used_names(node) if n in env})
