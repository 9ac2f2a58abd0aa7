"""The limits of dtypes: `np.finfo` and `np.iinfo`, whose attributes are constants."""

from __future__ import annotations

from porter import ir
from porter.dtypes.dtype import DType, limits, strengthen
from porter.ir.scalars import integer, number
from porter.lowering.functions.registry import Call, dtype_of, function
from porter.resolve.values import Array, Record, Value

#: bits of the dtype, of its mantissa, and the exponent of its smallest normal number (IEEE 754)
_FORMATS = {"float16": (16, 10, -14), "float32": (32, 23, -126), "float64": (64, 52, -1022)}


def _dtype(call: Call) -> DType:
    """The dtype named, or that of a number or array; the program then serves only this one."""
    value = call.value("dtype")
    found = dtype_of(value)
    if found is None:
        operand = call.operand("dtype")
        if isinstance(operand, Array):
            raise call.refuse("PRT907", f"`{call.name}` is applied to an array",
                              "pass the dtype of the array: `x.dtype`")  # fmt: skip
        found = operand.dtype
    call.b.dtypes.pin(found)
    return strengthen(found).plain()


@function("numpy.finfo", "dtype")
def _finfo(call: Call) -> Value:
    """Attributes are scalars of the dtype itself, as NumPy's are."""
    dtype = _dtype(call)
    if dtype.kind == "c":
        dtype = DType("float32" if dtype.name == "complex64" else "float64")
    if dtype.name not in _FORMATS:
        raise call.refuse(
            "PRT907", f"`finfo` does not take {dtype.name}", "use `np.iinfo` for integers"
        )
    bits, mantissa, least = _FORMATS[dtype.name]
    eps, tiny = 2.0**-mantissa, 2.0**least
    largest = 2.0 ** (-least + 1) * (1 - eps / 2) * 2 if bits < 64 else 1.7976931348623157e308
    values = {
        "eps": eps, "epsneg": eps / 2, "max": largest, "min": -largest, "tiny": tiny,
        "smallest_normal": tiny, "smallest_subnormal": tiny * eps,
        "resolution": 10.0 ** -int(mantissa * 0.30103),
    }  # fmt: skip
    fields = {name: ir.Const(value, dtype) for name, value in values.items()}
    return Record("finfo", {**fields, "bits": integer(bits), "nmant": integer(mantissa)})


@function("numpy.iinfo", "type")
def _iinfo(call: Call) -> Value:
    """Attributes are Python ints."""
    call.arguments["dtype"] = call.value("type")
    dtype = _dtype(call)
    if dtype.kind not in "iu":
        raise call.refuse(
            "PRT907", f"`iinfo` does not take {dtype.name}", "use `np.finfo` for floats"
        )
    low, high = limits(dtype)
    bits = integer(8 * dtype.itemsize)
    return Record("iinfo", {"min": number(low), "max": number(high), "bits": bits})
