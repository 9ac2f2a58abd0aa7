"""Sizes and subscripts as text."""

from __future__ import annotations

from collections.abc import Callable

from porter.codegen.spell import ATOM, POWER, PRODUCT, SUM, parenthesised
from porter.sizes.polynomial import Apply, Atom, Data, Monomial, Poly, Symbol

AtomText = Callable[[Atom], tuple[str, int]]


def poly_text(poly: Poly, atom: AtomText, outer: int = 0) -> str:
    """A polynomial with its positive terms first; `atom` spells symbols, data and calls."""
    return parenthesised(*poly_parts(poly, atom), outer)


def poly_parts(poly: Poly, atom: AtomText) -> tuple[str, int]:
    """The text of a polynomial, and how tightly its outermost operator binds."""
    terms = sorted(poly.terms, key=lambda t: (not t[0], t[1] < 0))
    if not terms:
        return "0", ATOM
    if terms[0][1] < 0:
        terms.sort(key=lambda t: t[1] < 0)
    text, precedence = "", ATOM
    for monomial, c in terms:
        body, binds = _term(monomial, abs(c), atom)
        if not text:
            divided = any(isinstance(a, Apply) and a.op in ("//", "%") for a in monomial)
            text = f"-({body})" if c < 0 and divided else f"-{body}" if c < 0 else body
            precedence = PRODUCT if c < 0 else binds
        else:
            text += f" - {parenthesised(body, binds, PRODUCT)}" if c < 0 else f" + {body}"
            precedence = SUM
    return text, precedence


def _term(monomial: Monomial, c: int, atom: AtomText) -> tuple[str, int]:
    if not monomial:
        return str(c), ATOM
    if len(monomial) == 1 and c == 1:
        return atom(monomial[0])
    parts = [str(c)] if c != 1 else []
    for a in monomial:
        text, binds = atom(a)
        parts.append(parenthesised(text, binds, PRODUCT + 1))
    return " * ".join(parts), PRODUCT


def host_atom(name: Callable[[str], str], data: Callable[[Data], str]) -> AtomText:
    """How the host spells an atom; `name` spells symbols."""

    def spell(a: Atom) -> tuple[str, int]:
        if isinstance(a, Symbol):
            return name(a.name), ATOM
        if isinstance(a, Data):
            return data(a), ATOM
        return _apply(a, spell)

    return spell


def _apply(a: Apply, spell: AtomText) -> tuple[str, int]:
    x, y = a.args
    if a.op in ("min", "max"):
        return f"{a.op}({poly_text(x, spell)}, {poly_text(y, spell)})", ATOM
    if a.op == "bound":
        return f"_slice_bound({poly_text(x, spell)}, {poly_text(y, spell)})", ATOM
    if a.op == "**":
        # with `k - 1`, in a loop of k turns, what is allocated before a loop that does not run
        less = any(c < 0 for _, c in y.terms)
        exponent = f"max({poly_text(y, spell)}, 0)" if less else poly_text(y, spell, POWER)
        return f"{poly_text(x, spell, POWER + 1)}**{exponent}", POWER
    return (
        f"{poly_text(x, spell, PRODUCT)} {a.op} {poly_text(y, spell, PRODUCT + 1)}",
        PRODUCT,
    )
