"""What CuPy has of NumPy's functions, and where it is not the same: facts of CuPy 14.

`differs` asks for a function (`numpy.linalg.inv`) or a method (`ndarray.sum`); what is not in the
table CuPy has with the same parameters and the same meaning, but for what `docs/cupy.md` says of
all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Difference:
    """How CuPy's function is another one: not there, without parameters, or with a note."""

    missing: bool = False
    lacks: frozenset[str] = frozenset()  # parameters of NumPy's
    note: str = ""  # what the module says of it
    cure: str = ""  # what to write in its place
    dtypes: frozenset[str] = frozenset()  # those that its first argument may have; empty for all


_TABLE: dict[str, Difference] = {}


#: what CuPy's atomic additions take
_ATOMIC = frozenset(
    ("int32", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128")
)


def _rows(
    names: str, lacks: str = "", note: str = "", cure: str = "", missing: bool = False
) -> None:
    for name in names.split():
        full = name if name.startswith("ndarray.") else f"numpy.{name}"
        old = _TABLE.get(full, Difference())
        _TABLE[full] = replace(
            old, missing=old.missing or missing, lacks=old.lacks | frozenset(lacks.split()),
            note=note or old.note, cure=cure or old.cure,
        )  # fmt: skip


# -- not there ----------------------------------------------------------------------------------

_rows("asmatrix geomspace histogram_bin_edges insert linalg.multi_dot ndenumerate nditer spacing "
      "unstack vecdot longdouble float128 clongdouble errstate fromiter frompyfunc "
      "linalg.eig linalg.eigvals memmap ndindex", missing=True)  # fmt: skip
_rows("maximum.reduce maximum.accumulate minimum.reduce minimum.accumulate logical_or.reduce "
      "logical_or.accumulate logical_and.reduce logical_and.accumulate", missing=True,
      cure="use `max`, `min`, `any` or `all` of the array")  # fmt: skip
_rows("ndarray.getfield ndarray.resize ndarray.setfield ndarray.setflags ndarray.ctypes "
      "ndarray.flat", missing=True)  # fmt: skip

_rows("put place put_along_axis putmask ndarray.put", missing=True,
      cure="store with a mask: `x[mask] = value`")  # fmt: skip

# -- without some parameters ---------------------------------------------------------------------

_rows("all any mean", lacks="where")
_rows("amax amin max min nanmax nanmin nanprod nansum prod sum", lacks="initial where")
_rows("std var nanstd nanvar", lacks="where mean correction")
_rows("argsort sort", lacks="order stable kind")
_rows("count_nonzero", lacks="keepdims")
_rows("einsum", lacks="out optimize dtype casting order")
_rows("zeros ones empty full eye identity arange linspace array asarray asanyarray "
      "ascontiguousarray asfortranarray zeros_like ones_like empty_like full_like tri astype "
      "fromfunction require", lacks="device like subok ndmax")  # fmt: skip
_rows("clip", lacks="min max")
_rows("take", lacks="mode", note="positions out of bounds wrap around")
_rows("indices", lacks="sparse")
_rows("isin", lacks="kind")
_rows("linalg.cholesky", lacks="upper")
_rows("linalg.pinv", lacks="hermitian rtol")
_rows("linalg.svd", lacks="hermitian")
_rows("percentile quantile", lacks="weights")
_rows("fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.irfft fft.rfft", lacks="out")
_rows("broadcast_arrays broadcast_to copy", lacks="subok")
_rows("meshgrid", lacks="copy")
_rows("trim_zeros", lacks="axis")
# the first parameter has another name
_rows("concatenate stack concat hstack vstack dstack column_stack", lacks="arrays")
_rows("flip fliplr flipud rot90 cov", lacks="m")
_rows("corrcoef fix sinc", lacks="x")
_rows("delete", lacks="obj")
_rows("ediff1d", lacks="ary")
_rows("extract take_along_axis", lacks="arr")
_rows("histogram linalg.matrix_power", lacks="a")
_rows("reshape unravel_index", lacks="shape")
#: of every ufunc: the loop that NumPy masks
UFUNC_LACKS = frozenset({"where", "order", "subok", "signature"})
_rows("ndarray.sum ndarray.prod ndarray.max ndarray.min", lacks="initial where")
_rows("ndarray.mean ndarray.std ndarray.var ndarray.all ndarray.any", lacks="where mean correction")
_rows("ndarray.sort ndarray.argsort", lacks="order stable kind")
_rows("ndarray.take", lacks="mode", note="positions out of bounds wrap around")
_rows("ndarray.astype", lacks="subok")

# -- there, but not the same ---------------------------------------------------------------------

_SINGULAR = "a singular matrix gives NaN or infinity, where NumPy raises LinAlgError"
_rows("linalg.inv linalg.solve linalg.cholesky", note=_SINGULAR)
_rows("linalg.eigh linalg.svd linalg.qr", note="the signs of vectors may be others")
_rows("fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.ifft2 fft.fftn fft.ifftn",
      note="is computed by cuFFT, and rounded otherwise")  # fmt: skip
_rows("add.at subtract.at", note="the order of the additions is not fixed")
for _name in ("numpy.add.at", "numpy.subtract.at"):
    _TABLE[_name] = replace(_TABLE[_name], dtypes=_ATOMIC)


def differs(name: str) -> Difference:
    """How CuPy's function of a full name, or its method, is another one than NumPy's."""
    return _TABLE.get(name, Difference())
