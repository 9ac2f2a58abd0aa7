"""The types of a function's parameters: given, hinted, or inferred from use."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from porter.diagnostics import UsageError
from porter.dtypes.dtype import WEAK_FLOAT, WEAK_INT, DType
from porter.inference.evidence import MASK, PICTURE, STEP, Usage
from porter.inference.known import Shown, known_types
from porter.inference.tuples import tuple_lengths
from porter.inference.types import (
    OMITTED,
    SHORT,
    WEAK,
    ParameterType,
    generator_of,
    parse_signature,
    tuple_of,
)
from porter.inference.usage import usage_of
from porter.resolve.attributes import parameters_of
from porter.resolve.globals import dtype_named, globals_of
from porter.source.module import FunctionSource
from porter.support.parsing import expression_of, string_value
from porter.support.reserved import ATTRIBUTE_PREFIX


def hint_of(
    annotation: cst.Annotation | None, aliases: dict[str, str] | None = None
) -> tuple[DType | None, str]:
    """(dtype, "array", "scalar" or "") that a type hint says; aliases are looked up."""
    if annotation is None:
        return None, ""
    code = cst.Module([]).code_for_node(annotation.annotation).strip()
    code = (aliases or {}).get(code.strip("\"'"), code)
    try:
        tree = expression_of(code.strip().strip("\"'"))
    except SyntaxError:
        return None, ""
    names = [n for n in _names(tree)]
    arrays = {"NDArray", "ndarray", "ArrayLike", "Array", "Float", "Int"}
    dtype = next((d for n in names if (d := dtype_named(SHORT.get(n, n)))), None)
    if arrays & set(names):
        return dtype if names[0] != "float" else None, "array"
    if names and names[0] in ("float", "int", "bool", "complex"):
        return WEAK[dtype.kind] if dtype else None, "scalar"
    return None, ""


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def decorator_signature(function: FunctionSource) -> str | None:
    """The explicit signature of a Numba decorator, if it has one."""
    for decorator in function.node.decorators:
        call = decorator.decorator
        if isinstance(call, cst.Call) and call.args:
            text = _signature_text(function, call.args[0].value)
            if text is not None and (_is_numbas(function, call) or _is_signature(text)):
                return text
    return None


def ufunc_signatures(function: FunctionSource) -> tuple[str, ...] | None:
    """All signatures of a ufunc's decorator; None where it has none."""
    if not function.per_element:
        return None
    for decorator in function.node.decorators:
        call = decorator.decorator
        given = call.args[0].value if isinstance(call, cst.Call) and call.args else None
        if isinstance(given, (cst.List, cst.Tuple)):
            texts = [_signature_text(function, e.value) for e in given.elements]
            known = tuple(t for t in texts if t is not None)
            return known if len(known) == len(texts) > 0 else None
    return None


def _is_numbas(function: FunctionSource, call: cst.Call) -> bool:
    """Whether a decorator's name is one that Numba's have."""
    return function.module.code(call.func).endswith(("jit", "vectorize", "cfunc", "stencil"))


def _is_signature(text: str) -> bool:
    # other decorators take texts with brackets in them too
    try:
        return bool(parse_signature(text))
    except (UsageError, ValueError):
        return False


def _signature_text(function: FunctionSource, node: cst.BaseExpression) -> str | None:
    """A string, a type called with types, or the first of a list of those."""
    if isinstance(node, (cst.List, cst.Tuple)) and node.elements:
        return _signature_text(function, node.elements[0].value)
    if isinstance(node, cst.SimpleString) and "(" in node.value:
        return str(string_value(node))
    if isinstance(node, cst.Call) and isinstance(node.func, (cst.Subscript, cst.Attribute)):
        return function.module.code(node)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        # `float64(int32, int32)`: a type called with types, and no other call
        name = node.func.value
        known = name == "void" or name in SHORT or dtype_named(name) is not None
        return function.module.code(node) if known else None
    return None


