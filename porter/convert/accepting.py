"""What one form of a function takes: dtypes that its text serves, and those that are converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from porter.codegen.module.module import FunctionText, function_text
from porter.convert.again import Again, How, in_float64
from porter.convert.casts import stated_alone
from porter.convert.served.complexes import doubled, real_arrays
from porter.convert.served.kinds import (
    beside_floats,
    other_kinds,
    widened,
    with_lone,
    with_rounded,
    with_stored,
)
from porter.convert.served.other_dtypes import unsigned
from porter.convert.served.promotion import Question, conversions
from porter.convert.served.siblings import (
    Sibling,
    fewest,
    groups_of,
    narrow_siblings,
    siblings_of,
    take_float64,
)
from porter.convert.served.variants import Made
from porter.convert.served.ways import along_ways
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import DType
from porter.resolve.attributes import parameters_of
from porter.source.module import FunctionSource


@dataclass(frozen=True)
class Accepted:
    """The dtype of each array, others that the text serves, and what the host converts."""

    own: tuple[tuple[str, str], ...]
    siblings: tuple[Sibling, ...]
    conversions: Conversions
    groups: tuple[tuple[str, ...], ...]
    question: Question | None  # what was asked; None where nothing is tried


def accepted_by(function: FunctionSource, made: Made, how: How, text: FunctionText) -> Accepted:
    """What a form takes."""
    types, planned = made.types, made.plan
    again = Again(how, made.served) if how.siblings else None
    groups = groups_of(function, types, planned)
    found = Conversions()
    kinds: Mapping[tuple[str, ...], tuple[str, ...]] = {}
    question = wide = None
    # what is converted depends on elements, which are not computed yet where arrays are in chunks;
    # where signatures are stated, they say to what arguments are cast
    if again is not None and not how.target.chunked and how.casts is None:
        names = [p.name.value for p in parameters_of(function)]
        build_again = partial(again.program, function)
        question = Question(names, types, made.program, planned, build_again, again.planned)
        wide = in_float64(question, function, again, text)
        found = _conversions(wide, groups) if wide else found
        kinds = other_kinds(question, groups, found)
    texts = None if again is None else again.text
    more = {**kinds, **unsigned(types, planned, groups)}
    own, also = siblings_of(function, types, planned, text, texts, more)
    if texts is not None and how.target.tells_dtypes and how.casts is None and planned.any_width:
        also = (*also, *narrow_siblings(function, types, planned, text, texts, also))
    also = stated_alone(how.casts, also)
    if how.target.elements and how.casts is None:
        also = fewest(own, also)
    if question is not None and not found.where:
        kept = [g for g in kinds if any(s.names == g and s.dtype in kinds[g] for s in also)]
        found = beside_floats(wide or question, groups, found, kept)
        found = with_stored(wide or question, groups, found, kept)
        found = with_lone(wide or question, groups, found)
    if question is not None and planned.any_width:
        known = {(s.names, s.dtype) for s in also}
        found = replace(found, wider=widened(question, groups, known))
    if not take_float64(own, also):
        found = Conversions()
    elif question is not None and not any(DType(s.dtype).kind in "biu" for s in also):
        found = real_arrays(question, found, lambda p: function_text(p, how.target).key())
    if wide is not None and not how.target.elements:
        served = {n for s in also if s.dtype == "float32" for n in s.names}
        served |= {n for g in groups if len(g) > 1 for n in g}
        single = doubled(wide, found, served, lambda p: function_text(p, how.target).key())
        found = replace(found, doubled=single)
    return Accepted(own, also, found, groups, question)


def _conversions(question: Question, groups: Sequence[Sequence[str]]) -> Conversions:
    """What the host may convert, for all numbers or for some."""

    def asked(one: Question) -> Conversions:
        return with_rounded(one, conversions(one, groups))

    return along_ways(question, asked(question), asked, groups)
