"""A function that `@guvectorize` decorates: it is called for parts of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from porter.diagnostics import Refusal, UsageError, refusal
from porter.dtypes.dtype import DType
from porter.inference.types import ParameterType, parse_signature
from porter.lowering.expressions.stencils import stencil_of
from porter.resolve.attributes import parameters_of
from porter.resolve.definitions import check_function
from porter.resolve.globals import Globals
from porter.resolve.gufuncs import Stated, gufunc_of
from porter.source.layout import Layout, Parts
from porter.source.module import FunctionSource

_TYPES_CURE = "give `@guvectorize` signatures such as `void(float64[:], float64[:])`"


def for_parts(function: FunctionSource, scope: Globals) -> FunctionSource:
    """The function with what is stated of its parts, and with its inputs as parameters.

    One that is not decorated so is left as it is.
    """
    stated = gufunc_of(function, scope)
    if stated is None:
        return function
    check_function(scope, function.node, top=True)
    layout = _layout(function, stated)
    names = [p.name.value for p in parameters_of(function)]
    types = tuple(_types(function, stated, layout, text) for text in stated.signatures)
    if not types:
        raise _refused(function, stated, "PRT907", "has no signatures: the dtypes of its results "
                       "are not known", _TYPES_CURE)  # fmt: skip
    span = function.module.span(stated.node)
    parts = Parts(layout, types, tuple(names[layout.inputs :]), span)
    return replace(function, node=_with_inputs(function, layout.inputs), parts=parts)


def with_out(function: FunctionSource, scope: Globals) -> FunctionSource:
    """A stencil with the parameter `out` that Numba gives it; any other function as it is."""
    if stencil_of(scope, function.node) is None:
        return function
    params = function.node.params
    if any(p.name.value == "out" for p in parameters_of(function)):
        raise refusal("PRT902", f"`{function.name}` has a parameter `out`, which Numba adds itself",
                      function.module.span(function.node.name), "rename it")  # fmt: skip
    out = cst.Param(cst.Name("out"), default=cst.Name("None"))
    new = function.node.with_changes(
        params=params.with_changes(
            kwonly_params=[*params.kwonly_params, out], star_arg=cst.ParamStar()
        )
    )
    function.module.put(new, function.node)
    function.module.put(out, function.node.name)
    return replace(function, node=new, into=out.name.value)


def signatures_of(function: FunctionSource) -> tuple[str, ...] | None:
    """The types of the inputs with one more axis, which is looped over, for each signature."""
    if function.parts is None:
        return None
    layout = function.parts.layout
    cores = layout.arrays[: layout.inputs]
    texts = []
    for types in function.parts.types:
        dtypes = [d.replace("bool", "boolean") for d, _ in types[: layout.inputs]]
        axes = [", ".join(":" * (len(core) + 1)) for core in cores]
        texts.append(", ".join(f"{d}[{a}]" for d, a in zip(dtypes, axes, strict=True)))
    return tuple(dict.fromkeys(texts))


def lines_of(function: FunctionSource) -> tuple[str, ...]:
    """What the header says of the parts: the layout with each signature."""
    if function.parts is None:
        return ()
    return tuple(
        f"{function.parts.layout} {', '.join(str(_type(d, rank)) for d, rank in types)}"
        for types in function.parts.types
    )


def _type(dtype: str, rank: int) -> ParameterType:
    return ParameterType(DType(dtype), rank or None)


def _layout(function: FunctionSource, stated: Stated) -> Layout:
    """The layout, if it fits the parameters."""
    own, count = stated.layout, len(parameters_of(function))
    if own is None:
        raise _refused(function, stated, "PRT803", "has no layout that can be read",
                       "write it as a text, such as `\"(n),(n)->()\"`")  # fmt: skip
    if count not in (len(own.arrays), own.inputs):
        text = f"has {count} parameters, its layout `{own}` {len(own.arrays)} arrays"
        raise _refused(function, stated, "PRT803", text,
                       "give every parameter its entry, outputs after the arrow")  # fmt: skip
    if own.undefined:
        text = f"has `{own.undefined[0]}` in an output only"
        raise _refused(function, stated, "PRT803", text,
                       "take the size of every output from an input")  # fmt: skip
    if not own.inputs:
        raise _refused(function, stated, "PRT806", "has no input", "give it an argument")
    return own


def _types(
    function: FunctionSource, stated: Stated, layout: Layout, text: str
) -> tuple[tuple[str, int], ...]:
    """The dtype and the dimensions of every array in a signature."""
    try:
        types = parse_signature(text)
        result = text.partition("(")[0].strip(" \"'")
        if len(types) == layout.inputs and result not in ("", "void", "none"):
            # one that returns, as `@vectorize` has it
            types += parse_signature(result)
    except (UsageError, ValueError) as e:
        raise _refused(function, stated, "PRT907", f"has types that cannot be read: {e}",
                       _TYPES_CURE) from None  # fmt: skip
    if len(types) != len(layout.arrays):
        what = f"has {len(types)} types in `{text}`, its layout has {len(layout.arrays)} arrays"
        raise _refused(function, stated, "PRT803", what,
                       "give every parameter its type, outputs included")  # fmt: skip
    for t, core in zip(types, layout.arrays, strict=True):
        if not _fits(t, core):
            what = f"has the type `{t}` for `({','.join(core)})` of its layout"
            raise _refused(function, stated, "PRT803", what,
                           "give both the same number of dimensions")  # fmt: skip
    return tuple((t.dtype.name, t.ndim or 0) for t in types)


def _fits(t: ParameterType, core: Sequence[str]) -> bool:
    """Whether a type is that of a part: of a number an array of one element may stand for it."""
    plain = t.is_number or t.ndim is not None
    return plain and ((t.ndim or 0) == len(core) or (not core and t.ndim == 1))


def _with_inputs(function: FunctionSource, inputs: int) -> cst.FunctionDef:
    """The definition without the parameters that results are stored into."""
    node = function.node
    params = node.params
    own = [*params.posonly_params, *params.params]
    kept = {id(p) for p in own[:inputs]}
    new = node.with_changes(
        params=params.with_changes(
            params=[p for p in params.params if id(p) in kept],
            posonly_params=[p for p in params.posonly_params if id(p) in kept],
        )
    )
    function.module.put(new, node)
    return new


def _refused(function: FunctionSource, stated: Stated, code: str, what: str, cure: str) -> Refusal:
    span = function.module.span(stated.node)
    return refusal(code, f"`{function.name}` {what}", span, cure)
