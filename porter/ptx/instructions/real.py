"""Rows of floating-point numbers (PTX ISA 9.7.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic import floats, fused
from porter.ptx.arithmetic.kinds import Array
from porter.ptx.instructions.rows import Form, Row

_DIRECTED = ("rz", "rm", "rp")


def _float32(form: Form, function: Any) -> Any:
    return floats.modified(function, ftz=form.has("ftz"), sat=form.has("sat"))


def _operation(nearest: Any, directed: Any) -> Any:
    """A function for the nearest, and one that takes a directed mode."""

    def made(form: Form) -> Any:
        mode = form.one(*_DIRECTED)
        function = (lambda *given: directed(*given, mode)) if mode else nearest
        return _float32(form, function) if form.type == "f32" else nearest

    return made


def _difference(a: Array, b: Array, mode: str) -> Array:
    return fused.sum32(a, -b, mode)


def _plain(function: Any) -> Any:
    return lambda form: _float32(form, function) if form.type == "f32" else function


def _fused(form: Form) -> Any:
    if form.type == "f64":
        return fused.fma64
    mode = form.one(*_DIRECTED)
    directed: Any = fused.fma32_directed
    return _float32(form, (lambda *given: directed(*given, mode)) if mode else fused.fma32)


def _extreme(least: bool) -> Any:
    def made(form: Form) -> Any:
        return _float32(form, floats.extreme(form.type, least, form.has("NaN")))

    return made


def _double(function: Any) -> Any:
    return lambda form: _float32(form, floats.by_double(function))


def _sign(a: Array, b: Array) -> Array:
    return np.copysign(b, a)


def _tested(form: Form) -> Any:
    return floats.tested(form.type, form.words[0])


def _gross(function: Any) -> Any:
    return lambda form: floats.gross(function)


_F = "float"
_ROUND32 = "[rn rz rm rp] [ftz] [sat] f32"
ROWS = (
    Row(f"add {_ROUND32}", "t|t t", _operation(np.add, fused.sum32), "a + b", _F),
    Row("add [rn] f64", "t|t t", _plain(np.add), "a + b", _F),
    Row(f"sub {_ROUND32}", "t|t t", _operation(np.subtract, _difference), "a - b", _F),
    Row("sub [rn] f64", "t|t t", _plain(np.subtract), "a - b", _F),
    Row(f"mul {_ROUND32}", "t|t t", _operation(np.multiply, fused.product32), "a * b", _F),
    Row("mul [rn] f64", "t|t t", _plain(np.multiply), "a * b", _F),
    Row("fma {rn rz rm rp} [ftz] [sat] f32", "t|t t t", _fused, "a * b + c, rounded once", _F),
    Row("fma rn f64", "t|t t t", _fused, "a * b + c, rounded once", _F, rough=fused.fma_twice),
    Row("mad {rn rz rm rp} [ftz] [sat] f32", "t|t t t", _fused, "the same as fma", _F),
    Row("mad rn f64", "t|t t t", _fused, "the same as fma", _F),
    Row("div rn [ftz] f32", "t|t t", _plain(np.divide), "a / b", _F),
    Row("div rn f64", "t|t t", _plain(np.divide), "a / b", _F),
    Row(
        "div approx [ftz] f32", "t|t t", _plain(floats.full_quotient), "a / b", _F,
        bound="2 ulp for b from 2**-126 to 2**126",
    ),
    Row(
        "div full [ftz] f32", "t|t t", _plain(floats.full_quotient), "a / b", _F, bound="2 ulp"
    ),
    Row("rcp rn [ftz] f32", "t|t", _plain(floats.reciprocal), "1 / a", _F),
    Row("rcp rn f64", "t|t", _plain(floats.reciprocal), "1 / a", _F),
    Row("rcp approx [ftz] f32", "t|t", _plain(floats.reciprocal), "1 / a", _F, bound="1 ulp"),
    Row(
        "rcp approx ftz f64", "t|t", _gross(floats.reciprocal),
        "1 / a from the upper 32 bits of a; the lower 32 bits of the result are 0", _F,
        bound="about 2**-19, relative",
    ),
    Row("sqrt rn [ftz] f32", "t|t", _plain(np.sqrt), "the square root", _F),
    Row("sqrt rn f64", "t|t", _plain(np.sqrt), "the square root", _F),
    Row(
        "sqrt approx [ftz] f32", "t|t", _plain(np.sqrt), "the square root", _F,
        bound="2**-23, relative",
    ),
    Row(
        "rsqrt approx [ftz] f32", "t|t", _double(floats.inverse_root), "1 / sqrt(a)", _F,
        bound="2**-22.9, relative",
    ),
    Row(
        "rsqrt approx ftz f64", "t|t", _gross(floats.inverse_root),
        "1 / sqrt(a) from the upper 32 bits of a; the lower 32 bits of the result are 0", _F,
        bound="about 2**-19, relative",
    ),
    Row(
        "sin approx [ftz] f32", "t|t", _double(np.sin), "the sine", _F,
        bound="2**-20.5 from -pi to pi, absolute",
    ),
    Row(
        "cos approx [ftz] f32", "t|t", _double(np.cos), "the cosine", _F,
        bound="2**-20.5 from -pi to pi, absolute",
    ),
    Row("lg2 approx [ftz] f32", "t|t", _double(np.log2), "the logarithm to base 2", _F,
        bound="2**-22 from 0.5 to 2, absolute; 2**-22 relative elsewhere"),
    Row(
        "ex2 approx [ftz] f32", "t|t", _double(np.exp2), "2 to the power of a", _F,
        bound="2 ulp",
    ),
    Row(
        "tanh approx f32", "t|t", _double(np.tanh), "the hyperbolic tangent", _F,
        bound="2**-11, relative",
    ),
    Row("abs [ftz] f32", "t|t", _plain(np.abs), "without the sign", _F),
    Row("abs f64", "t|t", _plain(np.abs), "without the sign", _F),
    Row("neg [ftz] f32", "t|t", _plain(np.negative), "with the sign inverted", _F),
    Row("neg f64", "t|t", _plain(np.negative), "with the sign inverted", _F),
    Row("min [ftz] [NaN] f32", "t|t t", _extreme(True), "the lesser, a number before NaN", _F),
    Row("min f64", "t|t t", _extreme(True), "the lesser, a number before NaN", _F),
    Row("max [ftz] [NaN] f32", "t|t t", _extreme(False), "the greater, a number before NaN", _F),
    Row("max f64", "t|t t", _extreme(False), "the greater, a number before NaN", _F),
    Row("copysign {f32 f64}", "t|t t", lambda form: _sign, "b with the sign of a", _F),
    Row(
        "testp {finite infinite number notanumber normal subnormal} {f32 f64}", "pred|t", _tested,
        "whether a is one", _F,
    ),
)  # fmt: skip
