"""Docstrings: literals that evaluate to exactly the source's strings, whatever these hold.

A string stands in the text by a placeholder until all else is laid out and named, so that
nothing which works on lines and words can change it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping

from porter.support.parsing import literal_value

#: of Unicode's private use area, as the sign of `marks`
_SIGN = "\ue0a8"
_PLACE = re.compile(rf'^( *)"""{_SIGN}(.*)"""$')


def placeholder(name: str = "") -> str:
    """What stands for the docstring of a function, or of the module, inside of its quotes."""
    return f"{_SIGN}{name}"


def name_in(text: object) -> str | None:
    """The function whose docstring a string stands for."""
    is_place = isinstance(text, str) and text.startswith(_SIGN)
    return text.removeprefix(_SIGN) if is_place and isinstance(text, str) else None


def with_docstrings(
    text: str, docstrings: Mapping[str, str], quoted: Mapping[int, int]
) -> tuple[str, dict[int, int]]:
    """The text with its docstrings, and `quoted` for the lines as they then count."""
    lines: list[str] = []
    moved: dict[int, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        place = _PLACE.match(line)
        if place is None:
            lines.append(line)
            if number in quoted:
                moved[len(lines)] = quoted[number]
        else:
            lines += [*(place[1] + literal(docstrings[place[2]])).split("\n")]
    return "\n".join(lines), moved


def literal(value: str) -> str:
    """A literal in triple quotes, as it is if that can be read back, else with escapes."""
    plain = [f'"""{value}"""', f"'''{value}'''", f'r"""{value}"""', f"r'''{value}'''"]
    if "\\" in value:
        # as most are written: a backslash that begins no escape need not be doubled
        plain = plain[2:] + plain[:2]
    if all(map(is_plain, value)):
        found = next((text for text in plain if _evaluates(text, value)), None)
        if found is not None:
            return found
    escaped = '"""' + "".join(map(_escaped, value)).replace('""', '"\\"')
    escaped = escaped[:3] + _guarded(escaped[3:]) + '"""'
    return escaped if _evaluates(escaped, value) else ascii(value)


def is_plain(c: str) -> bool:
    """Whether a character stands in a text without breaking a line or hiding what it is."""
    return c.isprintable() or c in "\n\t"


def _escaped(c: str) -> str:
    if c == "\\":
        return "\\\\"
    return c if is_plain(c) else ascii(c)[1:-1]


def _guarded(text: str) -> str:
    """A quote at an end must not meet those around."""
    return f'{text[:-1]}\\"' if text.endswith('"') and not text.endswith('\\"') else text


def _evaluates(text: str, value: str) -> bool:
    try:
        with warnings.catch_warnings():
            # a text that warns is no plain one
            warnings.simplefilter("error")
            return bool(literal_value(text) == value)
    except (SyntaxError, ValueError, Warning):
        return False
