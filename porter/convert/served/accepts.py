"""What a converted function takes, in words of a caller: from its plans, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence, Set

from porter import ir
from porter.codegen.module.as_ufunc import AsUfunc
from porter.codegen.module.variants import least_ranks
from porter.convert.casts import OUT
from porter.convert.function import Converted
from porter.dtypes.dtype import DType
from porter.support.reserved import given

_NUMBERS = {"b": "a bool", "i": "an integer", "u": "an integer", "f": "a number",
            "c": "a complex number"}  # fmt: skip


def accepted(converted: Converted) -> tuple[str, ...]:
    """A line for each parameter: `x: array of any rank, float32 or float64`."""
    forms = converted.variants or (converted,)
    called = converted.called or AsUfunc("")
    lines = []
    for k, p in enumerate(converted.program.parameters):
        if not p.attribute:
            more = _integers(p.name, forms)
            if any(p.name in f.conversions.complexes for f in forms):
                more = "; real ones are converted"
            if converted.host is not None and any(f.program.parameters[k].ndim is not None
                                                  for f in forms):  # fmt: skip
                lists = "scalars and lists" if converted.host.lists else "scalars"
                more += f"; {lists} alone: computed on the host"
            if called.signatures:
                more += "; others are cast as NumPy's ufuncs do"
            lines.append(f"{given(p.name)}: {_parameter(forms, k)}{more}")
    if called.stores:
        lines.append(f"{OUT}: array for the result, to which it is cast, or a tuple of them")
    return tuple(lines)


def _integers(name: str, forms: Sequence[Converted]) -> str:
    """Which forms convert integers for a parameter, if any of them does."""
    arrays = [f for f in forms if name in dict(f.own)]
    taken = [f for f in arrays if name in f.conversions.names]
    if not taken:
        return ""
    return "; integers are converted" + (" by some forms" if len(taken) < len(arrays) else "")


def _parameter(forms: Sequence[Converted], k: int) -> str:
    """What all forms together take for a parameter."""
    words: dict[str, None] = {}
    ranks: set[int] = set()
    least: set[int] = set()
    dtypes: dict[str, None] = {}
    for form in forms:
        p = form.program.parameters[k]
        if p.ndim is None:
            words[_value(p)] = None
            continue
        # the source is rewritten for arrays of one rank
        from_rank = None if form.target.rewrites else least_ranks(form.plan)[k]
        (ranks if from_rank is None else least).add(p.ndim if from_rank is None else from_rank)
        dtypes |= dict.fromkeys(_dtypes(form, k))
    if not dtypes:
        return _or(list(words))
    sizes = sorted(dtypes, key=lambda d: (DType(d).itemsize, d))
    words[f"{_rank(ranks, least)}, {_or(sizes)}"] = None
    return _or(list(words))


def _value(p: ir.Parameter) -> str:
    """What is taken for a parameter that is no array."""
    if p.generator:
        return f"a numpy.random.{p.generator}"
    if p.fixed:
        return p.only.replace('"', "'")
    if p.items:
        return f"a tuple of {len(p.items)} numbers"
    return _NUMBERS[p.dtype.kind]


def _rank(ranks: Set[int], least: Set[int]) -> str:
    """How many dimensions an array may have: one of `ranks`, or `least` of them or more."""
    if 0 in least:
        return "array of any rank"
    start = min(least, default=None)
    numbers = [str(r) for r in sorted(ranks) if start is None or r < start]
    numbers += [] if start is None else [f"{start} or more"]
    plural = "" if numbers == ["1"] else "s"
    return f"array of {_or(numbers)} dimension{plural}"


def _dtypes(form: Converted, k: int) -> list[str]:
    """The dtypes of an array that the kernels of a form take."""
    name = form.program.parameters[k].name
    own = dict(form.own)
    return [own[name], *(s.dtype for s in form.siblings if name in s.names)]


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
