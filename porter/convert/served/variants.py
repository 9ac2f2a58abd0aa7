"""The other types that a function is converted for: those of calls that one form does not serve."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

import libcst as cst

from porter import ir
from porter.codegen.module.variants import least_ranks
from porter.convert.served.assumed import assumed_forms
from porter.convert.served.strides import Served
from porter.inference.known import Shown
from porter.inference.signature import for_elements, shown_types
from porter.inference.types import OMITTED, ParameterType, literal_of, parse_signature
from porter.resolve.attributes import parameters_of
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.source.module import FunctionSource
from porter.support.parsing import literal_value
from porter.support.reserved import given
from porter.target.base import Target

#: how many forms of a function a module has at most: of those shown, and with those assumed
MOST = 4
MOST_ASSUMED = 6
Types = tuple[ParameterType, ...]


@dataclass(frozen=True)
class Made:
    """A form of a function: its types, and the program and plan for them.

    `assumed` where nobody asked for it or showed a call.
    """

    types: Types
    served: Served
    assumed: bool = False

    @property
    def program(self) -> ir.Program:
        """The array program."""
        return self.served.program

    @property
    def plan(self) -> Plan:
        """The plan of its launches."""
        return self.served.plan

    def takes(self, types: Sequence[ParameterType]) -> bool:
        """Whether its kernels take arguments of these types."""
        least = least_ranks(self.plan)
        if self.plan.strict and is_elementwise(self.plan):
            # its results have other shapes where those of the arguments are not the same
            pairs = list(zip(self.types, types, strict=True))
            ranks = {t.ndim or 0 for own, t in pairs if own.ndim is not None}
            numbers = any(own.ndim is not None and t.ndim is None for own, t in pairs)
            if len(ranks) > 1 and (numbers or not self.plan.own_shapes):
                return False
        return len(self.types) == len(types) and all(
            _takes(own, n, t) for own, n, t in zip(self.types, least, types, strict=True)
        )


Attempt = Callable[[Sequence[ParameterType]], Made | None]


def may_vary(function: FunctionSource, target: Target) -> bool:
    """Whether a function can have several forms: methods cannot, nor what takes a `stream`.

    Forms are called with our keywords, which have other names beside such parameters.
    """
    own = {"stream", *(("timing",) if target.extras.timing else ())}
    names = {given(p.name.value) for p in parameters_of(function)}
    return "." not in function.name and not function.attributes and not names & own


def other_forms(
    function: FunctionSource, first: Made, signatures: Sequence[str] | None, attempt: Attempt,
    refused: list[Types],
) -> Iterator[Made]:  # fmt: skip
    """The types beside the first ones that are asked for or shown, and what they become.

    Those for which there is no form join `refused`.
    """
    done = [first]
    kinds = [first.types]
    if signatures is not None:
        wanted = [[tuple(parse_signature(s))] for s in signatures[1:]]
    else:
        wanted = [list(_wanted(function, s, first.types)) for s in shown_types(function)]
        wanted += [[types] for types in _other_flags(function, first)]
    assumed = [] if signatures is not None else assumed_forms(function, first.plan, kinds)
    shown = [(ways, False) for ways in wanted]
    for ways, is_assumed in chain(shown, zip(assumed, repeat(True))):
        for own in ways:
            types = tuple(for_elements(function, own))
            most = MOST_ASSUMED if is_assumed or signatures is not None else MOST
            if len(done) >= most or any(form.takes(types) for form in done):
                break
            made = attempt(types)
            if made is None:
                refused.append(types)
            if made is None or any(form.takes(made.types) for form in done):
                continue  # refused, or made for the default value all the same
            made = replace(made, assumed=is_assumed)
            done.append(made)
            kinds.append(made.types)
            yield made
            break


def refused_arrays(forms: Sequence[Types], refused: Sequence[Types]) -> Mapping[int, int]:
    """The parameters for which no form takes an array, and the ranks that were tried."""
    found: dict[int, int] = {}
    for types in refused:
        for k, t in enumerate(types):
            if t.ndim is not None and all(form[k].omitted for form in forms):
                found[k] = t.ndim
    return found


def _takes(own: ParameterType, least: int | None, t: ParameterType) -> bool:
    """Whether a parameter takes a type; an array from so many dimensions on, if that is known."""
    if any(o.omitted or o.literal or o.generator for o in (own, t)):
        return _fixed(own) == _fixed(t)
    if own.items or t.items:
        return len(own.items) == len(t.items)
    if own.ndim is None and t.ndim is None:
        return own.dtype.kind not in "iu" or t.dtype.kind != "f"
    if t.given and own.ndim is not None and t.ndim is not None and _kind(own) != _kind(t):
        return False
    if own.ndim is None or least is None:
        return own.ndim == t.ndim
    return (t.ndim or 0) >= least


def _wanted(function: FunctionSource, shown: Shown, first: Types) -> Iterator[Types]:
    """The types of a call: numbers as numbers, then as the very values that are passed."""
    params = parameters_of(function)
    types, values = list(shown.types), list(shown.types)
    for k, (p, own) in enumerate(zip(params, first, strict=True)):
        value = shown.passed.get(k)
        fixed = own.omitted or types[k].omitted
        if value is None or not fixed:
            continue
        told = value.constant is not None and value.kind in ("scalar", "text")
        if told and repr(value.constant) == _default(p):
            types[k] = values[k] = OMITTED
        elif told:
            values[k] = literal_of(value.constant, shown.source)
            if value.kind == "text" or isinstance(value.constant, bool):
                types[k] = values[k]
    yield tuple(types)
    if values != types:
        yield tuple(values)


def _other_flags(function: FunctionSource, first: Made) -> Iterator[Types]:
    """The first types with the other value of a bool that the kernels were made for."""
    params = parameters_of(function)
    for k, (p, t) in enumerate(zip(params, first.types, strict=True)):
        default = _default(p)
        if t.omitted and default in ("True", "False"):
            other = literal_of(default == "False")
            yield (*first.types[:k], other, *first.types[k + 1 :])


def _default(p: cst.Param) -> str | None:
    """The value of a default, as Python writes it."""
    if p.default is None:
        return None
    try:
        return repr(literal_value(cst.Module([]).code_for_node(p.default)))
    except (ValueError, SyntaxError):
        return None


def private_names(name: str, forms: Sequence[Types], params: Sequence[str],
                  taken: Collection[str]) -> list[str]:  # fmt: skip
    """Names of the private functions, by what they differ in: `_f_1d`, `_f_2d`."""
    found: list[str] = []
    used = set(taken)
    for form in forms:
        parts = [
            _word(form[k], given(params[k]), [f[k] for f in forms])
            for k in range(len(params))
            if len({_key(f[k]) for f in forms}) > 1
        ]
        words = "_".join(w for w in parts if w)
        base = re.sub(r"\W", "_", f"_{given(name)}_{words}" if words else f"_{given(name)}")
        chosen, number = base, 2
        while chosen in used:
            chosen, number = f"{base}_{number}", number + 1
        used.add(chosen)
        found.append(chosen)
    return found


def _fixed(t: ParameterType) -> object:
    return (t.omitted, t.literal, t.generator)


def _key(t: ParameterType) -> object:
    return (_fixed(t), t.ndim, len(t.items), t.ndim is not None and _kind_name(t))


def _kind(t: ParameterType) -> str:
    """What an array is of, whatever its width."""
    kinds = {"b": "bools", "i": "integers", "u": "integers", "c": "complex"}
    return kinds.get(t.dtype.kind, "floats")


def _kind_name(t: ParameterType) -> str:
    """What an array is of, as names say it."""
    return "single" if t.dtype.name == "float32" else _kind(t)


def _word(t: ParameterType, name: str, others: Sequence[ParameterType]) -> str:
    if t.omitted:
        return ""
    if t.literal:
        return f"{name}_{t.literal}".replace("'", "")
    if t.generator:
        return f"{name}_{t.generator.lower()}"
    ranks = {o.ndim for o in others if not o.omitted and not o.literal}
    arrays = [o for o in others if not o.omitted and not o.literal and o.ndim is not None]
    if t.ndim is not None and len(set(map(_kind_name, arrays))) > 1:
        return _kind_name(t) if len(ranks) == 1 else f"{t.ndim}d_{_kind_name(t)}"
    if len(ranks) == 1:
        return name
    return f"{t.ndim or 0}d"


__all__ = ["MOST", "Made", "may_vary", "other_forms", "private_names", "refused_arrays"]
