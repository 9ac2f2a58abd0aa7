"""Methods as functions of the attributes that they read, for original and generated alike."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from porter.support.names import in_class
from porter.support.reserved import ATTRIBUTE_PREFIX


def by_attributes(
    function: Callable[..., Any], owner: type | None, names: Sequence[str]
) -> Callable[..., Any]:
    """The function with parameters for the attributes in place of `self`.

    `names` are the parameters of the header: those with the prefix are attributes.
    """
    attributes = [n.removeprefix(ATTRIBUTE_PREFIX) for n in names if n.startswith(ATTRIBUTE_PREFIX)]
    known = list(inspect.signature(function).parameters.values())[1:]
    own = [p for p in known if p.kind is not inspect.Parameter.KEYWORD_ONLY]

    def call(*args: Any, **options: Any) -> Any:
        instance = _instance(owner, dict(zip(attributes, args[len(own) :], strict=False)))
        return function(instance, *args[: len(own)], **options)

    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    extra = [inspect.Parameter(ATTRIBUTE_PREFIX + a, either, default=None) for a in attributes]
    rest = [p for p in known if p not in own]
    call.__signature__ = inspect.Signature([*own, *extra, *rest])  # type: ignore[attr-defined]
    return call


def _instance(owner: type | None, attributes: dict[str, Any]) -> Any:
    """An object of the class that was never initialised, with these attributes."""
    instance: Any
    try:
        assert owner is not None
        instance = object.__new__(owner)
        for name, value in attributes.items():
            instance.__dict__[in_class(name, owner.__name__)] = value
    except (AssertionError, AttributeError, TypeError):
        return types.SimpleNamespace(**attributes)
    return instance
