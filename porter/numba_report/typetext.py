"""Numba's types as its users write them: `array(float64, 2d, C)` is `float64[:, ::1]`.

Works on text, so that the types inside of Numba's messages become readable too.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ADDRESS = r"at 0x[0-9a-fA-F]+"


def _array(match: re.Match[str]) -> str:
    dtype, ndim, layout = match[1], int(match[2]), match[3]
    axes = [":"] * ndim
    if ndim and layout in "CF":
        axes[-1 if layout == "C" else 0] = "::1"
    return f"{dtype}[{', '.join(axes)}]" if axes else f"{dtype}[()]"


def _literal(match: re.Match[str]) -> str:
    return {"int": "int64", "bool": "bool"}.get(match[1], match[1])


def _repeated(match: re.Match[str]) -> str:
    inner, count = match[1].strip(), int(match[2])
    return f"({', '.join([inner] * count)}{',' if count == 1 else ''})"


#: tried in turn until nothing changes, so that nested types become readable from inside out
_FORMS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"<iv=[^<>]*>"), ""),
    (re.compile(r"\bArray\((\w+), (\d+), '(\w)', \w+, aligned=\w+\)"), _array),
    (re.compile(r"\b(?:unaligned |readonly )?array\((\w+), (\d+)d, (\w)(?:, \w+)*\)"), _array),
    (re.compile(r"\bLiteral\[(\w+)\]\([^()]*\)"), _literal),
    (re.compile(r"\bUniTuple\(([^()]*?)(?:,| x) ?(\d+)\)"), _repeated),
    (re.compile(r"\bUniTuple\((\([^()]*\))(?:,| x) ?(\d+)\)"), _repeated),
    (re.compile(r"\bTuple\(((?:[^()]|\([^()]*\))*)\)"), r"(\1)"),
    (re.compile(r"\breflected list\(([^()]*)\)"), r"list of \1"),
    (re.compile(r"\breflected set\(([^()]*)\)"), r"set of \1"),
    (re.compile(r"(?<!reflected )\blist\(([^()]*)\)"), r"list of \1"),
    (re.compile(r"(?<!reflected )\bset\(([^()]*)\)"), r"set of \1"),
    (re.compile(r"\bListType\[([^\[\]]*(?:\[[^\[\]]*\])?)\]"), r"typed list of \1"),
    (re.compile(r"\bDictType\[([^,\[\]]*),([^\[\]]*(?:\[[^\[\]]*\])?)\]"), r"dict of \1 to \2"),
    (re.compile(r"\bLiteralStrKey\[Dict\]\((\{[^{}]*\})\)"), r"\1"),
    (re.compile(r"\bOptionalType\(([^()]*)\)"), r"\1 or None"),
    (re.compile(r"\bomitted\(default=([^()]*)\)"), r"\1 (default)"),
    (re.compile(rf"type\(\w+Dispatcher\(<function (\S+) {_ADDRESS}>\)\)"), r"function `\1`"),
    (re.compile(rf"Function\(<(?:built-in )?function (\S+?)(?: {_ADDRESS})?>\)"), r"`\1`"),
    (re.compile(r"Function\(<ufunc '(\w+)'>\)"), r"`\1`"),
    (re.compile(r"Function\(<class '([\w.]+)'>\)"), r"`\1`"),
    (re.compile(r"Module\(<module '([\w.]+)'[^<>]*>\)"), r"module `\1`"),
    (re.compile(r"\brange_(?:state|iter)_\w+"), "range"),
    (re.compile(r"\bunicode_type\b"), "str"),
    (re.compile(r"\bundefined\b"), "something unknown"),
    (re.compile(r"\bboolean\b"), "bool"),
    (re.compile(r"\bpyobject\b"), "Python object"),
)  # fmt: skip


def readable(text: str) -> str:
    """A text with every type of Numba's in it rewritten."""
    for _ in range(5):
        before = text
        for pattern, form in _FORMS:
            text = pattern.sub(form, text)
        if text == before:
            break
    return text


def is_value(text: str) -> bool:
    """Whether a type, as Numba prints it, is one that values have: not a module or function."""
    hidden = ("Module(", "Function(", "type(", "class(", "BoundFunction(", "typeref[", "iter(")
    return not text.startswith(hidden)
