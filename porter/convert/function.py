"""One function to the text of its kernels: candidates, front end, plan, code generation."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from porter import ir
from porter.codegen.module.host_form import HostForm, with_host_form
from porter.codegen.module.marks import FLOATS, dtypes_of, real_of, rule_of
from porter.codegen.module.module import FunctionText, function_text
from porter.codegen.module.variants import Variant, dispatcher
from porter.convert.attempt import assumable, assumptions, differing, exact, front_end, method_apart
from porter.convert.served.integers import integer_forms
from porter.convert.served.kinds import beside_floats, other_kinds
from porter.convert.served.numbers import reals
from porter.convert.served.numbers_alone import host_form
from porter.convert.served.promotion import Question, conversions
from porter.convert.served.strides import Served, broadcast_name, served
from porter.convert.served.variants import (
    MOST_ASSUMED,
    Made,
    may_vary,
    other_forms,
    private_names,
)
from porter.diagnostics import Diagnostic, Refusal
from porter.dtypes.conversions import Conversions, shared
from porter.dtypes.dtype import SIBLINGS, DType
from porter.inference.types import ParameterType
from porter.lowering.program import build
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.nodes import Plan
from porter.source.module import FunctionSource
from porter.target.base import Target
from porter.target.registry import CUDA


@dataclass(frozen=True)
class Sibling:
    """Another dtype of the same kind that the very same text serves: of which parameters."""

    types: tuple[ParameterType, ...]
    names: tuple[str, ...]
    dtype: str

    @property
    def signature(self) -> str:
        """Argument types in Numba's syntax."""
        return ", ".join(map(str, self.types))


@dataclass(frozen=True)
class Converted:
    """A function that converts: its types, what was assumed of them, and its text.

    `assumable` is what `assumed` says of types where none are given, but for their source.  Of a
    function with several forms `variants` has all, the first one among them: they are private
    functions, and the function itself chooses.  What is `beside` it serves the calls in which an
    axis broadcasts, where its own kernels do not.
    """

    name: str
    types: tuple[ParameterType, ...]
    assumed: tuple[str, ...]
    program: ir.Program
    plan: Plan
    blank: FunctionText
    path: str
    own: tuple[tuple[str, str], ...] = ()
    siblings: tuple[Sibling, ...] = ()
    without: tuple[str, ...] = ()
    assumable: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    conversions: Conversions = Conversions()  # noqa: RUF009 (immutable)
    reals: tuple[str, ...] = ()  # numbers that must be floats
    variants: tuple[Converted, ...] = ()
    beside: Converted | None = None
    raising: FunctionText | None = None  # the text without what is beside it
    host: HostForm | None = None  # what calls without arrays get
    target: Target = CUDA

    @property
    def text(self) -> FunctionText:
        """The text of the function itself."""
        forms = [Variant(v.plan.name, v.plan) for v in self.variants]
        own = dispatcher(self.plan, forms, self.target) if forms else self._filled()
        return own if self.host is None else with_host_form(own, self.host, self.plan.parameters)

    @property
    def texts(self) -> list[FunctionText]:
        """The texts of all its forms, then its own."""
        parts = self.variants or ((self.beside,) if self.beside else ())
        private = (replace(t, fixed=None) for part in parts for t in part.texts)
        return [*private, self.text]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all kernels."""
        return tuple(k for t in self.texts for k in t.kernels)

    def _filled(self) -> FunctionText:
        """The text, with the dtypes that each array may have."""
        allowed = {name: [dtype] for name, dtype in self.own}
        for sibling in self.siblings:
            for name in sibling.names:
                allowed[name].append(sibling.dtype)
        filled = {dtypes_of(n): " ".join(sorted(d, key=_by_size)) for n, d in allowed.items()}
        needs = self.blank.needs
        if self.conversions:
            needs = replace(needs, helpers={*needs.helpers, "_float64"})
        for group in self.groups:
            kept = [d for d in allowed[group[0]] if DType(d).kind in "biu"] if group[1:] else []
            if kept and self.conversions:
                needs = replace(needs, helpers={*needs.helpers, "_kept"})
            rule = self.conversions.words(group, kept)
            for name in set(group) & set(self.conversions.names):
                # of arrays that meet, the dtypes of all decide
                filled[dtypes_of(name)] += f'", "{rule if len(group) == 1 else "together"}'
            filled[rule_of(group[0])] = f', rule="{rule}"' if rule else ""
        filled[FLOATS] = ", floats=True" if self.conversions.floats else ""
        numbers = [q.name for p in self.program.parameters for q in (p, *p.items)]
        filled |= {real_of(n): ", real=True" if n in self.reals else "" for n in numbers}
        if self.reals:
            needs = replace(needs, helpers={*needs.helpers, "_real"})
        parts = tuple(_filled(part, filled) for part in self.blank.parts)
        return replace(self.blank, parts=parts, needs=needs)

    def leaving_out(self, signatures: Collection[str]) -> Converted:
        """The same without some siblings or forms, which the header then tells.

        Without its own signature nothing is beside it: it raises where an axis broadcasts.
        """
        if self.signature in signatures and self.broadcasts:
            alone = self._alone()
            return replace(alone, without=(*self.without, self.signature)).leaving_out(
                [s for s in signatures if s != self.signature]
            )
        gone = [s.signature for s in self.siblings if s.signature in signatures]
        left = tuple(s for s in self.siblings if s.signature not in signatures)
        forms = [v for k, v in enumerate(self.variants) if not k or v.signature not in signatures]
        gone += [v.signature for v in self.variants[1:] if v.signature in signatures]
        gone += [s.signature for v in forms[1:] for s in v.siblings if s.signature in signatures]
        host = self.host
        if host is not None and host.signature in signatures:
            gone, host = [*gone, host.signature], None
        kept = tuple(v.leaving_out(signatures) for v in forms) if len(forms) > 1 else ()
        without = (*self.without, *gone)
        return replace(self, siblings=left, without=without, variants=kept, host=host)

    @property
    def broadcasts(self) -> bool:
        """Whether other kernels serve calls in which an axis broadcasts."""
        return any(form.beside is not None for form in self.variants or (self,))

    def _alone(self) -> Converted:
        """The same with nothing beside it."""
        forms = tuple(v._alone() for v in self.variants)
        if self.raising is None:
            return replace(self, variants=forms)
        planned = replace(self.plan, broadcast="")
        return replace(self, plan=planned, blank=self.raising, beside=None, raising=None,
                       variants=forms)  # fmt: skip

    @property
    def also(self) -> tuple[str, ...]:
        """The argument types of the siblings, as the header has them."""
        return tuple(s.signature for s in self.siblings)

    @property
    def floats(self) -> list[str]:
        """The arrays for which integers may be converted: those that are not of integers."""
        return [name for name, dtype in self.own if DType(dtype).kind not in "iu"]

    @property
    def signature(self) -> str:
        """Argument types in Numba's syntax."""
        return ", ".join(map(str, self.types))