@dataclass(frozen=True)
class Choice:
    """Types to try: `shown` by callers or the docstring; `flat` ones serve any number of
    dimensions, if what becomes of them is elementwise, and nothing otherwise."""

    types: list[ParameterType]
    shown: bool = False
    flat: bool = False


def candidates(function: FunctionSource, given: str | None) -> Iterator[list[ParameterType]]:
    """Signatures to try in order, but for those that only elementwise functions can have."""
    return (c.types for c in choices(function, given) if not c.flat)


def choices(function: FunctionSource, given: str | None) -> Iterator[Choice]:
    """Types to try in order: the given ones only, or what callers, docstring and use suggest.

    Of a function that is called for each element, numbers are arrays; integers as a second choice
    stay numbers: a loop may run so often.
    """
    if not function.per_element:
        yield from _choices(function, given)
        return
    for whole in (False, True):
        for choice in _choices(function, given):
            yield replace(choice, types=for_elements(function, choice.types, whole))


def for_elements(
    function: FunctionSource, types: Sequence[ParameterType], whole: bool = False
) -> list[ParameterType]:
    """The types for a function that may be called for each element: arrays in place of numbers.

    With `whole`, integers stay numbers.
    """
    return [
        replace(t, dtype=DType(t.dtype.name), ndim=1)
        if function.per_element and _is_number(t) and not (whole and t.dtype.kind in "iu")
        else t
        for t in types
    ]


def _is_number(t: ParameterType) -> bool:
    return t.is_number


def _choices(function: FunctionSource, given: str | None) -> Iterator[Choice]:
    params = parameters_of(function)
    text = given if given is not None else decorator_signature(function)
    if text is not None:
        types = parse_signature(text)
        rest = params[len(types) :]
        if rest and all(p.name.value.startswith(ATTRIBUTE_PREFIX) for p in rest):
            # nobody lists the attributes of `self` in a signature
            yield from map(Choice, _raised([*types, *_guesses(function, rest)]))
            return
        types += _defaults(function, rest)
        if len(types) != len(params):
            raise UsageError(
                f"the signature of `{function.name}` has {len(types)} types, "
                f"the function {len(params)} parameters"
            )
        yield Choice(types)
        return
    aliases = _aliases(function)  # first: a name that is ours, too, gets another one there
    usage = usage_of(function)
    base = _used(function, params, aliases)
    known = known_types(function, params, base, usage)
    flat = known.flat or _flat(known.vectors[0] if known.vectors else base, params, usage)
    if flat is not None:
        yield Choice(list(flat), shown=bool(known.flat or known.vectors), flat=True)
    yield from (Choice(list(types), shown=True) for types in known.vectors)
    yield from map(Choice, _raised(base))
    yield from map(Choice, _without_capitals(base, params, usage))
    yield from map(Choice, _with_scalars(base, params, usage, aliases))


def _flat(
    types: Sequence[ParameterType], params: Sequence[cst.Param], usage: Mapping[str, Usage]
) -> list[ParameterType] | None:
    """One dimension in place of those that only the names of parameters suggest (`img`).

    None where names suggest none, or where the function uses more of an array.
    """
    uses = [usage[p.name.value] for p in params]
    arrays = [(t, u) for t, u in zip(types, uses, strict=True) if t.ndim is not None]
    if all(t.ndim == 1 for t, _ in arrays):
        return None
    if any(u.used > 1 or u.arrays.in_product for _, u in arrays):
        return None
    if any((t.given or t.traced) and t.ndim != 1 for t, _ in arrays):
        return None
    return [t if t.ndim is None else replace(t, ndim=1) for t in types]


def _used(
    function: FunctionSource, params: list[cst.Param], aliases: dict[str, str]
) -> list[ParameterType]:
    """What hints, a recorded run and use say of the parameters."""
    base = _guesses(function, params)
    return [_traced(function, p, t, aliases) for p, t in zip(params, base, strict=True)]


def shown_types(function: FunctionSource) -> tuple[Shown, ...]:
    """The types of each kind of call that is known of, where nobody gives types."""
    if decorator_signature(function) is not None:
        return ()
    params = parameters_of(function)
    base = _used(function, params, _aliases(function))
    return known_types(function, params, base, usage_of(function)).shown


