"""Random modules around a small function: what stands at module level, and the names in it.

A `Sample` is a source text and the calls to try. Names come from those that generated modules
use themselves; docstrings, comments and defaults from whatever Python allows.
"""

from __future__ import annotations

import keyword
import unicodedata
from dataclasses import dataclass

from hypothesis import strategies as st

_WORDS = """
stream cuda math operator config SimpleNamespace range len max min int float abs sum tuple list
print T I THREADS BLOCK_X TILE MAX_BLOCKS blocks partial on_device d_x d_y scratch maximum minimum
block_sum position _result _array _number _integer _flat _blocks _on_device _to_device _to_host
shape error total out out1 out2 i j k i_ host value array threads row x y z w a b f g self _ __
numba cp index width result whole_x f_kernel x_kernel ValueError TypeError KERNEL name kernel grid
block dtype ndim hasattr isinstance \ufb01x \u00aa \u00b5 \U0001d427 \ufb00 na\u00efve \u00e9
"""
#: names that a generated module, its kernels or its host functions use, and odd ones
NAMES = _WORDS.split()


@dataclass(frozen=True)
class Sample:
    """A module with a function `name`; `calls` are texts of argument lists for it."""

    source: str
    name: str
    signature: str
    calls: tuple[str, ...]


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


names = st.sampled_from(NAMES)
numbers = st.sampled_from(["2", "-3", "0.5", "1e3", "7", "-0.0", "2.25", "100"])
texts = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ['"', "'", '"""', "'''", "\\", "\\\\", 'end "', "end '", "end\\", '"""; import os', "a\0b",
     "\r", "\r\n", "\u2028", "\x85", "\f", "  \n  ", "tab\t\n", "\udc80", "\\N{DASH}", "{x} {{",
     "%s %", "# porter: output sha256:00", "\ue0a75", "line  \nline \n", "'''\n\"\"\"", "\x1b[31m"]
)  # fmt: skip


@st.composite
def docstrings(draw: st.DrawFn) -> str:
    """A docstring as a literal, by its shortest form or with triple quotes."""
    text = draw(texts)
    if draw(st.booleans()):
        quote = draw(st.sampled_from(['"""', "'''"]))
        prefix = draw(st.sampled_from(["", "r", "R"]))
        literal = f"{prefix}{quote}{text}{quote}"
        try:
            if isinstance(eval(literal), str) and "\0" not in literal:
                literal.encode()
                return literal
        except (SyntaxError, ValueError, UnicodeError):
            pass
    return ascii(text)


@st.composite
def constants(draw: st.DrawFn, name: str) -> list[str]:
    """Statements that give a name a number, by one way or another."""
    first, second = draw(numbers), draw(numbers)
    other = draw(st.sampled_from(["q1", "q2"]))
    forms = [
        [f"{name} = {first}"],
        [f"{name}: float = {first}"],
        [f"{name} = {first}", f"{name} += {second}"],
        [f"{name} = {first}", f"{name} = {name} * 2"],
        [f"{name} = {other} = {first}", f"{other} = {second}"],
        [f"{other} = {first}", f"{name} = {other}", f"{other} = {second}"],
        [f"{name}, {other} = {first}, {second}", f"{other}, {name} = {name}, {other}"],
        [f"for {name} in ({first}, {second}):\n    pass"],
        [f"if {first} > 1:\n    {name} = {second}\nelse:\n    {name} = {first}"],
        [f"try:\n    {name} = {first} / 0\nexcept ZeroDivisionError:\n    {name} = {second}"],
        [f"{name} = {first}", f"def {other}():\n    global {name}\n    {name} = {second}"],
        [f"{name} = {first}", f"def {other}({name}):\n    return {name} + 1"],
        [f"({name} := {first})"],
        [f"while ({name} := {first}) > 1e9:\n    pass"],
        [f"{name} = [{first}, {second}]", f"{name}.reverse()", f"{name} = {name}[0]"],
        [f"def {other}():\n    return {first}", f"{name} = {other}()"],
        [f"{other} = [{first}]", f"{other}[0] += 1", f"{name} = {other}[0]"],
        [f"{name} = {first}", f"del {name}", f"{name} = {second}"],
        [f"{name} = numpy_.float32({first})"],
        [f"{name} = {first}", f"{other} = [{name} for {name} in (1, 2)]"],
        [f"{name} = {first}", f"class {other}:\n    {name} = {second}"],
        [f"{name} = {first}", f"if __name__ == '__main__':\n    {name} = {second}"],
    ]
    return draw(st.sampled_from(forms))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """A module whose function multiplies, adds, calls a helper and may accumulate."""
    chosen = draw(st.lists(names, min_size=7, max_size=7, unique_by=_plain))
    function, array, scalar, local, constant, helper, inner = chosen
    if any(keyword.iskeyword(_plain(n)) for n in chosen):
        function = "f"
    lines = ["import numpy as numpy_"]
    statements = draw(constants(constant))
    comment = draw(texts).splitlines()
    remark = comment[0] if comment and "\0" not in comment[0] else "a comment"
    default = draw(st.sampled_from(["", "", "=2.0", "=-1", f"={constant}", "=numpy_.float64(0.5)",
                                    "=(2 + 1)", "=1e-3", "=True"]))  # fmt: skip
    keyword_only = draw(st.booleans())
    separator = ", *, " if keyword_only else ", "
    use_helper, accumulate = draw(st.booleans()), draw(st.booleans())
    lines += statements
    lines += [f"def {helper}({inner}):", f"    return {inner} * 2 + {constant}", ""]
    lines += [f"# {remark}", f"def {function}({array}{separator}{scalar}{default}):"]
    if draw(st.booleans()):
        lines.append("    " + draw(docstrings()))
    value = f"{helper}({array})" if use_helper else f"{array} + {constant}"
    lines.append(f"    {local} = {value} * {scalar}  # {remark}")
    if accumulate:
        lines += [f"    {inner} = 0.0", f"    for {helper} in range({array}.shape[0]):",
                  f"        {inner} += {local}[{helper}]",
                  f"    return {local}, {inner}"]  # fmt: skip
        if use_helper:
            lines[-4:] = [f"    return numpy_.sqrt(numpy_.abs({local})), {local}.sum()"]
    else:
        lines.append(f"    return numpy_.sqrt(numpy_.abs({local})) - {constant}")
    given = f"{scalar}=" if keyword_only else ""
    calls = [f"x, {given}2.5", f"x, {scalar}=-1.0", f"{array}=x, {scalar}=3.0"]
    if default:
        calls.append("x")
    source = "\n".join(lines) + "\n"
    return Sample(source, function, "float64[:], float64", tuple(calls))
