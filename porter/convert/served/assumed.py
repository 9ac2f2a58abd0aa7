"""Further types for what was only assumed: other ranks, and other values of optional arguments.

Nobody showed a call for them.  Forms are made for them where the first one leaves calls out that
the function itself accepts: texts that its body compares an argument with, an argument in place
of None, other axes, and two dimensions where nothing says that there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import libcst as cst

from porter.codegen.module.variants import least_ranks
from porter.dtypes.dtype import WEAK_FLOAT, DType
from porter.inference.docstrings import documented
from porter.inference.signature import decorator_signature
from porter.inference.types import WEAK, ParameterType, generator_of, literal_of, tuple_of
from porter.inference.usage import usage_of
from porter.resolve.attributes import parameters_of
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.source.module import FunctionSource
from porter.support.parsing import docstring_of, literal_value
from porter.support.reserved import given
from porter.syntax.nodes import calls_of_attribute, is_name, nodes_of

Types = tuple[ParameterType, ...]
#: functions whose second argument says into how many parts an array is cut
_SPLITS = ("array_split", "split", "hsplit", "vsplit")
#: axes that callers choose, the likeliest first
_AXES = (0, -1, 1)


def assumed_forms(
    function: FunctionSource, planned: Plan, done: Sequence[Types]
) -> Iterator[list[Types]]:
    """Types to try beside those that there are; of the alternatives in each list, one is enough."""
    if decorator_signature(function) is None:
        maker = _Maker(function, planned, done)
        yield from maker.ranks()
        yield from maker.values()
        yield from maker.flags()
        yield from maker.axes()


class _Maker:
    """Puts other types in place of the first ones, whose plan this is."""

    def __init__(self, function: FunctionSource, planned: Plan, done: Sequence[Types]) -> None:
        self.function, self.plan, self.done = function, planned, done
        self.types = done[0]
        self.names = [p.name.value for p in parameters_of(function)]
        self.defaults = [_constant(p.default) for p in parameters_of(function)]
        self.usage = usage_of(function)
        said = documented(docstring_of(function.node))
        self.said = [said.get(given(n)) for n in self.names]

    @cached_property
    def axes_of(self) -> list[int]:
        """The parameters that are axes."""
        return [k for k in range(len(self.types)) if self._is_axis(k)]

    @cached_property
    def factors(self) -> list[int]:
        """Those that are factors of a product of matrices."""
        return [k for k in range(len(self.types)) if self._is_factor(k)]

    @cached_property
    def open(self) -> list[int]:
        """The arrays whose one dimension is assumed."""
        return [k for k in range(len(self.types)) if self._is_open(k)]

    @cached_property
    def loose(self) -> list[int]:
        """Those of them whose other ranks are not served."""
        least = least_ranks(self.plan)
        return [k for k in self.open if least[k] is None]

    def ranks(self) -> Iterator[list[Types]]:
        """Numbers where the defaults are numbers; one dimension more where nothing says how many;
        a number for an array, or an array for a number, where both are as likely."""
        arrays = [k for k, t in enumerate(self.types) if t.ndim is not None]
        left_out = [k for k in arrays if self.plan.parameters[k].numeric]
        if left_out:  # all of them: a call leaves out as many as it likes
            yield [self._with(dict.fromkeys(left_out, ParameterType(WEAK_FLOAT, None)))]
        if self.loose:
            yield [self._raised(self.loose)]
        both = self.factors if len(self.factors) == 2 else []
        for k in both if set(both) <= set(self.loose) else ():
            yield [self._raised([k])]
        floats = [k for k in range(len(self.types)) if self._may_be_float(k)]
        if floats:
            yield [self._with(dict.fromkeys(floats, ParameterType(WEAK_FLOAT, None)))]
        for k, said in enumerate(self.said):
            if said is not None and said.also is not None and self.types[k].ndim is not None:
                yield [self._with({k: replace(self.types[k], ndim=said.also, source="docstring")})]
        if not is_elementwise(self.plan):
            return
        for k in arrays if self.plan.strict and len(arrays) > 1 else ():
            yield [self._with({k: ParameterType(WEAK_FLOAT, None)})]
        numbers = [k for k in range(len(self.types)) if self._may_be_array(k)]
        if numbers:
            yield [self._with(dict.fromkeys(numbers, ParameterType(DType("float64"), 1)))]

    def values(self) -> Iterator[list[Types]]:
        """Texts that the function asks for, arguments for None, other numbers in tuples."""
        tuples: dict[int, ParameterType] = {}
        absent: dict[int, ParameterType] = {}
        for k, default in enumerate(self.defaults):
            fixed = self._keeps_default(k)
            if isinstance(default, str) if fixed else self._may_be_text(k):
                for text in asked_for(self.function.node, self.names[k]):
                    if text != default:
                        yield [self._with({k: literal_of(text)})]
            elif not fixed:
                continue
            elif isinstance(default, tuple) and default and all(map(_is_number, default)):
                items = [WEAK["i" if isinstance(v, int) else "f"] for v in default]
                tuples[k] = tuple_of([ParameterType(t, None) for t in items])
            elif default is None and k not in self.axes_of:
                absent |= self._passed(k) or self._for_none(k)
        for k in [k for k in absent if self.usage[self.names[k]].generator]:
            yield [self._with({k: generator_of(self.usage[self.names[k]].generator)})]
            del absent[k]
        for k in [k for k in absent if self.usage[self.names[k]].seeds]:
            yield [self._with({k: generator_of("Generator")})]
        if absent:
            # a number that no float can be is an integer: the length of a transform
            counts = {k: replace(t, dtype=WEAK["i"]) if self._is_guessed(k, t) else t
                      for k, t in absent.items()}  # fmt: skip
            yield [self._with(absent), *([self._with(counts)] if counts != absent else [])]
        for k in absent if len(absent) > 1 else ():
            if not self._passed(k):
                yield [self._with({k: absent[k]})]
        if tuples:
            yield [self._with(tuples), *(self._with({k: t}) for k, t in tuples.items())]

    def axes(self) -> Iterator[list[Types]]:
        """Other axes than that of the default, beside two dimensions where that is open."""
        for k in self.axes_of:
            for axis in _AXES:
                if axis != self.defaults[k]:
                    raised = self._raised(self.open)
                    yield [(*raised[:k], literal_of(axis), *raised[k + 1 :])]

    def flags(self) -> Iterator[list[Types]]:
        """The other value of each bool beside two dimensions, where that is open."""
        for k, default in enumerate(self.defaults):
            if self.loose and isinstance(default, bool) and self._keeps_default(k):
                raised = self._raised(self.loose)
                yield [(*raised[:k], literal_of(not default), *raised[k + 1 :])]

    # -- one parameter -----------------------------------------------------------------------

    def _keeps_default(self, k: int) -> bool:
        """Whether the kernels were made for the default of a parameter."""
        return self.types[k].omitted and self.plan.parameters[k].fixed

    def _is_axis(self, k: int) -> bool:
        """Whether an integer decides about the program, or None is passed on as an axis."""
        default = self.defaults[k]
        whole = isinstance(default, int) and not isinstance(default, bool)
        passed = any(
            is_name(a.keyword, "axis") and is_name(a.value, self.names[k])
            for a in nodes_of(self.function.node.body, cst.Arg)
        )
        is_axis = whole or (default is None and passed)
        return is_axis and self._keeps_default(k) and not self._is_count(k)

    def _is_count(self, k: int) -> bool:
        """Whether an integer says how often a list is repeated, or how many parts there are."""
        name, body = self.names[k], self.function.node.body
        repeated = any(
            isinstance(o.operator, cst.Multiply)
            and isinstance(items, (cst.List, cst.Tuple)) and is_name(times, name)
            for o in nodes_of(body, cst.BinaryOperation)
            for items, times in ((o.left, o.right), (o.right, o.left))
        )  # fmt: skip
        return repeated or any(
            len(call.args) == 2 and is_name(call.args[1].value, name)
            for call in calls_of_attribute(body, *_SPLITS)
        )

    def _is_factor(self, k: int) -> bool:
        """Whether an array is multiplied by `a.dot(b)` or `@`."""
        name = self.names[k]
        return self.usage[name].arrays.in_product or any(
            is_name(n, name)
            for dot in calls_of_attribute(self.function.node.body, "dot")
            for n in nodes_of(dot, cst.Name)
        )

    def _passed(self, k: int) -> dict[int, ParameterType]:
        """The type of an argument in place of None that there is a form for."""
        done = (types[k] for types in self.done)
        found = [t for t in done if not (t.omitted or t.generator)]
        return dict.fromkeys([k], found[0]) if found else {}

    def _is_open(self, k: int) -> bool:
        """Whether the one dimension of an array is assumed."""
        t, said = self.types[k], self.said[k]
        told = t.given or t.traced or (said is not None and said.ndim is not None)
        # a product takes matrices and vectors, a function with an `axis` any number
        known = self.usage[self.names[k]].ndim > (1 if self.axes_of or k in self.factors else 0)
        return t.ndim == 1 and not told and not known

    def _for_none(self, k: int) -> dict[int, ParameterType]:
        """The type of an argument in place of None; empty where the docstring has another one."""
        if self.names[k] == self.function.into:
            return {k: ParameterType(DType(self.types[0].dtype.name), self.types[0].ndim)}
        said, use = self.said[k], self.usage[self.names[k]]
        array = use.arrays.seen if said is None else said.kind == "array"
        if array:
            ndim = (said and said.ndim) or max(use.ndim, 1)
            return {k: ParameterType(DType((said and said.dtype) or "float64"), ndim)}
        if said is not None and said.kind != "number":
            return {}
        whole = use.numbers.is_integer or (said is not None and said.dtype == "int64")
        return {k: ParameterType(WEAK["i" if whole else "f"], None)}

    def _is_guessed(self, k: int, t: ParameterType) -> bool:
        """Whether nothing says that a number in place of None is a float."""
        return t.ndim is None and t.dtype == WEAK_FLOAT and self.said[k] is None

    def _may_be_float(self, k: int) -> bool:
        """Whether the docstring says float where a caller passes an integer."""
        t, said = self.types[k], self.said[k]
        number = t.is_number and t.dtype.kind == "i" and not t.given
        told = said is not None and said.kind == "number" and said.dtype == "float64"
        return number and told and not self.plan.parameters[k].fixed

    def _may_be_text(self, k: int) -> bool:
        """Whether nothing says what a parameter is that must be passed."""
        t = self.types[k]
        return t.is_number and self.defaults[k] is ... and not t.given

    def _may_be_array(self, k: int) -> bool:
        """Whether nothing says that a number is one."""
        t, use = self.types[k], self.usage[self.names[k]].numbers
        told = t.given or t.traced or bool(t.source) or not t.is_number
        counted = use.is_number or use.is_integer or use.is_size or use.is_scalar or use.is_index
        parameter = self.plan.parameters[k]
        return (
            t.ndim is None and t.dtype.kind == "f" and parameter.default is None
            and not told and not counted and self.said[k] is None
        )  # fmt: skip

    def _with(self, others: dict[int, ParameterType]) -> Types:
        return tuple(others.get(k, t) for k, t in enumerate(self.types))

    def _raised(self, arrays: Sequence[int]) -> Types:
        more = {k: replace(self.types[k], ndim=(self.types[k].ndim or 0) + 1, source="")
                for k in arrays}  # fmt: skip
        return self._with(more)


def asked_for(node: cst.FunctionDef, name: str) -> list[str]:
    """The texts that a function compares a parameter with: `form == "a"`, `form in ("a", "b")`."""
    found: dict[str, None] = {}
    for c in nodes_of(node.body, cst.Comparison):
        target = c.comparisons[0]
        if len(c.comparisons) > 1 or not is_name(c.left, name):
            continue
        if isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.In, cst.NotIn)):
            value = _constant(target.comparator)
            values = value if isinstance(value, (tuple, list, set)) else [value]
            found |= dict.fromkeys(v for v in values if isinstance(v, str))
    return list(found)


def _constant(node: cst.BaseExpression | None) -> Any:
    """The value of a constant expression; Ellipsis for anything else."""
    if node is None:
        return ...
    try:
        return literal_value(cst.Module([]).code_for_node(node))
    except (ValueError, SyntaxError):
        return ...


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
