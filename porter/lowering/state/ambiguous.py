"""Numbers whose dtype the data decides: `2 if c else z[i]` is Python's 2 or has z's dtype.

NumPy computes with the number that it is at run time; a kernel has one dtype for it.  Where
both come to the same, the operation is converted, and refused where they do not.  What such
a number may be is kept as stand-ins: a literal, or a variable of no name and some dtype.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import RANK, DType, limits, strengthen
from porter.ir.scalars import constant_of, poly_of
from porter.lowering.state.dtypes import DTypeState
from porter.lowering.state.emitter import Emitter

Candidates = frozenset[ir.Expr]
#: the names of what stands for any number, and for any that is not below zero
_SIGNED, _COUNT = "?-", "?"
#: with more literals than this, only their dtype is kept
MOST_LITERALS = 4
_PYTHON_OPS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
}
_FORMATS = {"float16": "e", "float32": "f"}
_PYTHON = {"b": "bool", "i": "int", "f": "float", "c": "complex"}


def candidates_of(dtypes: DTypeState, e: ir.Expr) -> Candidates:
    """What a number may be."""
    if isinstance(e, ir.Local) and e.name in dtypes.local_candidates:
        return dtypes.local_candidates[e.name]
    if e in dtypes.candidates:
        return dtypes.candidates[e]
    literal = isinstance(e, (ir.Const, ir.Value)) and constant_of(e) is not None
    return frozenset({e if literal and e.dtype.weak else _any(e)})


def _any(e: ir.Expr) -> ir.Expr:
    """What stands for all numbers of the dtype, those below zero included or not."""
    return ir.Local(_SIGNED if _is_below(e) else _COUNT, e.dtype)


def _is_below(e: ir.Expr) -> bool:
    """Whether a Python integer may be less than zero; the host tests an argument."""
    if not e.dtype.weak or e.dtype.kind != "i":
        return False
    known, poly = constant_of(e), poly_of(e)
    if isinstance(known, int):
        return known < 0
    if poly is not None:
        return not (poly.is_nonneg() or poly.symbol)
    match e:
        case ir.Local(name=name):
            return name != _COUNT
        case ir.Select(then=then, other=other):
            return _is_below(then) or _is_below(other)
        case ir.Op(op="add" | "mul", args=args):
            return any(map(_is_below, args))
    return True


def joined(*parts: Candidates, literals: bool = True) -> Candidates:
    """All that these may be; many literals, and those of an unknown number's type, are left out."""
    candidates = frozenset().union(*parts)
    known = {e for e in candidates if constant_of(e) is not None}
    if not literals or len(known) > MOST_LITERALS:
        candidates |= {_any(e) for e in known}
    others = candidates - known
    return frozenset(e for e in candidates if e not in known or not {_any(e), _signed(e)} & others)


def _signed(e: ir.Expr) -> ir.Expr:
    return ir.Local(_SIGNED, e.dtype)


def is_ambiguous(candidates: Candidates) -> bool:
    """Whether the data decides a dtype."""
    return len({(e.dtype.name, e.dtype.weak) for e in candidates}) > 1


def meet(dtypes: DTypeState, result: ir.Expr, *parts: ir.Expr) -> None:
    """Note that a number is one of these, as the data decides."""
    candidates = joined(*(candidates_of(dtypes, e) for e in parts))
    if is_ambiguous(candidates):
        for e in candidates:
            _check_literal(dtypes, e, result.dtype)
        dtypes.candidates[result] = candidates


def assigned(dtypes: DTypeState, name: str, value: ir.Expr) -> None:
    """Note what a variable may be from here on, and in the next iteration."""
    known = dtypes.local_candidates.get(name, frozenset())
    candidates = joined(candidates_of(dtypes, value), known)
    if is_ambiguous(known) and not candidates <= known:
        candidates = joined(candidates, literals=False)  # one more in every iteration, it may be
    for e in candidates if is_ambiguous(candidates) else ():
        _check_literal(dtypes, e, dtypes.local_types[name])
    if candidates != known:
        dtypes.local_candidates[name] = candidates
        dtypes.retype = dtypes.retype or (bool(known) and is_ambiguous(candidates))


def decide(
    dtypes: DTypeState,
    out: Emitter,
    function: Callable[..., ir.Expr],
    args: Sequence[ir.Expr],
    result: ir.Expr,
) -> None:
    """Refuse an operation that gives one dtype or another, as the data decides."""
    choices = [candidates_of(dtypes, a) for a in args]
    if not any(map(is_ambiguous, choices)):
        return
    for arg, candidates in zip(args, choices, strict=True):
        exact(dtypes, candidates, arg.dtype, result.dtype)
    found, others = set(), []
    for combination in product(*choices):
        with out.block():  # what it would do is not done
            e = _folded(function(*combination))
        if not _fits(e, result.dtype) and not _exact_anyhow(e, combination, result.dtype):
            others.append(e.dtype)
        found.add(e)
    if others:
        raise _refused(dtypes, min(others, key=_order), result.dtype)
    candidates = joined(frozenset(e if constant_of(e) is not None else _any(e) for e in found))
    if is_ambiguous(candidates):
        dtypes.candidates[result] = candidates


