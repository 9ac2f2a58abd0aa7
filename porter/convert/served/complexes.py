"""Real arrays for complex ones, where NumPy makes them complex before it computes.

The program with complex numbers whose imaginary part is 0.0 must be that for real ones, to the last
letter of the text; then the host may convert them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from porter import ir
from porter.convert.served.kinds import rounds_again
from porter.convert.served.numbers import reals
from porter.convert.served.promotion import Question, conversions, convertible, widens, within
from porter.diagnostics import Refusal
from porter.dtypes.conversions import Conversions, Integers
from porter.dtypes.dtype import COMPLEX128, FLOAT64, DType
from porter.ir.rebuild import map_parts, map_statement
from porter.ir.walk import rewrite
from porter.schedule.nodes import Plan

#: with more complex arrays there are too many mixtures
MOST = 3
#: what identifies the text of a plan
Key = Callable[[Plan], tuple[object, ...]]


def real_arrays(question: Question, found: Conversions, key: Key) -> Conversions:
    """The conversions with those of real arrays to complex ones, if there are any."""
    names = sorted(convertible(question, "complex128"))
    if not 0 < len(names) <= MOST or found.beside or found.where:
        return found
    others = [n for n, t in zip(question.names, question.types, strict=True)
              if t.ndim is not None and n not in names and t.dtype.kind == "f"]  # fmt: skip
    for size in range(len(names), 0, -1):
        for chosen in combinations(names, size):
            each = list(_each(question, chosen))
            if all(_is_served(question, some, others, found, key) for some in each):
                return replace(found, complexes=chosen, whole=_whole(question, each, found))
    return found


def _each(question: Question, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Some of these names, in all ways."""
    for size in range(len(names), 0, -1):
        yield from combinations(names, size)


def _is_served(
    question: Question, names: Sequence[str], others: Sequence[str], found: Conversions, key: Key
) -> bool:
    """Whether real arrays of these names may become complex, whatever the others are of."""
    real = dict.fromkeys(names, "float64")
    other = question.with_dtypes(real)
    if other is None or not set(reals(other)) <= set(reals(question)):
        return False
    if found.names and not within(other, found.names, found.integers):
        return False
    for dtype in ("float64", "float32") if others else ("float64",):
        given = dict.fromkeys(others, dtype)
        asked = question.with_dtypes(given)
        if asked is None or not _is_real(asked, real, key):
            return False
    return True


def doubled(
    question: Question, found: Conversions, served: Collection[str], key: Key
) -> tuple[str, ...]:
    """The arrays that may be of float32 where all others are of float64 or complex128: those of
    float64 but the ones `served` as they are, and those that become complex."""
    floats = [n for n in question.names if n in convertible(question) and n not in served]
    kinds = {t.dtype.kind for t in question.types if t.ndim is not None}
    if found.where or found.met or len(question.types) < 2 or kinds & {*"iu"}:
        return ()
    single = [n for n in floats if widens(question, [n]) and not rounds_again(question, [n])]
    for n in found.complexes:
        rest = [m for m in found.complexes if m != n]
        each = [(), *_each(question, rest)] if rest else [()]
        if all(_is_real(question, dict.fromkeys(some, "float64") | {n: "float32"}, key)
               for some in each):  # fmt: skip
            single.append(n)
    return tuple(n for n in question.names if n in single)


def doublings(parameters: Sequence[ir.Parameter], found: Conversions) -> str:
    """The lines that make arrays of float32 double if all others are."""
    lines = ""
    for name in found.doubled:
        others = [p for p in parameters if p.name != name and not p.fixed]
        arrays = ", ".join(p.name for p in others if p.ndim is not None and p.dtype.kind in "fc")
        numbers = ", ".join(f"{'*' if p.items else ''}{p.name}" for p in others if p.ndim is None)
        lines += f"    {name} = _doubled({name}, [{arrays}], [{numbers}])\n"
    return lines


def _is_real(question: Question, real: Mapping[str, str], key: Key) -> bool:
    """Whether the program for some complex arrays is that for real ones, to the last letter."""
    complexes, program = question.program, question.given(real)
    if program is None:
        return False
    try:
        wanted = key(question.planned(_plain(program, program.body)))
        buffers = {n: replace(program.buffers[n], dtype=DType(d)) for n, d in real.items()}
        made = replace(program, body=_as_real(complexes, real), buffers=complexes.buffers | buffers)
        return key(question.planned(_plain(made, made.body))) == wanted
    except (Refusal, RecursionError):
        return False


def _whole(
    question: Question, each: Sequence[Sequence[str]], found: Conversions
) -> Integers | None:
    """Which integers become complex, too; None if none do."""
    rules = []
    for names in each:
        other = question.with_dtypes(dict.fromkeys(names, "float64"))
        known = other and conversions(replace(other, plan=question.planned(other.program)), ())
        if not known or known.floats or not set(names) <= set(known.names):
            return None
        if found.names and known.integers != found.integers:
            return None
        rules.append(known.integers)
    return rules[0] if all(r == rules[0] for r in rules) else None


def _plain(program: ir.Program, body: Sequence[ir.Stmt]) -> ir.Program:
    """The program with dtypes as they are, generic over none."""

    def dtype(d: DType) -> DType:
        return DType(d.name, d.weak)

    buffers = {n: replace(b, dtype=dtype(b.dtype)) for n, b in program.buffers.items()}
    parameters = tuple(replace(p, dtype=dtype(p.dtype)) for p in program.parameters)
    made = tuple(map_statement(s, lambda p: p, dtype) for s in body)
    return replace(program, body=made, buffers=buffers, parameters=parameters)


def _as_real(program: ir.Program, real: Mapping[str, str]) -> tuple[ir.Stmt, ...]:
    """The statements with a real number where an element of some complex arrays is loaded."""

    def change(e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Load(buffer=name) if name in real:
                return ir.Cast(replace(e, dtype=DType(real[name])), COMPLEX128)
            case ir.Op("real" | "imag" | "abs" as op, (arg,), dtype) if dtype == FLOAT64:
                arg = rewrite(arg, change)
                return _part(op, arg) or ir.Op(op, (arg,), dtype)
        return None

    return tuple(
        map_parts(s, lambda e: rewrite(e, change), lambda p: p, lambda d: d) for s in program.body
    )


def _part(op: str, e: ir.Expr) -> ir.Expr | None:
    """A part of a complex number whose imaginary part is 0.0; None if it is not known to be."""
    number = _real_of(e)
    if number is not None:
        return {"real": number, "imag": ir.Const(0.0, FLOAT64),
                "abs": ir.Op("abs", (number,), FLOAT64)}[op]  # fmt: skip
    match e:
        case ir.Op("mul", (a, ir.Op("conj", (b,)))) if op == "real" and a == b:
            number = _real_of(a)
            return number and ir.Op("mul", (number, number), FLOAT64)
        case ir.Op("mul", (a, b)) if op == "real":
            numbers = [n for n in (_real_of(a), _real_of(b)) if n is not None]
            return ir.Op("mul", tuple(numbers), FLOAT64) if len(numbers) == 2 else None
    return None


def _real_of(e: ir.Expr) -> ir.Expr | None:
    """The real number that an expression makes complex."""
    if isinstance(e, ir.Cast) and e.dtype == COMPLEX128 and e.arg.dtype == FLOAT64:
        return e.arg
    return None
