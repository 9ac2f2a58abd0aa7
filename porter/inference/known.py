"""Where the types of a function come from, where nobody gives them: its callers and its docstring.

They come before what the use of a parameter suggests.  Where they do not convert, use decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from weakref import WeakKeyDictionary

import libcst as cst

from porter.dtypes.dtype import KINDS, WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from porter.inference.call_sites import CallSite, Found, calls_from, own_calls
from porter.inference.docstrings import Documented, documented
from porter.inference.evidence import Usage
from porter.inference.types import OMITTED, ParameterType, literal_of, tuple_of
from porter.inference.values import Value, as_array
from porter.resolve.definitions import all_compiled
from porter.resolve.globals import globals_of
from porter.source.callers import callers_of, dotted_of
from porter.source.module import FunctionSource, SourceModule
from porter.support.parsing import docstring_of
from porter.support.reserved import given

_WEAK = {"i": WEAK_INT, "u": WEAK_INT, "f": WEAK_FLOAT, "c": WEAK_COMPLEX, "b": WEAK_BOOL}
_ORDER = "biufc"
#: the calls of a module's functions, found once
_calls: WeakKeyDictionary[SourceModule, Found] = WeakKeyDictionary()


@dataclass(frozen=True)
class Shown:
    """The types of one kind of call, and what it passes by the parameter's number."""

    types: tuple[ParameterType, ...]
    passed: Mapping[int, Value] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class Known:
    """Types that callers and the docstring show.

    `shown` are those of calls, the most frequent ones first, or the docstring's alone; `flat`
    has every array in one dimension: an elementwise function of these serves any number.
    """

    shown: tuple[Shown, ...] = ()
    flat: tuple[ParameterType, ...] | None = None

    @property
    def vectors(self) -> tuple[tuple[ParameterType, ...], ...]:
        """The types alone, each once."""
        return tuple(dict.fromkeys(s.types for s in self.shown))


def known_types(
    function: FunctionSource,
    params: Sequence[cst.Param],
    base: Sequence[ParameterType],
    usage: Mapping[str, Usage],
) -> Known:
    """What callers and the docstring say; `base` is what the function itself does."""
    if "." in function.name:
        return Known()
    said = documented(docstring_of(function.node))
    calls = calls_of(function)
    if not said and not calls:
        return Known()
    merger = _Merger(params, base, usage, said, calls)
    shown = merger.shown()
    if [s.types for s in shown] == [tuple(base)]:
        shown = ()
    return Known((*shown, *merger.optional()), merger.flat())


def calls_of(function: FunctionSource) -> list[CallSite]:
    """The calls of a function in its file, then those of the project's tests and examples."""
    module = function.module.shown
    found = _calls.get(module)
    if found is None:
        found = _calls[module] = _read(module)
    return found.calls.get(given(function.node.name.value), [])


def _read(module: SourceModule) -> Found:
    compiled = all_compiled(globals_of(module))
    names = {f.name for f in module.functions if "." not in f.name} | compiled.keys()
    callers = callers_of(module.path)
    dotted = _dotted(module.path)
    written = Counter(re.findall(r"(\w+)\(", module.whole))  # a definition is written so too
    called = {n for n in names if written[n] > 1}
    found = own_calls(module.whole, module.path, dotted, called) if called else Found()
    for caller in callers:
        wanted = {n for n in names if f"{n}(".encode() in caller.data}
        if wanted:
            calls_from(caller, dotted, wanted, found)
    for name, of in compiled.items():
        for call in found.calls.pop(name, ()):
            found.add(of, call)
    return found


def _dotted(path: str) -> tuple[str, ...]:
    return dotted_of(Path(path).absolute())


