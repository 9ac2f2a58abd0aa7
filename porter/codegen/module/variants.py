"""A host function that chooses among several: by the ranks and the values of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter.codegen.host.head import head, own_keywords
from porter.codegen.kernel.state import Needs
from porter.codegen.module.docstrings import placeholder
from porter.codegen.module.module import FunctionText, used_constants
from porter.codegen.module.names import free_names
from porter.codegen.style.atoms import in_fstring
from porter.dtypes.conversions import Conversions
from porter.dtypes.dtype import DType
from porter.ir import Parameter
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.support.reserved import given
from porter.target.base import Target
from porter.target.registry import CUDA

#: kinds of arrays that forms tell apart, the lowest first; `s` are floats of float32 alone
_KINDS = "bisfc"


@dataclass(frozen=True)
class Variant:
    """One of the private host functions, of what its arrays may be if that is known, and what
    it converts."""

    name: str
    plan: Plan
    dtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conversions: Conversions = Conversions()  # noqa: RUF009 (immutable)


def least_ranks(plan: Plan) -> tuple[int | None, ...]:
    """For each parameter, from how many dimensions on it takes any number; None if it does not."""
    if is_elementwise(plan):
        return tuple(None if p.ndim is None else 0 for p in plan.parameters)
    leading = plan.leading
    if leading is None:
        return (None,) * len(plan.parameters)
    return tuple(
        p.ndim - 1 + leading.least if p.ndim is not None and p.name in leading.arrays else None
        for p in plan.parameters
    )


@dataclass(frozen=True)
class _Case:
    """What a variant takes for a parameter: `what` is value, array, number, integer or tuple.

    An array has exactly `rank` dimensions, or `least` of them or more; a tuple has `rank` items.
    Arrays are of bools, integers (`bools` among them or not), floats or complex numbers, as `kind`
    says;
    `beside` others of a higher kind, a number of Python's in place of one counts as that.
    Of integers it has kernels (`own`), or converts them always (`any`) or beside numbers that are
    floats (`floats`), as `integers` says.
    """

    what: str
    value: str = ""
    rank: int | None = None
    least: int | None = None
    kind: str = ""
    bools: bool = False
    beside: str = ""
    integers: str = field(default="", compare=False)  # decides by the kinds of several arguments

    def test(self, name: str, others: Sequence[_Case], single: Sequence[str]) -> str:
        """When a variant is the one, as far as this parameter tells; '' for always.

        The arrays that are `single` with it are of float32, or one is and others are numbers."""
        if all(o == self for o in others):
            return ""
        if self.what == "value":
            return _equals(name, self.value)
        if self.what == "tuple":
            return f"isinstance({name}, (tuple, list)) and len({name}) == {self.rank}"
        if self.what == "generator":
            return f"isinstance({name}, np.random.{self.value})"
        tests = []
        if any(o.value == "None" for o in others):
            tests.append(f"{name} is not None")
        if self.what == "integer" and any(o.what == "number" for o in others):
            tests.append(f'np.asarray({name}).dtype.kind in "biu"')
        kinds = {o.kind for o in others if o.what == "array"}
        kind = f'_kind({name}, "{self.beside}")' if self.beside else f"_kind({name})"
        if self.what == "array" and self.kind == "b" and len(kinds) > 1:
            tests.append(f'{kind} == "b"')
        if self.what == "array" and self.kind == "i" and len(kinds) > 1:
            tests.append(f'{kind} in "{"b" * self.bools}iu"')
        if self.what == "array" and self.kind == "f" and "c" in kinds:
            tests.append(f'{kind} != "c"')
        if self.what == "array" and self.kind == "s" and kinds & {"f", "c"}:
            tests.append(f"_is_single({', '.join([name, *(n for n in single if n != name)])})")
        if any((o.rank, o.least) != (self.rank, self.least) for o in others if o.what != "value"):
            if self.rank is not None:
                tests.append(f"_rank({name}) == {self.rank}")
            elif self.least:
                tests.append(f"_rank({name}) >= {self.least}")
        return " and ".join(tests)

    @property
    def words(self) -> str:
        """What the parameter may be, for the error."""
        if self.what == "value":
            return in_fstring(self.value)
        if self.what == "tuple":
            return f"a tuple of {self.rank} numbers"
        if self.what == "generator":
            return f"a {self.value}"
        return {"number": "a number", "integer": "an integer"}.get(self.what, "an array")


def dispatcher(plan: Plan, variants: Sequence[Variant], target: Target = CUDA) -> FunctionText:
    """The public function: the first variant that takes the arguments, else an error that names
    the command that makes one."""
    needs = Needs(imports=set())
    needs.helpers |= {"_rank", "_command"}
    parameters = plan.parameters
    cases = _beside_others([[_case(v, k) for v in variants] for k in range(len(parameters))])
    differing = [k for k, row in enumerate(cases) if any(c != row[0] for c in row)]
    if any(map(_tells_kinds, cases)):
        needs.helpers.add("_kind")
        needs.helpers |= {"_beside"} if any(c.beside for row in cases for c in row) else set()
        needs.helpers |= (
            {"_is_single"} if any(c.kind == "s" for row in cases for c in row) else set()
        )
    draws = any(v.plan.states for v in variants)
    lines = _head(plan, target, draws)
    # what takes integers comes first, what takes any number of dimensions last
    order = sorted(range(len(variants)), key=lambda j: _breadth(cases, differing, j))
    taken = set[int]()  # the parameters whose None is dealt with
    for j in order:
        v = variants[j]
        single = [parameters[k].name for k in differing if cases[k][j].kind == "s"]
        told = {k: cases[k][j].test(parameters[k].name, _given(cases[k], k in taken), single)
                for k in differing}  # fmt: skip
        asked = [k for k, test in told.items() if test]
        if len(asked) == 1 and cases[asked[0]][j].value == "None":
            taken.add(asked[0])
        tests = [told[k] for k in asked]
        tests += _without_integers(parameters, cases, j, order[order.index(j) + 1 :])
        needs.helpers |= {"_kind"} if any("_kind(" in t for t in tests) else set()
        call = f"return {v.name}({_arguments(parameters, target, bool(v.plan.states))})"
        if not tests:
            lines.append(f"    {call}")
            break
        lines += [f"    if {' and '.join(tests)}:", f"        {call}"]
    else:
        for k in differing:
            lines += _refusal(parameters[k].name, cases[k])
        names = [given(parameters[k].name) for k in differing]
        lines += _together(plan, names, target) if len(names) > 1 else []
    own = tuple(p.name for p in parameters)
    values = [all(c.what in ("value", "tuple", "generator") for c in row) for row in cases]
    fixed = tuple(p for p, is_fixed in zip(own, values, strict=True) if is_fixed)
    return FunctionText(
        plan.name,
        ("\n".join(lines),),
        (),
        needs,
        _defaults(plan),
        plan.docstring,
        own,
        fixed,
        draws,
    )


def _given(row: Sequence[_Case], taken: bool) -> list[_Case]:
    """The cases of a parameter; without None, if an earlier form has it."""
    return [c for c in row if not (taken and c.value == "None")]


def _breadth(cases: Sequence[Sequence[_Case]], differing: Sequence[int], j: int) -> tuple[int, int]:
    """For how many parameters a variant takes what others take, too: arrays of another kind, then
    anything else."""
    found = wider = 0
    for row in (cases[k] for k in differing):
        own = _KINDS.find(row[j].kind)
        wider += sum(c.what == "array" and _KINDS.find(c.kind) < own for c in row)
        texts = any(c.what == "value" and c.value[0] in "'\"" for c in row)
        integers = any(c.what == "integer" for c in row)
        found += (
            row[j].least == 0
            or (texts and row[j].what != "value")
            or (integers and row[j].what == "number")
        )
    return wider, found


def _without_integers(
    parameters: Sequence[Parameter], cases: Sequence[Sequence[_Case]], j: int, later: Sequence[int]
) -> list[str]:
    """The test that leaves integers to a later form that has kernels for them, where this one, for
    numbers, would refuse them."""
    for i in later:
        numbers, floats, never = list[str](), list[str](), list[str]()
        for p, row in zip(parameters, cases, strict=True):
            if row[j].what == "number" and row[i].what == "array":
                numbers.append(p.name)
            if row[j].what == row[i].what == "array" and row[i].integers == "own":
                floats += [p.name] if row[j].integers == "floats" else []
                never += [p.name] if not row[j].integers else []
        if numbers and never:
            return [_are_no_integers(never)]
        if numbers and floats:
            return [f"({_are_no_integers(floats)} or {_are_no_integers(numbers)})"]
    return []


def _are_no_integers(names: Sequence[str]) -> str:
    """Whether none of some arguments is of bools or integers."""
    if len(names) == 1:
        return f'_kind({names[0]}) not in "biu"'
    return f'all(_kind(v) not in "biu" for v in ({", ".join(names)}))'


def _together(plan: Plan, names: Sequence[str], target: Target) -> list[str]:
    """The error where each argument is served, and no form serves all of them."""
    values = f"these values of {', '.join(names[:-1])} and {names[-1]} together"
    text = f"{given(plan.name)} has no {target.kernels} for {values}: {{_command()}}"
    return [f'    raise TypeError(f"{text}")']


def _case(v: Variant, k: int) -> _Case:
    p = v.plan.parameters[k]
    if p.generator:
        return _Case("generator", p.generator)
    if p.fixed:
        return _Case("value", p.only)
    if p.items:
        return _Case("tuple", rank=len(p.items))
    if p.ndim is None:
        return _Case("integer" if p.dtype.kind in "iu" else "number", rank=0)
    least = least_ranks(v.plan)[k]
    kind = "i" if p.dtype.kind == "u" else p.dtype.kind
    dtypes = v.dtypes.get(p.name, ())
    kind = "s" if "float32" in dtypes and "float64" not in dtypes else kind
    return _Case("array", rank=p.ndim if least is None else None, least=least, kind=kind,
                 bools="bool" in dtypes, integers=_integers(v, p))  # fmt: skip


def _integers(v: Variant, p: Parameter) -> str:
    """What a variant makes of integers in place of an array."""
    if p.dtype.kind in "iu" or any(DType(d).kind in "iu" for d in v.dtypes.get(p.name, ())):
        return "own"
    if p.name in v.conversions.integral:
        return "floats" if v.conversions.floats else "any"
    return ""


def _tells_kinds(row: Sequence[_Case]) -> bool:
    """Whether some variants take another kind of numbers for an array than others."""
    return len({c.kind for c in row if c.what == "array"}) > 1


def _beside_others(cases: Sequence[Sequence[_Case]]) -> list[list[_Case]]:
    """The same, told of which kind the highest of the other arrays is; a number counts as complex
    only where a form for complex numbers takes others."""

    def known(c: _Case, j: int, row: Sequence[_Case]) -> _Case:
        highest = max((other[j].kind for other in cases), key=_KINDS.find)
        if highest == "c" and not any(o.kind == "c" and o.integers for o in row):
            return c
        return replace(c, beside=highest) if _KINDS.find(highest) > _KINDS.find(c.kind) else c

    return [
        [known(c, j, row) if _tells_kinds(row) else c for j, c in enumerate(row)] for row in cases
    ]


def _equals(name: str, value: str) -> str:
    if value == "None":
        return f"{name} is None"
    if value.startswith("("):
        return f"isinstance({name}, tuple) and {name} == {value}"
    return f"_rank({name}) == 0 and {name} == {value}"


def _head(plan: Plan, target: Target, draws: bool) -> list[str]:
    positional, keywords = (
        [p.name if p.default is None else f"{p.name}={p.default}"
         for p in plan.parameters if p.keyword == keyword]
        for keyword in (False, True)
    )  # fmt: skip
    lines = [head(plan.name, positional, keywords, target, draws)]
    if plan.docstring is not None:
        lines.append(f'    """{placeholder(plan.name)}"""')
    return lines


def _arguments(parameters: Sequence[Parameter], target: Target, draws: bool) -> str:
    given_so = [f"{p.name}={p.name}" if p.keyword else p.name for p in parameters]
    return ", ".join([*given_so, *(f"{name}={name}" for name in own_keywords(target, draws))])


def _refusal(name: str, row: Sequence[_Case]) -> list[str]:
    """The error for a value or a rank that no variant takes, with the command that makes one."""
    shown = given(name)
    values = list(dict.fromkeys(c.words for c in row))
    ranks = sorted({c.rank for c in row if c.rank is not None and c.what != "tuple"})
    least = min((c.least for c in row if c.least is not None), default=None)
    lines: list[str] = []
    if ranks and least != 0 and len({(c.rank, c.least) for c in row}) > 1:
        exact = [r for r in ranks if least is None or r < least]
        takes = _listed([*map(str, exact), *([f"{least} or more"] if least else [])])
        tests = [f"_rank({name}) not in {tuple(exact)}"] if exact else []
        tests += [f"_rank({name}) < {least}"] if least else []
        where = "" if len(values) == 1 else f"{name} is not None and "
        lines += [
            f"    if {where}{' and '.join(tests)}:",
            f'        raise ValueError(f"{shown} has {{_rank({name})}} dimensions instead of '
            f'{takes}: {{_command()}}")',
        ]
    if any(c.what == "value" for c in row):
        others = [c for c in row if c.what != "value"]
        tests = [_equals(name, c.value) for c in row if c.what == "value"]
        tests = [f"({t})" if " and " in t else t for t in dict.fromkeys(tests)]
        if not others:
            lines += [
                f"    if not ({' or '.join(tests)}):",
                f'        raise TypeError(f"{shown} must be {_listed(values)}: {{_command()}}")',
            ]
    return lines


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _defaults(plan: Plan) -> dict[str, str]:
    """The constants of the module that the defaults are made of."""
    text = "\n".join(p.default for p in plan.parameters if p.default is not None)
    return used_constants(plan.constants, free_names(text))