def _folded(e: ir.Expr) -> ir.Expr:
    """Python's arithmetic on literals."""
    values = [constant_of(a) for a in e.args] if isinstance(e, ir.Op) and e.dtype.weak else []
    if isinstance(e, ir.Op) and e.op in _PYTHON_OPS and values and None not in values:
        return ir.Const(_PYTHON_OPS[e.op](*values), e.dtype)
    return e


def _order(dtype: DType) -> tuple[bool, str]:
    """Python's dtypes last, each kind by name."""
    return dtype.weak, dtype.name


def exact(dtypes: DTypeState, candidates: Candidates, have: DType, want: DType) -> None:
    """Refuse a number that was rounded to the dtype beside it and is needed as it was.

    That is a Python float in single precision, or an integer of 64 bits, or below zero, among
    floats.
    """
    if not is_ambiguous(candidates) or have.kind != "f":
        return
    # the candidates have no order of their own: the same dtypes are named each time
    ordered = sorted(candidates, key=lambda e: _order(e.dtype))
    for e in ordered if want.kind in "iu" else ():
        if _is_lost(e, have, want):
            floating = next((o.dtype for o in ordered if o.dtype.kind == "f"), have)
            raise _refused(dtypes, e.dtype, floating)
    if have.weak:
        return
    for e in ordered:
        if not e.dtype.weak or e.dtype.kind != "f" or want == have or _is_exact(e, have):
            continue
        if want.itemsize > have.itemsize:
            raise _refused(dtypes, e.dtype, have)
        if have.var and have.var != want.var and constant_of(e) is not None:
            dtypes.pin(have)


def _is_lost(e: ir.Expr, have: DType, want: DType) -> bool:
    """Whether an integer is not the same as a float of some dtype first, or by way of one."""
    if e.dtype.kind not in "iu":
        return False
    if want.kind == "u" and e.dtype.kind == "i" and (not e.dtype.weak or _is_below(e)):
        return True  # an integer below zero wraps around, for a float C leaves it open
    return not e.dtype.weak and 2 * e.dtype.itemsize > have.itemsize


def _is_exact(e: ir.Expr, dtype: DType) -> bool:
    value = constant_of(e)
    if not isinstance(value, (int, float)):
        return False
    if not math.isfinite(value):
        return True
    try:
        form = _FORMATS.get(dtype.name, "f")  # a generic kernel serves float32, too
        rounded = struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return False
    return bool(rounded == value)


def _fits(e: ir.Expr, dtype: DType) -> bool:
    """Whether a number of this outcome is the same in the dtype of the kernel's result."""
    have = e.dtype
    if have.weak and dtype.weak and have.kind == "i" and dtype.kind == "f":
        return not (isinstance(e, ir.Op) and e.op in ("floordiv", "mod", "pow"))
    if not have.weak or dtype.weak:
        return have.name == dtype.name and have.weak <= dtype.weak
    if RANK[have.kind] > RANK[dtype.kind]:
        return False
    if dtype.kind not in "iu":
        return True
    value = constant_of(e)
    if isinstance(value, int):
        low, high = limits(dtype)
        return low <= value <= high
    # an index or a count
    return dtype.itemsize >= 4 and not (dtype.kind == "u" and _is_below(e))


def _exact_anyhow(e: ir.Expr, combination: Sequence[ir.Expr], dtype: DType) -> bool:
    """`0 + x`, `0 * x` and `1 * x` are the same in a wider dtype, and so are counts in floats."""
    if not isinstance(e, ir.Op) or RANK[e.dtype.kind] > RANK[dtype.kind]:
        return False
    literals = [constant_of(a) for a in combination if a.dtype.weak]
    if (e.op == "add" and 0 in literals) or (e.op == "mul" and (0 in literals or 1 in literals)):
        return e.dtype.itemsize <= dtype.itemsize
    small = all(isinstance(v, (int, float)) and abs(v) <= 1 for v in literals)
    return e.op in ("add", "sub", "mul") and small and dtype.kind in "fc" and (
        e.dtype.kind == "i" and e.dtype.itemsize == 8)  # fmt: skip


def _check_literal(dtypes: DTypeState, e: ir.Expr, dtype: DType) -> None:
    if e.dtype.weak and not _fits(e, dtype):
        raise _refused(dtypes, e.dtype, dtype)


def check_result(dtypes: DTypeState, candidates: Candidates) -> None:
    """Refuse a result that is of one dtype or another: a kernel has one array for it."""
    found = sorted({e.dtype for e in candidates}, key=_order)
    if len({strengthen(d).name for d in found}) == 1:
        return
    names = " or ".join(_named(d) for d in found)
    of_int = found[0].kind == "f" and found[-1].weak and found[-1].kind == "i"
    raise dtypes.place.refuse(
        "PRT908", f"the result is {names} depending on the data",
        "start with a float, such as `0.0`" if of_int else "give all of them the same dtype",
    )  # fmt: skip


def _refused(dtypes: DTypeState, one: DType, other: DType) -> Refusal:
    return dtypes.place.refuse(
        "PRT908", f"a number here is {_named(one)} or {_named(other)} depending on the data",
        "give both the same dtype, for example with `x.dtype.type(2)`",
    )  # fmt: skip


def _named(dtype: DType) -> str:
    return f"a Python {_PYTHON[dtype.kind]}" if dtype.weak else dtype.name
