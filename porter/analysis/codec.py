"""Frozen dataclasses as plain JSON and back, by the types of their fields.

JSON and not pickle: reading a cache must never run what somebody put there.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

Decoder = Callable[[Any], Any]


def encode(value: Any) -> Any:
    """A value as JSON holds it: a dataclass is the list of its fields."""
    if is_dataclass(value):
        return [encode(getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (frozenset, set)):
        return sorted(encode(v) for v in value)
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, Mapping):
        return {k: encode(v) for k, v in value.items()}
    return value


@cache
def decoder(kind: Any) -> Decoder:
    """What makes a value of a type of its JSON.

    The decoder raises TypeError or ValueError when the JSON is not of that type.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass(kind)
    if origin in (Union, types.UnionType):
        inner = decoder(next(a for a in arguments if a is not type(None)))
        return lambda data: None if data is None else inner(data)
    if origin in (tuple, frozenset, list):
        item = decoder(arguments[0])
        if origin is tuple and arguments[1:] != (...,):
            parts = [decoder(a) for a in arguments]
            return lambda data: tuple(p(d) for p, d in zip(parts, data, strict=True))
        return lambda data: origin(item(d) for d in data)
    if origin is not None and issubclass(origin, Mapping):
        value = decoder(arguments[1])
        return lambda data: {k: value(v) for k, v in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return lambda data: data


def _dataclass(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    parts = [decoder(hints[f.name]) for f in fields(kind)]

    def build(data: Any) -> Any:
        return kind(*[part(d) for part, d in zip(parts, data, strict=True)])

    return build
