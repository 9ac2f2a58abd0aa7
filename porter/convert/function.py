"""One function to the text of its kernels: candidates, front end, plan, code generation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from porter import ir
from porter.codegen.module.as_ufunc import AsUfunc, as_ufunc
from porter.codegen.module.host_form import HostForm, with_host_form
from porter.codegen.module.marks import (
    DOUBLED,
    FLOATS,
    dtypes_of,
    plain_of,
    real_of,
    refused_of,
    rule_of,
    with_signatures,
)
from porter.codegen.module.module import FunctionText, function_text
from porter.codegen.module.variants import Variant, dispatcher
from porter.convert.accepting import accepted_by
from porter.convert.again import How
from porter.convert.attempt import (
    assumable,
    assumptions,
    differing,
    for_elements,
    front_end,
    method_apart,
    serial,
)
from porter.convert.casts import OUT, Casts, as_ufunc_of, casts_of
from porter.convert.parts import for_parts, lines_of, signatures_of, with_out
from porter.convert.reduction import for_reduction
from porter.convert.served.complexes import doublings
from porter.convert.served.numbers import reals
from porter.convert.served.numbers_alone import host_form
from porter.convert.served.other_dtypes import forms_of_dtypes, integer_form, spelled
from porter.convert.served.siblings import Sibling, by_size, narrow_texts, take_float64
from porter.convert.served.strides import Served, broadcast_name
from porter.convert.served.strong import reached, refusals
from porter.convert.served.variants import (
    MOST_ASSUMED,
    Made,
    may_vary,
    other_forms,
    private_names,
    refused_arrays,
)
from porter.diagnostics import Diagnostic, Refusal
from porter.dtypes.conversions import Conversions, shared
from porter.dtypes.dtype import DType
from porter.inference.signature import decorator_signature, ufunc_signatures
from porter.inference.types import ParameterType
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import Globals
from porter.schedule.nodes import Plan, items_of
from porter.schedule.overlap import overlaps
from porter.source.module import FunctionSource
from porter.target.base import Target
from porter.target.registry import CUDA


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
    # parameters with which arrays were tried, of so many dimensions, and do not convert
    refused: Mapping[int, int] = field(default_factory=dict)
    variants: tuple[Converted, ...] = ()
    beside: Converted | None = None
    raising: FunctionText | None = None  # the text without what is beside it
    host: HostForm | None = None  # what calls without arrays get
    target: Target = CUDA
    notes: tuple[str, ...] = ()  # what the target has otherwise than NumPy
    parts: tuple[str, ...] = ()  # of parts of arrays: the layout with each signature
    casts: Casts | None = None  # what a decorator states
    called: AsUfunc | None = None  # how the function itself is called, as a ufunc

    @property
    def text(self) -> FunctionText:
        """The text of the function itself."""
        parts = self.variants
        forms = [Variant(v.plan.name, v.plan, v._allowed(), v.conversions) for v in parts]
        own = dispatcher(self.plan, forms, self.target) if forms else self._filled()
        if self.host is not None:
            own = with_host_form(own, self.host, self.plan.parameters)
        return own if self.called is None else as_ufunc(own, self.called, device=self.target.device)

    @property
    def texts(self) -> list[FunctionText]:
        """The texts of all its forms, then its own."""
        plans = reached([v.plan for v in self.variants])
        forms = tuple(replace(v, plan=p) for v, p in zip(self.variants, plans, strict=True))
        parts = forms or ((self.beside,) if self.beside else ())
        private = (replace(t, fixed=None) for part in parts for t in part.texts)
        return [*private, self.text]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all kernels."""
        return tuple(k for t in self.texts for k in t.kernels)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said of launches and chunks, form by form where they differ."""
        forms = self.variants or (self,)
        several = len({f.blank.remarks for f in forms}) > 1
        return tuple(dict.fromkeys(
            f"for ({f.signature}): {r}" if several else r for f in forms for r in f.blank.remarks
        ))  # fmt: skip

    def _kind_of(self, number: str) -> str:
        """The argument that says of which kind a number must be, if another changes dtypes."""
        kinds = {q.name: q.dtype.kind for p in self.program.parameters for q in (p, *p.items)}
        word = "complex" if kinds[number] == "c" else "float"
        return f', real="{word}"' if number in self.reals else ""

    def _filled(self) -> FunctionText:
        """The text, with the dtypes that each array may have."""
        allowed = self._allowed()
        filled = narrow_texts(self.siblings, allowed)
        helpers = {*self.blank.needs.helpers, *(["_narrow"] if filled else [])}
        needs = replace(self.blank.needs, helpers=helpers)
        filled |= {dtypes_of(n): " ".join(sorted(d, key=by_size)) for n, d in allowed.items()}
        if self.conversions:
            needs = replace(needs, helpers={*needs.helpers, "_float64"})
        for name in self.conversions.complexes:
            needs = replace(needs, helpers={*needs.helpers, "_complex128"})
            filled[dtypes_of(name)] += f'", "{self.conversions.word}'
        helpers = self._group_rules(allowed, filled)
        needs = replace(needs, helpers={*needs.helpers, *helpers})
        filled[FLOATS] = ", floats=True" if self.conversions.floats else ""
        lines = {"_has_single": refusals(self.plan, allowed, self.conversions),
                 "_doubled": doublings(self.program.parameters, self.conversions)}  # fmt: skip
        filled[DOUBLED] = "".join(lines.values())
        needs = replace(needs, helpers={*needs.helpers, *(h for h, text in lines.items() if text)})
        named = self._served_as_integers
        # what a loop makes of integers is not refused
        filled |= dict.fromkeys(map(plain_of, self.plan.numbers.counted), "")
        for names in self.plan.numbers.python:
            filled[plain_of(names)] = f', names="{" ".join(names)}"' if named else ""
        if named and "_plain" in needs.helpers:
            needs = replace(needs, helpers={*needs.helpers, "_no_integers"})
        for k, p in enumerate(self.program.parameters):
            rank = self.refused.get(k)
            filled[refused_of(p.name)] = "" if rank is None else f"'{p.name}', {rank}"
            if rank is not None and p.fixed:
                needs = replace(needs, helpers={*needs.helpers, "_refused"})
        numbers = [q.name for p in self.program.parameters for q in (p, *p.items)]
        filled |= {real_of(n): self._kind_of(n) for n in numbers}
        if self.reals:
            needs = replace(needs, helpers={*needs.helpers, "_real"})
        parts = tuple(_filled(part, filled) for part in self.blank.parts)
        if self.target.elements:
            every = self._each_dtype(allowed)
            parts = tuple(with_signatures(part, every) for part in parts)
        return replace(self.blank, parts=parts, needs=needs)

    def _group_rules(
        self, allowed: Mapping[str, Sequence[str]], filled: dict[str, str]
    ) -> set[str]:
        """Fill in what the checks are told of arrays that must have one dtype; their helpers."""
        helpers = set[str]()
        for group in self.groups:
            kept = [d for d in allowed[group[0]] if DType(d).kind in "biu"] if group[1:] else []
            if kept and self.conversions:
                helpers.add("_kept")
            rule = self.conversions.words(group, kept)
            if self.conversions.some and " beside : " in rule:
                helpers |= {"_kept", "_all_integers"}
            for name in set(group) & {*self.conversions.names, *dict(self.conversions.lone)}:
                # of arrays that meet, the dtypes of all decide
                filled[dtypes_of(name)] += (
                    f'", "{self._converts(rule if len(group) == 1 else "together")}'
                )
            said = f', rule="{rule}"' if rule else ""
            if self.conversions.met and tuple(group) in self.conversions.mixed:
                others = replace(self.conversions, mixed=()).words(group, kept)
                said += f' if {self.conversions.met} else "{others}"'
            if tuple(group) in self.conversions.wider:
                helpers.add("_wider")
                said = ", wider=True"
            for key, words in (self._meeting(group) if rule else {}).items():
                helpers.add(f"_{key}")
                said += f', {key}="{words}"'
            filled[rule_of(group[0])] = said
        return helpers

    def _converts(self, rule: str) -> str:
        """The rest of the argument that says what is converted of an array, and where."""
        where = self.conversions.where
        return f'{rule}" if {where} else "' if where else rule

    def _meeting(self, group: Sequence[str]) -> dict[str, str]:
        """What the check of arrays that meet is told of some of them."""
        known = self.conversions
        stored = overlaps(self.plan).written if tuple(group) in known.mixed else ()
        found = {"lone": known.lone_words(group), "rounded": known.rounded_words(group)}
        found["stored"] = " ".join(n for n in group if n in stored)
        return {key: text for key, text in found.items() if text}

    @property
    def _served_as_integers(self) -> bool:
        """Whether kernels for floats serve arrays of integers, too.

        Python's integers have no bounds: they are no elements of such arrays.
        """
        own = dict(self.own)
        return any(
            DType(own[s.names[0]]).kind == "f" and DType(s.dtype).kind in "biu"
            for s in self.siblings
        )

    @property
    def takes_integers(self) -> bool:
        """Whether integers may be given for all arrays, of Python's of any size."""
        if self._served_as_integers and any(self.plan.numbers.python):
            return False
        known, allowed = self.conversions, self._allowed()
        converted = () if known.some or known.floats or known.where else known.names
        whole = known.complexes if known.whole else ()
        return all("int64" in allowed[n] or n in converted or n in whole for n in allowed)

    def _allowed(self) -> dict[str, list[str]]:
        """The dtypes that each array may have."""
        allowed = {name: [dtype] for name, dtype in self.own}
        for sibling in (s for s in self.siblings if not s.narrow):
            for name in sibling.names:
                allowed[name].append(sibling.dtype)
        return allowed

    @property
    def keyword(self) -> str:
        """Its first argument that the original does not have, where none takes a stream."""
        stores = self.called is not None and self.called.stores
        return OUT if stores and not self.target.device else ""

    @property
    def stated(self) -> tuple[str, ...]:
        """Those that its decorator states, to which arguments are cast."""
        return () if self.casts is None else self.casts.lines

    @property
    def elements(self) -> tuple[str, ...]:
        """The signatures of a function of numbers, as the header has them."""
        if self.stated:
            return ()
        forms = self.variants or (self,)
        found = (s for form in forms if form.plan.per_element for s in form._element_types())
        return tuple(dict.fromkeys(found))

    def _element_types(self) -> Iterator[str]:
        results = [
            self.plan.buffers[v].dtype
            for item in items_of(self.plan.items) if isinstance(item, ir.Return)
            for v in item.values if isinstance(v, str)
        ]  # fmt: skip
        for known in self._each_dtype(self._allowed()):
            made = " ".join(known[d.var] if d.var else d.name for d in results)
            parameters = self.program.parameters
            yield f"{made}({', '.join(known.get(p.name, p.dtype.name) for p in parameters)})"

    def _each_dtype(self, allowed: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
        """The dtypes of all arrays together, for each call that they allow."""
        each = [sorted(allowed[group[0]], key=by_size) for group in self.groups]
        return [
            {n: dtype for group, dtype in zip(self.groups, dtypes, strict=True) for n in group}
            for dtypes in product(*each)
        ]

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
        known = self.conversions if take_float64(self.own, left) else Conversions()
        return replace(
            self, siblings=left, without=without, variants=kept, host=host, conversions=known
        )

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

    def converts_beside(self, first: Converted) -> tuple[str, ...]:
        """What the header says of this form's conversions, where they are not the first one's."""
        known = first.conversions.among([name for name, _ in self.own])
        return () if self.conversions == known else self.conversions.lines() or ("nothing",)

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
        function = with_out(for_parts(function, scope), scope)
        function, scope = for_reduction(function, scope)
        if target.elements and function.parts is None:
            function = for_elements(function, scope, target.schedules)
        casts = casts_of(function, given_types)
        given_types = given_types or signatures_of(function) or ufunc_signatures(function)
        first = given_types[0] if given_types else None
        types, program, planned = front_end(function, first, scope, target.schedules)
        target.check(planned)
        how = How(scope, target, bool(program.kept), siblings, casts)
        made = how.served(function, types, program, planned)
        converted = _converted(function, made, how, given_types is not None)
        if not may_vary(function, target):
            return _called(function, converted)
        return _called(function, _varied(function, (made, converted), given_types, how))
    except Refusal as e:
        raise Refusal(e.diagnostic.at(function.module.path, function.name)) from None


def _varied(
    function: FunctionSource, first: tuple[Made, Converted], given: Sequence[str] | None, how: How
) -> Converted:
    """The function with all its forms, and with the one on the host."""
    made, converted = first
    forms = [first]

    def attempt(types: Sequence[ParameterType], idle: bool = False) -> Made | None:
        return spelled(how.exact(function, types, idle), made)

    def convert(form: Made) -> tuple[Made, Converted]:
        return form, _converted(function, form, how, True)

    none = dict[int, int]()
    if given is None or len(given) > 1:
        refused: list[tuple[ParameterType, ...]] = []
        others = list(other_forms(function, made, given, attempt, refused))
        if given is None and len(others) + 1 < MOST_ASSUMED:
            known = converted.conversions, converted.siblings
            others += integer_form(function, made, *known, how.scope, attempt)
        none = dict(refused_arrays([m.types for m in (made, *others)], refused))
        forms += map(convert, others)
    whole = None
    if how.target.tells_dtypes and decorator_signature(function) is None:
        asked = partial(attempt, idle=True)
        forms = forms_of_dtypes(forms, asked, convert) if how.siblings else forms
        whole = any(form.takes_integers for _, form in forms)
    host = host_form(function, [m for m, _ in forms], given, how.scope, how.partial, whole)
    converted = replace(converted, refused=none)
    converted = _with_forms(function, [(made, converted), *forms[1:]], how)
    return replace(converted, host=host)


def _called(function: FunctionSource, converted: Converted) -> Converted:
    """The same, called as a ufunc where the module has ufuncs."""
    if not converted.target.elements:
        return converted
    plans = [form.plan for form in converted.variants or (converted,)]
    called = as_ufunc_of(function, plans, converted.casts, converted.program.around)
    return replace(converted, called=called)


def _converted(function: FunctionSource, made: Made, how: How, told: bool) -> Converted:
    """One form of a function, as if it were the only one."""
    types, program, planned = made.types, made.program, made.plan
    text = function_text(planned, how.target)
    takes = accepted_by(function, made, how, text)
    return Converted(
        function.name, types,
        (*assumptions(function, types, "" if told else None), *program.assumed, *serial(planned)),
        program, planned,
        text, function.module.path, takes.own, takes.siblings,
        reals=() if takes.question is None else reals(takes.question),
        assumable=assumable(function, types), groups=takes.groups, conversions=takes.conversions,
        beside=None if made.served.beside is None
        else _converted(function, Made(types, made.served.beside), how, True),
        raising=how.raising(planned), target=how.target, parts=lines_of(function),
        casts=how.casts, notes=planned.remarks,
    )  # fmt: skip


def _with_forms(
    function: FunctionSource, made_of: Sequence[tuple[Made, Converted]], how: How
) -> Converted:
    """The function with all its forms, if there are several."""
    first = made_of[0][1]
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
    return replace(first, variants=tuple(parts))


def _named(one: Converted, made: Served, program: ir.Program, how: How) -> Converted:
    """The same under the name of a program."""
    private = made.again(program, how.target.schedules)
    text, raising = function_text(private, how.target), how.raising(private)
    return replace(one, plan=private, blank=text, raising=raising)


def _converts_alike(first: Converted, one: Converted) -> bool:
    """Whether the first form still converts what it does, beside another one."""
    both = shared([(c.conversions, c.floats) for c in (first, one)])
    wanted, written = first.conversions, overlaps(first.plan).written
    names = tuple(n for n in wanted.names if n not in written)
    wanted = replace(wanted, names=names, lone=(), doubled=(), wider=(), rounded=both.rounded)
    return wanted.only(both) == wanted


def _filled(part: str, texts: dict[str, str]) -> str:
    for mark, text in texts.items():
        part = part.replace(mark, text)
    return part


__all__ = ["Converted", "Diagnostic", "convert_function", "front_end"]
