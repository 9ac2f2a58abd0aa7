"""What a `CompileResult` says, read off its attributes; nothing here parses Numba's output.

`type_annotation` has the function's blocks and the type of each variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from porter.numba_report.typetext import is_value, readable

#: as much of Numba's annotation as is kept of one function
RAW_LIMIT = 400_000


def signature(args: Iterable[Any]) -> str:
    """Argument types as text."""
    return readable(", ".join(str(a) for a in args))


def types_by_line(annotation: Any) -> dict[int, tuple[str, ...]]:
    """For each line of the function, the user's variables on it with their types."""
    found: dict[int, dict[str, None]] = {}
    for inst in _instructions(annotation):
        line = int(inst.loc.line)
        for name, text in _variables(inst, annotation.typemap):
            found.setdefault(line, {})[f"{name}: {text}"] = None
    return {line: tuple(texts) for line, texts in sorted(found.items())}


def loop_types(annotation: Any) -> dict[int, tuple[str, ...]]:
    """The same of a lifted loop, which is a function to Numba alone: what it returns is no value
    of the user's."""
    found = types_by_line(annotation).items()
    kept = {n: tuple(t for t in texts if not t.startswith("return: ")) for n, texts in found}
    return {line: texts for line, texts in kept.items() if texts}


def lines_of(annotation: Any) -> tuple[int, ...]:
    """The lines that a function's instructions come from."""
    return tuple(sorted({int(i.loc.line) for i in _instructions(annotation)}))


def raw(annotation: Any) -> str:
    """Numba's own annotation, as `numba --annotate` prints it."""
    try:
        # after a hit in Numba's cache the annotation is text already
        text = annotation if isinstance(annotation, str) else str(annotation.annotate())
    except Exception as error:
        # the annotation of code without source cannot be made, which is no reason to fail
        return f"no annotation: {type(error).__name__}"
    return text[:RAW_LIMIT]


def _instructions(annotation: Any) -> Iterator[Any]:
    for block in getattr(annotation, "blocks", {}).values():
        # variables die on the line of their last use, which says nothing about it
        yield from (i for i in block.body if type(i).__name__ not in ("Del", "Jump"))


def _variables(inst: Any, typemap: Any) -> Iterator[tuple[str, str]]:
    """The named variables of an instruction; a returned value is called `return`."""
    try:
        variables = inst.list_vars()
    except (AttributeError, RuntimeError):
        return
    if type(inst).__name__ == "Return":
        known = typemap.get(inst.value.name)
        if known is not None:
            yield "return", readable(str(known))
        return
    for variable in variables:
        name = str(variable.name).split(".")[0]
        known = typemap.get(variable.name)
        if known is not None and name.isidentifier() and is_value(str(known)):
            yield name, readable(str(known))