def convert_function(
    function: FunctionSource,
    signature: str | Sequence[str] | None = None,
    scope: Globals | None = None,
    target: Target = CUDA,
    *,
    siblings: bool = True,
) -> Converted:
    """Convert one function. Raises Refusal with the diagnostic, UsageError for a bad signature.

    Several signatures make several forms of it.  Without `siblings` the module takes the
    signature's dtypes only.
    """
    scope = scope or Globals(function.module)
    given_types = (signature,) if isinstance(signature, str) else signature or None
    try:
        function, scope = method_apart(function, scope)
        first = given_types[0] if given_types else None
        types, program, planned = front_end(function, first, scope, target.schedules)
        how = _How(scope, target, bool(program.kept), siblings)
        made = how.served(function, types, program, planned)
        converted = _converted(function, made, how, given_types is not None)
        if not may_vary(function) or (given_types is not None and len(given_types) == 1):
            return converted
        others = list(other_forms(function, made, given_types, partial(how.exact, function)))
        if given_types is None and len(others) + 1 < MOST_ASSUMED:
            others += _of_integers(function, converted, how)
        host = host_form(function, [made, *others], given_types, scope, how.partial)
        return replace(_with_forms(function, converted, [made, *others], how), host=host)
    except Refusal as e:
        raise Refusal(e.diagnostic.at(function.module.path, function.name)) from None


def _of_integers(function: FunctionSource, first: Converted, how: _How) -> Iterator[Made]:
    """A form for integers that the first one neither takes nor converts, if they are likely."""
    whole = [n for s in first.siblings if DType(s.dtype).kind in "iu" for n in s.names]
    served = {*first.conversions.names, *whole}
    for types in integer_forms(function, first.types, how.scope, served):
        made = how.exact(function, types)
        if made is not None and not any(t.omitted != o.omitted for t, o in
                                        zip(made.types, first.types, strict=True)):  # fmt: skip
            yield made
            return


