"""Which source line a line of a generated module comes from, told by marks on its comments.

The writers put the number of the source line after each comment that quotes it. Layout and
templates move comments but do not change them, so the marks arrive with the finished text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

from porter import ir
from porter.dtypes.dtype import DType
from porter.support.reserved import MARK

#: of Unicode's private use area: in no text that people write
_SIGN = "\ue0a7"
_SIGNATURES = re.compile(rf'\["{_SIGN}([^{_SIGN}]*){_SIGN}"\]')
_TYPE = re.compile("@([^@]+)@")
_MARK = re.compile(rf"^( *#.*){_SIGN}(\d+)$")


def quoted(origin: ir.Origin) -> str:
    """The comment that quotes a source statement, with its mark."""
    return f"# {one_line(origin.text)}{_SIGN}{origin.span.line}"


def dtypes_of(name: str) -> str:
    """What stands for the dtypes that an array may have, until they are known."""
    return f"{_SIGN}{name}{_SIGN}"


def rule_of(name: str) -> str:
    """The argument that says what the host converts of the arrays that meet this one."""
    return f', rule="{_SIGN}={name}{_SIGN}"'


def real_of(name: str) -> str:
    """The argument that says that a number must be a float, or a complex number, if it must."""
    return f', real="{_SIGN}+{name}{_SIGN}"'


def plain_of(names: Sequence[str]) -> str:
    """The argument that names those of which Python's integers are refused, if they are."""
    return f', names="{_SIGN}%{" ".join(names)}{_SIGN}"'


def refused_of(name: str) -> str:
    """The arguments that say that arrays for this parameter do not convert, if they do not."""
    return f"'{_SIGN}!{name}{_SIGN}'"


#: the line that has float32 beside doubles as such, if there is one
DOUBLED = f"    # {_SIGN}2{_SIGN}\n"
#: the argument that says that a number may be a float beside integers, or may not
FLOATS = f', floats="{_SIGN}#{_SIGN}"'


def signatures_of(
    arguments: Sequence[DType], result: DType | None, ranks: Sequence[int] = ()
) -> str:
    """What stands for the signatures of a ufunc, until the dtypes of its arrays are known.

    With `ranks` some arguments are arrays, and nothing is returned.
    """
    words = [_slot(dtype) for dtype in arguments]
    for k, rank in enumerate(ranks):
        words[k] += f"[{', '.join(':' * rank)}]" if rank else ""
    types = ", ".join(words)
    if result is None:
        return f'["{_SIGN}void({types}){_SIGN}"]'
    return f'["{_SIGN}{_slot(result)}({types}){_SIGN}"]'


def _slot(dtype: DType) -> str:
    """A type of Numba, or what stands for the dtype of an argument."""
    return f"@{dtype.var}@" if dtype.var else "boolean" if dtype.kind == "b" else dtype.name


def with_signatures(text: str, dtypes: Sequence[Mapping[str, str]]) -> str:
    """A text with the signatures for all of these dtypes of the arguments."""

    def listed(found: re.Match[str]) -> str:
        each = [_typed(found[1], known) for known in dtypes]
        return f"[{', '.join(json.dumps(s) for s in dict.fromkeys(each))}]"

    return _SIGNATURES.sub(listed, text)


def _typed(signature: str, known: Mapping[str, str]) -> str:
    return _TYPE.sub(lambda name: known[name[1]], signature)


def one_line(text: str) -> str:
    """A text as part of a comment: what might end it, or stands for something, is escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_harmless(c) else ascii(c)[1:-1] for c in text)


def _is_harmless(c: str) -> bool:
    return c != MARK and (c.isprintable() or c == "\t" or unicodedata.category(c) == "Zs")


def without_marks(text: str) -> tuple[str, dict[int, int]]:
    """The text as it is written, and the source line of each line that is such a comment."""
    if _SIGN not in text:
        return text, {}
    lines = text.split("\n")
    found: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        match = _MARK.match(line)
        if match is not None:
            lines[number - 1] = match[1]
            found[number] = int(match[2])
    return "\n".join(lines), found
