"""Commands whose arguments reach them as they were typed.

Typer 0.29 converts every value through pydantic, whose import takes a fifth of a short run.
Text that stays text, a choice by its exact name and an option that was not given need none of
it; whatever else there is, wrong values with their messages too, is left to Typer.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command with such parameters."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, that of `--help` among them."""
        return [_spared(p) for p in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands with such parameters of its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, that of `--help` among them."""
        return [_spared(p) for p in super().get_params(ctx)]


def _spared(parameter: Any) -> Any:
    parameter.process_value = partial(_process, parameter)
    if parameter.param_type_name == "argument":
        # `PATH` says it all; Typer adds `<list[str]>`
        parameter.display_type_rich = lambda ctx: ""
    return parameter


def _process(parameter: Any, context: Any, value: Any) -> Any:
    """The value that the command gets, as `process_value` of the parameter says it."""
    if parameter.required and not value:
        return type(parameter).process_value(parameter, context, value)
    try:
        value = _as_typed(parameter, value)
    except ValueError:
        return type(parameter).process_value(parameter, context, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _as_typed(parameter: Any, value: Any) -> Any:
    """The value, if it needs no conversion. Raises ValueError."""
    several = parameter.multiple or parameter.nargs == -1
    if value is None:
        return () if several else None
    # Typers before 0.29 have no such attribute, and no need of this
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if several and kind == list[str] and isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(kind, type) and not several:
        if isinstance(value, kind):
            return value
        if issubclass(kind, Enum):
            return kind(value)
    raise ValueError(value)