def _converted(function: FunctionSource, made: Made, how: _How, told: bool) -> Converted:
    """One form of a function, as if it were the only one."""
    types, program, planned = made.types, made.program, made.plan
    text = function_text(planned, how.target)
    again = _Again(how, made.served) if how.siblings else None
    groups = _groups(function, types, planned)
    accepted = Conversions()
    kinds: Mapping[tuple[str, ...], tuple[str, ...]] = {}
    question = None
    if again is not None:
        names = [p.name.value for p in parameters_of(function)]
        build_again = partial(again.program, function)
        question = Question(names, types, program, planned, build_again, again.planned)
        accepted = conversions(question, groups)
        kinds = other_kinds(question, groups, accepted)
    own, also = _siblings(function, types, planned, text, again, kinds)
    if question is not None:
        kept = [g for g in kinds if any(s.names == g and s.dtype in kinds[g] for s in also)]
        accepted = beside_floats(question, accepted, kept)
    return Converted(
        function.name, types,
        (*assumptions(function, types, "" if told else None), *program.assumed, *_serial(planned)),
        program, planned,
        text, function.module.path, own, also, reals=() if question is None else reals(question),
        assumable=assumable(function, types), groups=groups, conversions=accepted,
        beside=None if made.served.beside is None
        else _converted(function, Made(types, made.served.beside), how, True),
        raising=_raising(planned, how), target=how.target,
    )  # fmt: skip


def _raising(planned: Plan, how: _How) -> FunctionText | None:
    """The text that raises where an axis broadcasts, if other kernels serve such calls."""
    if not planned.broadcast:
        return None
    return function_text(replace(planned, broadcast=""), how.target)


def _with_forms(
    function: FunctionSource, first: Converted, forms: Sequence[Made], how: _How
) -> Converted:
    """The function with all its forms, if there are several."""
    made_of = [(m, first if m is forms[0] else _converted(function, m, how, True)) for m in forms]
    made_of = [(m, one) for m, one in made_of if not m.assumed or _converts_alike(first, one)]
    forms = [m for m, _ in made_of]
    if len(forms) == 1:
        return first
    params = [p.name.value for p in parameters_of(function)]
    names = private_names(
        first.program.name, [m.types for m in forms], params, first.program.around
    )
    parts = []
    for name, (made, one) in zip(names, made_of, strict=True):
        renamed = replace(made.program, name=name, docstring=None)
        assumed = differing(function, made.types, forms[0].types)
        beside = made.served.beside
        if one.beside is not None and beside is not None:
            other = replace(beside.program, name=broadcast_name(renamed))
            one = replace(one, beside=_named(one.beside, beside, other, how))
        parts.append(replace(_named(one, made.served, renamed, how), assumed=assumed))
    # `verify` tries what the header says of the function with every form
    every = shared([(p.conversions, p.floats) for p in parts])
    parts = [replace(p, conversions=p.conversions.only(every)) for p in parts]
    return replace(first, conversions=every, variants=tuple(parts))


def _named(one: Converted, made: Served, program: ir.Program, how: _How) -> Converted:
    """The same under the name of a program."""
    private = made.again(program, how.target.schedules)
    text, raising = function_text(private, how.target), _raising(private, how)
    return replace(one, plan=private, blank=text, raising=raising)


def _converts_alike(first: Converted, one: Converted) -> bool:
    """Whether the first form still converts what it does, beside another one."""
    pairs = [(c.conversions, c.floats) for c in (first, one)]
    return first.conversions.only(shared(pairs)) == first.conversions


def _serial(planned: Plan) -> tuple[str, ...]:
    """What the header says of loops on one thread."""
    return tuple(
        f"the loop at line {d.span.line} may run on one thread (--allow-serial)"
        for d in planned.notes
    )


def _filled(part: str, texts: dict[str, str]) -> str:
    for mark, text in texts.items():
        part = part.replace(mark, text)
    return part


