"""Forms for other dtypes, where NumPy's results for them need other kernels.

Each form has a text of its own.  Elementwise functions have one for what the host cannot convert
and no text for another dtype serves: their kernels are short.  Other functions have one for
integers where something says that callers pass them: a call that is known, or a function that asks
what its argument is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Protocol, TypeVar

import libcst as cst

from porter.convert.served.numbers_alone import bodies
from porter.convert.served.promotion import narrow_of
from porter.convert.served.siblings import Sibling
from porter.convert.served.variants import MOST_ASSUMED, Made
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import KINDS, WEAK_FLOAT, WEAK_INT, DType
from porter.guarded import doing_without
from porter.inference.docstrings import documented
from porter.inference.known import calls_of
from porter.inference.signature import decorator_signature, hint_of
from porter.inference.types import ParameterType, literal_of
from porter.inference.values import as_array
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.schedule.overlap import overlaps
from porter.source.module import FunctionSource
from porter.support.parsing import docstring_of
from porter.support.reserved import given
from porter.syntax.nodes import calls_of_attribute, nodes_of

Types = tuple[ParameterType, ...]
#: the form for some types; None where there is none
Attempt = Callable[[Sequence[ParameterType]], Made | None]
#: forms for other dtypes beside a first one, and further ones for bools, and for numbers
MOST = 3
MOST_BOOLS = 2
MOST_NUMBERS = 2
#: what is tried in place of arrays: integers for floats, real numbers for complex ones
_OTHER = {"float64": "int64", "float32": "int64", "complex128": "float64"}
#: where the text for float64 does not serve float32: `x * 1j` is of complex64 then
_SINGLE = {"float64": "float32"}
#: where the text that was asked for in float32 does not serve float64: `np.finfo(x.dtype).eps`
_DOUBLE = {"float32": "float64"}


def integer_form(
    function: FunctionSource, first: Made, conversions: Conversions, siblings: Sequence[Sibling],
    scope: Globals, attempt: Attempt,
) -> list[Made]:  # fmt: skip
    """A form for integers that the first one neither takes nor converts, if they are likely."""
    whole = [n for s in siblings if DType(s.dtype).kind in "iu" for n in s.names]
    served = {*conversions.names, *whole} - overlaps(first.plan).written
    for types in _integers(function, first.types, scope, served):
        made = attempt(types)
        if made is not None and _omits_alike(made, first):
            return [made]
    return []


def _omits_alike(made: Made, first: Made) -> bool:
    """Whether two forms are for the same defaults."""
    return all(t.omitted == o.omitted for t, o in zip(made.types, first.types, strict=True))


def _integers(
    function: FunctionSource, types: Types, scope: Globals, served: Collection[str]
) -> Iterator[Types]:
    """Types with integers in place of floats; those of the arrays `served` are taken as it is."""
    if decorator_signature(function) is not None:
        return
    params = parameters_of(function)
    names = [p.name.value for p in params]
    arrays = [
        k for k, (p, t) in enumerate(zip(params, types, strict=True))
        if t.ndim is not None and t.dtype.name == "float64" and not (t.given or t.traced)
        and hint_of(p.annotation, scope.texts)[0] is None
    ]  # fmt: skip
    if not arrays or {names[k] for k in arrays} <= set(served):
        return
    found: dict[Types, None] = {}
    for passed in _passed(function, names):
        if all(k in passed for k in arrays):
            found[_with(types, {k: passed[k] for k in arrays})] = None
    said = documented(docstring_of(function.node))
    floats = any(KINDS.get(said[given(names[k])].dtype) == "f" for k in arrays
                 if given(names[k]) in said)  # fmt: skip
    asked = "" if found or floats else _asked(function.node, scope)
    if asked:
        found[_with(types, {k: replace(types[k], dtype=DType(asked)) for k in arrays})] = None
    yield from found


def _passed(function: FunctionSource, names: Sequence[str]) -> Iterator[dict[int, ParameterType]]:
    """The arrays of integers that each known call passes."""
    for call in calls_of(function):
        arguments = call.arguments([given(n) for n in names])
        if arguments is None:
            continue
        arrays = {k: as_array(arguments.get(given(n))) for k, n in enumerate(names)}
        yield {
            k: ParameterType(DType(a.dtype), a.ndim, source=call.shown)
            for k, a in arrays.items()
            if a is not None and a.ndim and KINDS.get(a.dtype) in ("i", "u")
        }


def _asked(node: cst.FunctionDef, scope: Globals) -> str:
    """The integers for which a function has a branch of its own: those of images where it asks
    for the limits of their dtype; '' where it asks for none."""
    found = list(bodies(node, scope))
    asks = any(_asks_for_kind(one.body) for one in found)
    limits = any(any(calls_of_attribute(one.body, "iinfo")) for one in found)
    return ("uint8" if limits else "int64") if asks else ""


def _asks_for_kind(body: cst.CSTNode) -> bool:
    """Whether a function asks for `x.dtype.kind`, or calls `np.issubdtype`."""
    return any(calls_of_attribute(body, "issubdtype")) or any(
        a.attr.value in ("kind", "char")
        and isinstance(a.value, cst.Attribute) and a.value.attr.value == "dtype"
        for a in nodes_of(body, cst.Attribute)
    )  # fmt: skip


def _with(types: Types, others: dict[int, ParameterType]) -> Types:
    return tuple(others.get(k, t) for k, t in enumerate(types))


# -- elementwise functions ----------------------------------------------------------------------


class Form(Protocol):
    """What is known of a converted form."""

    @property
    def conversions(self) -> Conversions:
        """What the host converts for it."""

    @property
    def siblings(self) -> tuple[Sibling, ...]:
        """Other dtypes that its text serves."""

    @property
    def reals(self) -> tuple[str, ...]:
        """The numbers that must be floats: with an integer NumPy has other dtypes."""


F = TypeVar("F", bound=Form)


def forms_of_dtypes(
    forms: Sequence[tuple[Made, F]], attempt: Attempt, converted: Callable[[Made], tuple[Made, F]]
) -> list[tuple[Made, F]]:
    """The forms, and those for dtypes that an elementwise function takes and the first does not.

    The latter are in order, whichever of them were asked for.
    """
    (first, _), *others = forms
    tried = [[str(t) for t in made.types] for made, _ in forms]
    known = [one for one in others if is_other(one[0].types, first.types)]
    found = [forms[0], *known]
    most = min(MOST, MOST_ASSUMED - len(forms) + len(known))
    for made, form in found:  # those that are made join them
        if made is not first and any(map(_is_single, made.types)):
            continue
        for types in _further_types(made, form.conversions, form.siblings):
            names = [str(t) for t in types]
            if len(found) > most or names in tried:
                continue
            tried.append(names)
            with doing_without():
                other = attempt(types)
                if other is not None and other.plan.any_width:
                    found.append(converted(other))
    whole = _integral(first, forms[0][1].reals)
    for more, further in (
        (MOST_BOOLS, _bools(found)), (MOST_NUMBERS, _numbers(first)), (len(whole), whole),
    ):  # fmt: skip
        most += more
        for types in further:
            if len(found) <= most and [str(t) for t in types] not in tried:
                with doing_without():
                    other = attempt(types)
                    if other is not None and other.plan.any_width:
                        found.append(converted(other))
    apart = [one for one in forms if not any(one is other for other in known)]
    return [*apart, *sorted(found[1:], key=lambda one: [str(t) for t in one[0].types])]


def _further_types(
    form: Made, conversions: Conversions, siblings: Sequence[Sibling]
) -> Iterator[Types]:
    """Types with another dtype for arrays of an elementwise function for which a form has none."""
    if not is_elementwise(form.plan):
        return
    names = [p.name for p in form.plan.parameters]
    converted = conversions.names
    # a text for int64 alone has none of the casts that make narrower integers wrap around
    also = {(n, s.dtype) for s in siblings for n in s.names}
    open_ = [
        k for k, (name, t) in enumerate(zip(names, form.types, strict=True))
        if t.ndim is not None and t.dtype.name in _OTHER
        and not (t.dtype.kind == "f" and (name, "int32") in also)
        and not (name in converted and not conversions.some)
        and not (name in conversions.complexes and conversions.whole)
    ]  # fmt: skip
    whole = _whole(form)
    if whole and (open_ or conversions.floats):
        # a call that leaves them out passes integers
        floats = [k for k, t in enumerate(form.types) if t.ndim is not None and t.dtype.kind == "f"]
        yield _as_other(_with(form.types, whole), floats)
    if open_:
        yield _as_other(form.types, open_)
    for name, value in conversions.apart:
        # the kernels are others for this number alone
        known = {names.index(name): literal_of(value)}
        yield _as_other(_with(form.types, known), [names.index(n) for n in converted])
    # of those that some other array of floats has converted, not all may be integers
    alone = [k for k in open_ if names[k] not in converted]
    for size in range(1, len(open_)):
        for chosen in combinations(alone, size):
            yield _as_other(form.types, chosen)
    floats = [k for k, t in enumerate(form.types) if t.ndim is not None and t.dtype.kind == "f"]
    if not all((names[k], "float32") in also or _is_single(form.types[k]) for k in floats):
        yield _as_other(form.types, floats, _SINGLE)
    if any(_is_single(form.types[k]) and (names[k], "float64") not in also for k in floats):
        yield _as_other(form.types, floats, _DOUBLE)


def _bools(forms: Sequence[tuple[Made, Form]]) -> Iterator[Types]:
    """The types of the first form with bools for an array of which some form takes integers, and no
    form bools: where integers become floats, a form for bools would be read by all and called by
    nobody."""
    first = forms[0][0]
    if is_elementwise(first.plan):
        for k, (p, t) in enumerate(zip(first.plan.parameters, first.types, strict=True)):
            whole = any(_takes_integers(made, form, p.name, k) for made, form in forms)
            loose = t.ndim is not None and t.dtype.kind in "fc" and whole
            if loose and not any(_takes_bools(made, form, p.name, k) for made, form in forms):
                yield _with(first.types, {k: replace(t, dtype=DType("bool"))})


def _integral(first: Made, names: Sequence[str]) -> list[Types]:
    """The types with integers in place of numbers that must be floats."""
    each = zip(first.types, first.plan.parameters, strict=True)
    chosen = [replace(t, dtype=WEAK_INT) if p.name in names and t.is_number and t.dtype.kind == "f"
              else t for t, p in each]  # fmt: skip
    return [] if tuple(chosen) == first.types else [tuple(chosen)]


def _numbers(first: Made) -> Iterator[Types]:
    """Types with a number in place of an array that is stored into, beside others: `x += v` makes
    an array of it, and changes no argument."""
    arrays = [k for k, t in enumerate(first.types) if t.ndim is not None]
    if is_elementwise(first.plan) and len(arrays) > 1:
        written = overlaps(first.plan).written
        for k in arrays:
            if first.plan.parameters[k].name in written and first.types[k].dtype.kind == "f":
                yield _with(first.types, {k: ParameterType(WEAK_FLOAT, None)})


def _takes_integers(made: Made, form: Form, name: str, k: int) -> bool:
    """Whether a form has kernels that take integers for an array as they are."""
    also = any(name in s.names and s.dtype == "int64" for s in form.siblings)
    return also or made.types[k].dtype.kind in "iu"


def _takes_bools(made: Made, form: Form, name: str, k: int) -> bool:
    """Whether a form takes or converts bools for an array."""
    known = form.conversions
    kinds = [kinds for n, kinds in known.lone if n == name]
    kinds += [narrow_of(known.integers)] if name in known.names else []
    kinds += [narrow_of(known.whole)] if name in known.complexes and known.whole else []
    also = any(name in s.names and s.dtype == "bool" for s in form.siblings)
    return also or made.types[k].dtype.kind == "b" or any("b" in k for k in kinds)


def _is_single(t: ParameterType) -> bool:
    return t.ndim is not None and t.dtype.name in _SINGLE.values()


def _whole(form: Made) -> dict[int, ParameterType]:
    """Integers in place of numbers whose defaults are integers, and which were made floats."""
    return {
        k: replace(t, dtype=WEAK_INT)
        for k, (p, t) in enumerate(zip(form.plan.parameters, form.types, strict=True))
        if t.is_number and t.dtype.kind == "f" and p.default is not None and p.default.isdecimal()
    }


def is_other(types: Types, first: Types) -> bool:
    """Whether types differ from the first ones by what is tried in place of arrays, and in nothing
    else."""
    pairs = [
        (str(o) if t.literal and o.is_number and o.dtype.kind == "i" else str(t), str(o))
        for t, o in zip(types, first, strict=True)
    ]
    return any(t != o for t, o in pairs) and all(
        t == o or t in _lower(o) or t == o.replace("float32[", "float64[") for t, o in pairs
    )


def _lower(t: str) -> set[str]:
    """The types that are tried in place of an array, or of a number."""
    name, bracket, rest = t.partition("[")
    if not bracket:
        return {"int64"} if name == "float64" else set()
    if t in ("float64[:]", "float32[:]"):
        return {"float64", *_lower_arrays(name, rest)}
    return _lower_arrays(name, rest)


def _lower_arrays(name: str, rest: str) -> set[str]:
    """The arrays that are tried in place of one."""
    found = {f"{to[name]}[{rest}" for to in (_OTHER, _SINGLE) if name in to}
    bools = {f"boolean[{rest}"} if name in _OTHER else set()
    return found.union(bools, *map(_lower, found))


def spelled(made: Made | None, first: Made) -> Made | None:
    """A form, for integers of any width if it has other dtypes of an elementwise function."""
    if made is None or not (is_elementwise(made.plan) and is_other(made.types, first.types)):
        return made
    return replace(made, served=replace(made.served, plan=replace(made.plan, any_width=True)))


def unsigned(
    types: Types, plan: Plan, groups: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What else is tried for arrays of integers, where kernels are spelled for any width."""
    known = dict(zip((p.name for p in plan.parameters), types, strict=True))
    whole = [g for g in groups if plan.any_width and known[g[0]].dtype.name == "int64"]
    return dict.fromkeys(whole, ("uint8", "bool"))


def _as_other(types: Types, chosen: Collection[int], others: Mapping[str, str] = _OTHER) -> Types:
    to = {k: others.get(types[k].dtype.name, types[k].dtype.name) for k in chosen}
    return _with(types, {k: ParameterType(DType(d), types[k].ndim) for k, d in to.items()})