def _traced(
    function: FunctionSource, p: cst.Param, inferred: ParameterType, aliases: dict[str, str]
) -> ParameterType:
    """The type that a recorded run showed, as far as hints do not say otherwise."""
    text = function.module.shown.traced.get(function.name, {}).get(p.name.value)
    if text is None or inferred.given:
        return inferred
    try:
        (shown,) = parse_signature(text)
    except (UsageError, ValueError):
        return inferred
    if shown.omitted:
        return OMITTED if p.default is not None else inferred
    hinted, what = hint_of(p.annotation, aliases)
    if shown.ndim is None:
        return inferred if what == "array" else replace(shown, given=False, traced=True)
    dtype = hinted if what == "array" and hinted is not None else shown.dtype
    return ParameterType(DType(dtype.name), shown.ndim, traced=True)


def setting(function: FunctionSource, signatures: Mapping[str, str]) -> str | None:
    """The types that `[tool.porter.signatures]` gives; a decorator's own come first."""
    text = signatures.get(function.name)
    return None if text is None or decorator_signature(function) is not None else text


def _guesses(function: FunctionSource, params: list[cst.Param]) -> list[ParameterType]:
    usage, aliases = usage_of(function), _aliases(function)
    loose = {
        p.name.value
        for p in params
        if p.default is None
        and hint_of(p.annotation, aliases)[1] != "array"
        and _numba_type(p.annotation, aliases) is None
    }
    tuples = tuple_lengths(function.node, loose)
    for name in tuples:
        usage[name].arrays.seen, usage[name].numbers.is_integer = False, True
    return [
        tuple_of([ParameterType(WEAK_INT, None)] * tuples[p.name.value])
        if p.name.value in tuples
        else _inferred(p, usage[p.name.value], usage, params, aliases)
        for p in params
    ]


def _aliases(function: FunctionSource) -> dict[str, str]:
    """Names that the module gives to types: `A = NDArray[np.float64]`."""
    return globals_of(function.module).texts


def _without_capitals(
    base: list[ParameterType], params: list[cst.Param], usage: dict[str, Usage]
) -> Iterator[list[ParameterType]]:
    """The dimensions that are used, where only a capital letter says that there is a matrix."""
    least = [max(usage[p.name.value].used, 1) for p in params]
    high = [k for k, t in enumerate(base)
            if usage[params[k].name.value].arrays.in_product and (t.ndim or 0) > least[k]
            and not (t.given or t.traced)]  # fmt: skip
    for lowered in dict.fromkeys((tuple(high), *((k,) for k in high))):
        if lowered:
            yield [replace(t, ndim=least[k]) if k in lowered else t for k, t in enumerate(base)]


def _with_scalars(
    base: list[ParameterType],
    params: list[cst.Param],
    usage: dict[str, Usage],
    aliases: dict[str, str],
) -> Iterator[list[ParameterType]]:
    """Where nothing shows that a parameter is an array: all but the first as numbers, then all."""
    loose = [k for k, p in enumerate(params)
             if base[k].ndim is not None and not usage[p.name.value].is_certain
             and not (base[k].traced or base[k].given)
             and hint_of(p.annotation, aliases)[1] != "array"]  # fmt: skip
    for keep in (1, 0):
        if len(loose) > keep:
            yield [ParameterType(WEAK_FLOAT, None) if k in loose[keep:] else t
                   for k, t in enumerate(base)]  # fmt: skip


def _defaults(function: FunctionSource, rest: list[cst.Param]) -> list[ParameterType]:
    """Types of trailing parameters that a signature leaves to their defaults."""
    if any(p.default is None for p in rest):
        return []
    usage = usage_of(function)
    aliases = _aliases(function)
    return [_inferred(p, usage[p.name.value], usage, [], aliases) for p in rest]


