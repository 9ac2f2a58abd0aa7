"""Numbers and strings in the one spelling that ruff gives them."""

from __future__ import annotations

import re

_STRING = re.compile(r"([a-zA-Z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


def number(text: str) -> str:
    """A literal with a lower-case prefix and exponent, upper-case hex digits, no bare dot."""
    lower = text.lower()
    if lower.startswith("0x"):
        return "0x" + lower[2:].upper()
    if lower.startswith(("0b", "0o")):
        return lower
    digits, unit = (lower[:-1], "j") if lower.endswith("j") else (lower, "")
    mantissa, e, exponent = digits.partition("e")
    if "." in mantissa:
        whole, _, fraction = mantissa.partition(".")
        mantissa = f"{whole or '0'}.{fraction or '0'}"
    return mantissa + e + exponent.removeprefix("+") + unit


def string(text: str) -> str:
    """A string between double quotes, unless that would need more backslashes."""
    match = _STRING.fullmatch(text)
    if match is None:
        return text
    prefix, quote, body = match.groups()
    prefix = prefix.replace("B", "b").replace("F", "f").replace("U", "").replace("u", "")
    if quote != "'":
        return prefix + quote + (_unescape(body, "'") if quote == '"' else body) + quote
    if "r" in prefix.lower() or "f" in prefix.lower():
        swap = '"' not in body and "'" not in body and "\\" not in body
        return f'{prefix}"{body}"' if swap else prefix + quote + body + quote
    if body.count('"') - body.count('\\"') > body.count("\\'"):
        return f"{prefix}'{body}'"
    return prefix + '"' + re.sub(r'(?<!\\)"', '\\"', _unescape(body, "'")) + '"'


def in_fstring(text: str) -> str:
    """A text as part of an f-string between double quotes; its own become single ones."""
    return text.replace('"', "'").replace("{", "{{").replace("}", "}}")


def _unescape(body: str, quote: str) -> str:
    """The body without the backslashes before a quote that needs none."""
    return re.sub(rf"((?:\\\\)*)\\{quote}", rf"\1{quote}", body)
