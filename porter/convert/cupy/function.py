"""One function to CuPy: its kernels' front end tells the types, its source is rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import libcst as cst

from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs
from porter.codegen.module.module import FunctionText, used_constants
from porter.codegen.module.names import free_names
from porter.convert.cupy.calls import Marks
from porter.convert.cupy.edges import Edges
from porter.convert.cupy.loops import Loops
from porter.convert.cupy.marks import Marker
from porter.convert.cupy.places import ARRAY, HOST, Places, Where, beyond, on_device
from porter.convert.cupy.seen import Seen
from porter.convert.cupy.writing import written
from porter.convert.function import Converted, convert_function
from porter.diagnostics import Refusal, refusal
from porter.inference.types import ParameterType
from porter.lowering.expressions.inline import statements_of
from porter.lowering.expressions.stencils import stencil_of
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.resolve.values import Function
from porter.schedule.overlap import overlaps
from porter.source.module import FunctionSource
from porter.target.base import Target

_MOST_HELPERS = 24


@dataclass(frozen=True)
class Rewritten(Converted):
    """A function whose source was rewritten; `loops` are the texts of its loops' kernels."""

    loops: tuple[FunctionText, ...] = ()

    @property
    def texts(self) -> list[FunctionText]:
        """The kernels of its loops, then its own text."""
        return [*self.loops, self.text]


def cupy_function(
    function: FunctionSource, signature: str | Sequence[str] | None, scope: Globals, target: Target
) -> Converted:
    """Rewrite one function. Raises Refusal with the diagnostic, UsageError for a bad signature."""
    try:
        return _rewritten(function, signature, scope, target)
    except Refusal as e:
        raise Refusal(e.diagnostic.at(function.module.path, function.name)) from None


def _rewritten(
    function: FunctionSource, signature: str | Sequence[str] | None, scope: Globals, target: Target
) -> Converted:
    found = _converted(function, signature, scope)
    seen = _seen(function, found.types, scope)
    rewriting = _Rewriting(function, scope, seen, frozenset(found.program.constants))
    if any(t.ndim == 0 for t in found.types):
        raise beyond(
            scope,
            function.node.name,
            "PRT806",
            f"`{function.name}` has a parameter that is an array of no dimensions",
            "pass a number",
        )
    given = [_place(t) for t in found.types]
    device, places = rewriting.function(function.node, tuple(given), main=True)
    if not any(map(on_device, (*places.names.values(), *given, places.result or HOST))):
        raise refusal("PRT909", f"`{function.name}` does not compute with arrays",
                      scope.module.span(function.node.name),
                      "call the function as it is, without converting it")  # fmt: skip
    needs = Needs(
        imports={"import cupy as cp", *rewriting.every.imports},
        helpers=set(rewriting.every.helpers),
    )
    order = [q.name for p in found.plan.parameters for q in (p.items or (p,))]
    texts = KernelTexts(found.plan.buffers, order, list(found.plan.constants), needs, target)
    returns = places.result is not None
    host = Edges(found.plan, texts, needs, target).around(device, returns)
    parts = (*rewriting.parts, host)
    constants = found.program.constants
    own = tuple(p.name for p in found.plan.parameters)
    text = FunctionText(
        found.plan.name,
        parts,
        (),
        needs,
        used_constants(constants, free_names("\n\n".join(parts))),
        found.plan.docstring,
        own,
        tuple(p.name for p in found.plan.parameters if p.fixed or p.items),
    )
    kept = {name: getattr(found, name) for name in Converted.__dataclass_fields__}
    taken = rewriting.every.dtypes
    kept |= {
        "blank": text, "variants": (), "beside": None, "raising": None, "host": None,
        "target": target, "without": (), "notes": rewriting.said(),
        "siblings": tuple(s for s in found.siblings if all(s.dtype in d for d in taken)),
    }  # fmt: skip
    return Rewritten(**kept, loops=tuple(rewriting.loops.texts))


def _converted(
    function: FunctionSource, signature: str | Sequence[str] | None, scope: Globals
) -> Converted:
    """The function as kernels: of several forms the first one."""
    if "." in function.name:
        raise beyond(
            scope,
            function.node.name,
            "PRT806",
            f"`{function.name}` is a method, which is not rewritten for CuPy",
            "make it a function of the arrays that it reads",
        )
    found = convert_function(function, signature, scope)
    if found.variants or found.host is not None:
        first = convert_function(function, found.signature, scope)
        found = replace(first, assumed=found.assumed, assumable=found.assumable)
    # the source stores into what it is given, which may be no copy then
    written = overlaps(found.plan).written
    read = [name for name, _ in found.own if name not in written]
    found = replace(found, conversions=found.conversions.among(read))
    if found.plan.states:
        raise refusal("PRT901", "only CUDA kernels draw random numbers",
                      scope.module.span(function.node.name),
                      "convert it with `--target cuda`")  # fmt: skip
    return found