def _inferred(
    p: cst.Param,
    use: Usage,
    usage: dict[str, Usage],
    params: list[cst.Param],
    aliases: dict[str, str],
) -> ParameterType:
    if keeps_default(p.default):
        return OMITTED
    if use.generator:
        return generator_of(use.generator)
    typed = _numba_type(p.annotation, aliases)
    if typed is not None:
        return typed
    hinted, what = hint_of(p.annotation, aliases)
    if what == "scalar" and hinted is not None:
        return ParameterType(hinted, None, True)
    if p.name.value.startswith(ATTRIBUTE_PREFIX) and what != "array" and not use.arrays.seen:
        return ParameterType(WEAK_INT if use.numbers.is_integer else WEAK_FLOAT, None)
    is_array = what == "array" or (use.arrays.seen and not (use.numbers.is_scalar and not use.ndim))
    sized = any(u.numbers.is_size for u in usage.values())  # it makes its arrays itself
    if not is_array and not sized and not any(u.arrays.seen for u in usage.values()):
        # nothing but arithmetic: elementwise, and numbers are broadcast like arrays
        is_array = any(q is p for q in params) and _plain(p, usage, aliases)
    if not is_array and not any(u.ndim or u.arrays.in_product for u in usage.values()):
        # what is not known to be indexed or multiplied: the first parameter is the array
        is_array = bool(params) and params[0] is p and _plain(p, usage, aliases)
    if is_array:
        dtype = hinted or DType(_element_type(p.name.value, use))
        return ParameterType(DType(dtype.name), max(use.ndim, 1))
    if use.default is not None:
        return ParameterType(use.default, None)
    return ParameterType(WEAK_INT if use.numbers.is_integer else WEAK_FLOAT, None)


def _element_type(name: str, use: Usage) -> str:
    """What the elements of an array are, by its use: truth values, integers or floats."""
    n = use.numbers
    truths = MASK.search(name) if n.has_bits else n.is_inverted and not n.is_index
    if use.arrays.is_mask or truths:
        return "bool"
    if n.is_index or n.has_bits:
        return "uint8" if PICTURE.search(name) else "int64"
    return "float64"


def keeps_default(default: cst.BaseExpression | None) -> bool:
    """Whether a default is of a kind that kernels are made for.

    None, a text, a tuple, a dtype; a complex or a NumPy number, whose dtype the results take.
    """
    match default:
        case cst.Imaginary():
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return dtype_named(name) is not None
        case cst.SimpleString() | cst.Tuple() | cst.List():
            return True
        case cst.Attribute(attr=cst.Name(value=name)):
            return dtype_named(name) is not None
        case cst.Name(value=name):
            return name == "None"
    return False


def _numba_type(annotation: cst.Annotation | None, aliases: dict[str, str]) -> ParameterType | None:
    """The type that a hint such as `nb.float32[:, :]` says in full."""
    if annotation is None:
        return None
    code = cst.Module([]).code_for_node(annotation.annotation).strip().strip("\"'")
    code = aliases.get(code, code)
    if "[:" not in code:
        return None
    try:
        return parse_signature(code)[0]
    except (UsageError, IndexError):
        return None


def _plain(p: cst.Param, usage: dict[str, Usage], aliases: dict[str, str]) -> bool:
    use = usage[p.name.value]
    loose = not use.numbers.is_integer and not use.numbers.is_scalar and use.default is None
    loose = loose and not (len(usage) > 1 and STEP.match(p.name.value))
    return loose and hint_of(p.annotation, aliases)[1] != "scalar"


def _raised(base: list[ParameterType]) -> Iterator[list[ParameterType]]:
    """The base, then with more dimensions for some arrays: fewest extra dimensions first."""
    arrays = [k for k, t in enumerate(base) if t.ndim is not None and not (t.traced or t.given)]
    seen = 0
    for extra in range(0, 2 * len(arrays) + 1):
        for combination in _spread(extra, len(arrays)):
            raised = list(base)
            for k, more in zip(arrays, combination, strict=True):
                raised[k] = ParameterType(base[k].dtype, (base[k].ndim or 0) + more)
            yield raised
            seen += 1
            if seen >= 48:
                return


def _spread(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total, 2), -1, -1):
        for rest in _spread(total - first, parts - 1):
            yield (first, *rest)
