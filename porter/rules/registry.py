"""Every rule, found by importing the modules of this package: a new rule is a new file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import porter.rules
from porter.diagnostics import UsageError
from porter.rules.base import ConverterRule, Rule
from porter.support.nearest import suggestion


def _subclasses(cls: type[Rule]) -> list[type[Rule]]:
    return [s for c in cls.__subclasses__() for s in (c, *_subclasses(c))]


def _found(apart_from: str = "") -> dict[str, type[Rule]]:
    for block in pkgutil.iter_modules(porter.rules.__path__):
        if block.ispkg and block.name != apart_from:
            package = importlib.import_module(f"porter.rules.{block.name}")
            for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                importlib.import_module(module.name)
    found = [c for c in _subclasses(Rule) if c.code and c.__module__.startswith("porter.rules.")]
    return {c.code: c for c in sorted(found, key=lambda c: c.code)}


@cache
def all_rules() -> dict[str, type[Rule]]:
    """The rules by code, in the order of their codes."""
    return _found()


@cache
def _checkers() -> list[type[Rule]]:
    # nothing in `converter` checks source: a short run does without the import
    return [c for c in _found("converter").values() if not issubclass(c, ConverterRule)]


def checkers() -> list[Rule]:
    """An instance of each rule that checks source code itself."""
    return [c() for c in _checkers()]


def find(code: str) -> type[Rule]:
    """The rule of a code or name, in any case; raises `UsageError` when there is none."""
    wanted = code.strip().lower()
    for rule in all_rules().values():
        if wanted in (rule.code.lower(), rule.name):
            return rule
    known = [*all_rules(), *(rule.name for rule in all_rules().values())]
    hint = suggestion(code.strip().upper(), known) or "; see `porter rules`"
    raise UsageError(f"no rule has the code {code}{hint}")