def _seen(function: FunctionSource, types: Sequence[ParameterType], scope: Globals) -> Seen:
    """What the front end sees of a function of these types."""
    for grow in (False, True):
        seen = Seen()
        with suppress(Refusal):
            build(function, types, scope, False, grow, observer=seen)
            return seen
    build(function, types, scope, False, observer=Seen())
    raise AssertionError("the function has been built with these types")


def _place(t: ParameterType) -> Where:
    return HOST if t.ndim is None else ARRAY


@dataclass
class _Rewriting:
    """The texts of a function and of the helpers that it calls, on device arrays."""

    owner: FunctionSource
    scope: Globals
    seen: Seen
    constants: frozenset[str]
    parts: list[str] = field(default_factory=list)
    every: Marks = field(default_factory=Marks)  # what the marks of all functions need
    known: dict[tuple[cst.CSTNode, tuple[Where, ...]], tuple[str, Places]] = field(
        default_factory=dict
    )
    active: list[cst.CSTNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.owner.node.name.value
        self.loops = Loops(self.name, partial(_kernels, scope=self.scope))

    def function(
        self, node: cst.FunctionDef, given: tuple[Where, ...], main: bool = False
    ) -> tuple[str, Places]:
        """The name of a function for arguments in these places, once it is written."""
        key = (node, given)
        if key not in self.known:
            name = f"{self.name}_cupy" if main else self._helper_name(node)
            places = self.places(node, given)
            marker = Marker(places, partial(self.loops.outlined, places))
            marker.block(list(statements_of(node)))
            self.every.join(marker.marks)
            self.known[key] = (name, places)
            self.parts.append(written(self.scope.module, node, name, marker.marks, main))
        return self.known[key]

    def _helper_name(self, node: cst.FunctionDef) -> str:
        name = f"{self.name}_{node.name.value.strip('_')}"
        count = sum(known.startswith(name) for known, _ in self.known.values())
        return f"{name}{count + 1}" if count else name

    def places(self, node: cst.FunctionDef, given: tuple[Where, ...]) -> Places:
        """Where the values of a function are."""
        if stencil_of(self.scope, node) is not None:
            text = f"`{node.name.value}` is a stencil, which CuPy does not have"
            cure = "use --target cuda or --target loops"
            raise beyond(self.scope, node.name, "PRT806", text, cure)
        if node in self.active or len(self.known) > _MOST_HELPERS:
            raise beyond(
                self.scope,
                node.name,
                "PRT806",
                f"`{node.name.value}` is recursive",
                "write it as a loop",
            )
        self.active.append(node)
        try:
            names = [p.name.value for p in _parameters(node)]
            body = list(statements_of(node))
            return Places(self.scope, self.seen, body, dict(zip(names, given, strict=True)), self)
        finally:
            self.active.pop()

    # -- calls of helpers --------------------------------------------------------------------

    def result(self, places: Places, node: cst.Call, function: Function) -> Where:
        """Where the result of a helper is."""
        helper = self._node(node, function)
        return self.places(helper, self._given(places, node, helper)).result or HOST

    def named(self, places: Places, node: cst.Call, function: Function) -> str:
        """The name of a helper for the arguments of a call."""
        helper = self._node(node, function)
        return self.function(helper, self._given(places, node, helper))[0]

    def _node(self, node: cst.Call, function: Function) -> cst.FunctionDef:
        own = function.scope in (None, self.scope) and function.env is None
        if not own or not isinstance(function.node, cst.FunctionDef):
            raise beyond(
                self.scope,
                node,
                "PRT806",
                f"`{function.name}` is not rewritten for CuPy",
                "define it at the top of the same file",
            )
        return function.node

    def _given(self, places: Places, node: cst.Call, helper: cst.FunctionDef) -> tuple[Where, ...]:
        params = _parameters(helper)
        found: dict[str, Where] = {p.name.value: HOST for p in params}
        names = iter(found)
        for a in node.args:
            if a.star:
                raise beyond(self.scope, node, "PRT806", "unpacks arguments", "write them out")
            name = next(names) if a.keyword is None else a.keyword.value
            found[name] = places.of(a.value)
        return tuple(found.values())

    def said(self) -> tuple[str, ...]:
        """What CuPy has otherwise, with the lines."""
        return tuple(
            f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, sorted(lines)))}: {text}"
            for text, lines in sorted(self.every.notes.items(), key=lambda n: min(n[1]))
        )


def _parameters(node: cst.FunctionDef) -> list[cst.Param]:
    p = node.params
    return [*p.posonly_params, *p.params, *p.kwonly_params]


def _kernels(function: FunctionSource, types: str, *, scope: Globals) -> Sequence[FunctionText]:
    """The texts of a loop's kernels. Refuses what would stay on the host."""
    made = convert_function(function, types, scope)
    if made.program.kept:
        why = made.program.kept[0]
        raise beyond(scope, function.node, "PRT806", why.message, why.help)
    return made.texts