@dataclass
class _Merger:
    """Puts what is known of each parameter together."""

    params: Sequence[cst.Param]
    base: Sequence[ParameterType]
    usage: Mapping[str, Usage]
    said: Mapping[str, Documented]
    calls: Sequence[CallSite]
    values: dict[str, list[tuple[Value, CallSite]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [given(p.name.value) for p in self.params]
        for call in self.calls:
            for name, value in (call.arguments(names) or {}).items():
                if value is not None:
                    self.values.setdefault(name, []).append((value, call))

    def shown(self) -> tuple[Shown, ...]:
        """The types of each kind of call, the most frequent first."""
        names = [given(p.name.value) for p in self.params]
        documented = tuple(self._documented(k) for k in range(len(self.params)))
        counted: dict[object, int] = {}
        first: dict[object, Shown] = {}
        for call in self.calls:
            arguments = call.arguments(names)
            if arguments is None or not any(arguments.values()):
                continue
            types = tuple(
                self._called(k, arguments.get(n), call, documented[k])
                if n in arguments
                else self._left_out(k, documented[k])
                for k, n in enumerate(names)
            )
            passed = {k: v for k, n in enumerate(names) if (v := arguments.get(n)) is not None}
            bare = tuple(replace(t, source="", traced=False, given=False) for t in types)
            chosen = tuple((k, v.constant) for k, v in passed.items() if v.constant is not None)
            key = (bare, repr(chosen))
            first.setdefault(key, Shown(types, passed, call.shown))
            counted[bare] = counted.get(bare, 0) + 1
        if not first:
            return (Shown(documented),)
        # of those that are as frequent, the one that leaves most to its default
        order = sorted(first, key=lambda key: (-counted[key[0]], len(first[key].passed)))  # type: ignore[index]
        return tuple(first[key] for key in order)

    def optional(self) -> Iterator[Shown]:
        """What the docstring says of parameters that are None unless they are given."""
        for k, p in enumerate(self.params):
            said = self.said.get(given(p.name.value))
            if said is None or not isinstance(p.default, cst.Name) or p.default.value != "None":
                continue
            if said.kind == "number":
                made = ParameterType(_WEAK[KINDS[said.dtype]], None, source="docstring")
            elif said.kind == "array" and said.ndim is not None:
                made = ParameterType(DType(said.dtype or "float64"), said.ndim, source="docstring")
            else:
                continue
            types = [self._left_out(j, self._documented(j)) for j in range(len(self.params))]
            types[k] = made
            yield Shown(tuple(types), source="docstring")

    def flat(self) -> tuple[ParameterType, ...] | None:
        """Every array, and what may be one, in one dimension; None where there is none."""
        types = tuple(self._flat(k) for k in range(len(self.params)))
        arrays = [t for t in types if t.ndim is not None]
        return types if arrays and any(t.source for t in arrays) else None

    # -- one parameter -----------------------------------------------------------------------

    def _fixed(self, k: int) -> bool:
        """Whether a type is given in full, so that nothing else counts."""
        t = self.base[k]
        return t.given and t.ndim is not None

    def _left_out(self, k: int, documented: ParameterType) -> ParameterType:
        """The type of an argument that a call leaves to its default."""
        base = self.base[k]
        return base if base.omitted else documented

    def _documented(self, k: int) -> ParameterType:
        base, said = self.base[k], self.said.get(given(self.params[k].name.value))
        if said is None or self._fixed(k) or base.traced or base.omitted or base.items:
            return base
        if said.kind == "array":
            dtype = said.dtype or (base.dtype.name if base.ndim is not None else "float64")
            if base.ndim is not None and KINDS[dtype] == "f" and base.dtype.kind in "iub":
                dtype = base.dtype.name  # it is an index or a mask, whatever it is called
            ndim = said.ndim or max(base.ndim or 1, 1)
            same = base.ndim == ndim and base.dtype.name == dtype and said.ndim is None
            return base if same else ParameterType(DType(dtype), ndim, source="docstring")
        if said.kind == "number":
            return self._number(k, said.dtype, "docstring")
        return base

    def _number(self, k: int, dtype: str, source: str) -> ParameterType:
        """A scalar of a kind that the default and the use of the parameter agree with."""
        base, use = self.base[k], self.usage[self.params[k].name.value]
        kinds = [KINDS[dtype]]
        if base.ndim is None or use.default is not None:
            kinds.append((use.default or base.dtype).kind)
        counts = use.numbers.is_integer or use.numbers.is_index or use.numbers.has_bits
        kind = "i" if counts else max(kinds, key=_ORDER.index)
        if base.ndim is None and not base.given and use.default is None and not counts:
            kind = KINDS[dtype] if source == "docstring" else kind
        made = ParameterType(_WEAK[kind], None, source=source)
        return (
            base if replace(base, given=False, traced=False) == replace(made, source="") else made
        )

    def _called(
        self, k: int, value: Value | None, call: CallSite, documented: ParameterType
    ) -> ParameterType:
        base = self.base[k]
        if value is None or self._fixed(k):
            return documented
        if value.kind == "none":
            return self._none(k, call, documented)
        if value.kind == "sequence":
            return self._sequence(k, value, call, documented)
        if value.kind == "array" and value.ndim:
            return self._array(k, value.ndim, call)
        if value.kind not in ("array", "scalar"):
            return documented
        if base.omitted:
            return ParameterType(_WEAK[KINDS[value.dtype]], None, source=call.shown)
        use = self.usage[self.params[k].name.value]
        if base.items or (base.ndim is not None and use.is_certain):
            return documented
        return self._number(k, self._widest(k), call.shown)

    def _none(self, k: int, call: CallSite, documented: ParameterType) -> ParameterType:
        """None where it is the default, and where it is not."""
        match self.params[k].default:
            case None:
                return documented
            case cst.Name(value="None"):
                return OMITTED
        return literal_of(None, call.shown)

    def _sequence(
        self, k: int, value: Value, call: CallSite, documented: ParameterType
    ) -> ParameterType:
        base = self.base[k]
        scalars = [v for v in value.items if v is not None and v.kind == "scalar"]
        if base.items and len(scalars) == len(value.items) and not value.is_list:
            items = [ParameterType(_WEAK[KINDS[v.dtype]], None) for v in scalars]
            made = tuple_of(items) if items else base
            return base if made == base else replace(made, source=call.shown)
        whole = as_array(value)
        if whole is None or base.items or base.omitted or not whole.ndim:
            return documented
        if base.ndim is None and self.usage[self.params[k].name.value].numbers.is_number:
            return documented
        return self._array(k, whole.ndim, call)

    def _array(self, k: int, ndim: int, call: CallSite) -> ParameterType:
        return ParameterType(DType(self._dtype(k)), ndim, source=call.shown)

    def _widest(self, k: int) -> str:
        """The dtype of the scalars that are passed, of the highest kind among them."""
        numbers = [v for v, _ in self._shown(k) if v.kind in ("scalar", "array") and not v.ndim]
        kinds = [v.dtype for v in numbers]
        return max(kinds, key=lambda d: _ORDER.index(KINDS[d]), default="float64")

    def _dtype(self, k: int) -> str:
        """The dtype of an array: what is passed, if that is told; whole numbers are as good as
        floats where the function does not ask for them."""
        base = self.base[k]
        own = base.dtype.name if base.ndim is not None else "float64"
        if base.ndim is not None and base.dtype.name != "float64":
            return own
        arrays = [as_array(v) for v, _ in self._shown(k)]
        passed = {a.dtype for a in arrays if a is not None and a.ndim}
        kinds = {KINDS[d] for d in passed}
        if "c" in kinds:
            return "complex64" if passed == {"complex64"} else "complex128"
        if "f" in kinds:
            floats = {d for d in passed if KINDS[d] == "f"}
            return "float32" if floats == {"float32"} else own
        return passed.pop() if len(passed) == 1 and passed != {"int64"} else own

    def _shown(self, k: int) -> list[tuple[Value, CallSite]]:
        return self.values.get(given(self.params[k].name.value), [])

    def _flat(self, k: int) -> ParameterType:
        base, said = self.base[k], self.said.get(given(self.params[k].name.value))
        if self._fixed(k) or base.omitted or base.items:
            return base
        use = self.usage[self.params[k].name.value]
        arrays = [(v, c) for v, c in self._shown(k) if (a := as_array(v)) is not None and a.ndim]
        if use.numbers.is_number or use.numbers.is_integer:
            return self._documented(k)
        if arrays:
            return ParameterType(DType(self._dtype(k)), 1, source=arrays[0][1].shown)
        if said is not None and said.kind in ("any", "array"):
            return ParameterType(DType(said.dtype or self._dtype(k)), 1, source="docstring")
        shown = [(v, c) for v, c in self._shown(k) if v.kind in ("scalar", "array")]
        if base.ndim is not None:
            made = ParameterType(DType(self._dtype(k)), 1)
            scalar = said is not None and said.kind == "number"
            return replace(made, source=shown[0][1].shown) if shown and not scalar else made
        return self._number(k, self._widest(k), shown[0][1].shown) if shown else self._documented(k)


__all__ = ["Known", "calls_of", "known_types"]