@dataclass(frozen=True)
class _How:
    """How a function is converted, whatever its types; `partial` keeps statements on the host."""

    scope: Globals
    target: Target
    partial: bool
    siblings: bool

    def served(
        self, function: FunctionSource, types: tuple[ParameterType, ...], program: ir.Program,
        planned: Plan,
    ) -> Made:  # fmt: skip
        """A form of the function, with the ranks and the axes of size 1 that its kernels serve."""
        schedules, alone = self.target.schedules, not may_vary(function)
        return Made(types, served(function, types, self.scope, program, planned, schedules, alone))

    def exact(self, function: FunctionSource, types: Sequence[ParameterType]) -> Made | None:
        """The form for these very types; None where they are refused."""
        found = exact(function, types, self.scope, self.partial, self.target.schedules)
        return None if found is None else self.served(function, *found)


@dataclass(frozen=True)
class _Again:
    """A form of a function, to convert it again for other types."""

    how: _How
    served: Served

    def program(
        self, function: FunctionSource, types: Sequence[ParameterType]
    ) -> ir.Program | None:
        """The array program for these types; None where they are refused."""
        how, made = self.how, self.served
        try:
            grow = not made.loose  # as `strides` builds what has them
            other = build(function, types, how.scope, how.partial, grow=grow, loose=made.names)
            # what serves broadcast axes is a private function
            return replace(other, name=made.program.name, docstring=made.program.docstring)
        except (Refusal, RecursionError):
            return None
        except Exception:
            if os.environ.get("PORTER_DEBUG"):
                raise
            return None  # an error of porter's own: the types that were asked for do without

    def planned(self, program: ir.Program) -> Plan:
        """The plan of such a program."""
        return self.served.again(program, self.how.target.schedules)

    def text(
        self, function: FunctionSource, types: Sequence[ParameterType]
    ) -> tuple[object, ...] | None:
        """What identifies the text for these types; None where they are refused."""
        program = self.program(function, types)
        if program is None:
            return None
        try:
            planned = self.planned(program)
            return function_text(planned, self.how.target).key()
        except (Refusal, RecursionError):
            return None
        except Exception:
            if os.environ.get("PORTER_DEBUG"):
                raise
            return None  # an error of porter's own: the types that were asked for do without


def _siblings(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan, text: FunctionText,
    again: _Again | None, kinds: Mapping[tuple[str, ...], tuple[str, ...]],
) -> tuple[tuple[tuple[str, str], ...], tuple[Sibling, ...]]:  # fmt: skip
    """The dtype of each array, and other dtypes that the very same text serves: those of the same
    kind, and those of `kinds`."""
    names = [p.name.value for p in parameters_of(function)]
    given = {
        n: planned.buffers[n].dtype.name
        for n, t in zip(names, types, strict=True)
        if t.ndim is not None
    }
    also: list[Sibling] = []
    served = [tuple(types)]
    for group in _groups(function, types, planned):
        members = [names.index(n) for n in group]
        own = types[members[0]].dtype
        if again is None or planned.buffers[names[members[0]]].dtype.var is None:
            continue
        for other in (*SIBLINGS[own.kind], *kinds.get(group, ())):
            if other == own.name:
                continue
            # beside every dtype of the other parameters: int8 and float32 give float32, but
            # int64 and float32 float64, and so do int8 and float64
            changed = [_with(t, members, other) for t in served if t[members[0]].dtype == own]
            if all(again.text(function, t) == text.key() for t in reversed(changed)):
                also.append(Sibling(changed[0], tuple(names[k] for k in members), other))
                served += changed
    return tuple(given.items()), tuple(also)


def _groups(
    function: FunctionSource, types: Sequence[ParameterType], planned: Plan
) -> tuple[tuple[str, ...], ...]:
    """The arrays that must have one dtype, the one first after which it is called."""
    groups: dict[str, list[str]] = {}
    for p, t in zip(parameters_of(function), types, strict=True):
        name = p.name.value
        if t.ndim is not None:
            groups.setdefault(planned.buffers[name].dtype.var or name, []).append(name)
    return tuple(tuple(sorted(g, key=lambda n: n != var)) for var, g in groups.items())


def _by_size(name: str) -> tuple[bool, int, str]:
    """Floats last, the widest one at the end."""
    return DType(name).kind in "fc", DType(name).itemsize, name


def _with(
    types: Sequence[ParameterType], members: Sequence[int], name: str
) -> tuple[ParameterType, ...]:
    return tuple(
        ParameterType(DType(name), t.ndim, t.given) if k in members else t
        for k, t in enumerate(types)
    )


__all__ = ["Converted", "Diagnostic", "convert_function", "front_end"]
