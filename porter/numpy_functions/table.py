"""The facts: functions of which the same is known share a row. See `FunctionSpec`."""

from __future__ import annotations

from typing import Any

from porter.numpy_functions.spec import Rank, declare


def _rows(names: str, **facts: Any) -> None:
    """Names are NumPy's where they do not say whose they are."""
    for name in names.split():
        owner = name.partition(".")[0]
        known = owner != name and owner in ("builtins", "math", "ndarray")
        declare(name if known else f"numpy.{name}", **facts)


# -- reductions and scans ----------------------------------------------------------------------

_REDUCED: dict[str, Any] = {"rank": Rank.REDUCED, "axes": 1}
_rows("sum prod mean std var", **_REDUCED, method=0, lazy=True, rounds=True)
_rows("any all", **_REDUCED, method=0, lazy=True)
_rows("max min argmax argmin", **_REDUCED, method=0)
_rows("count_nonzero", **_REDUCED, lazy=True)
_rows("amax amin median nanmedian ptp", **_REDUCED)
_rows("average", **_REDUCED, rounds=True)
_rows("linalg.norm", **_REDUCED, rounds=True, cupy=True)
_rows("nansum nanmean", lazy=True, rounds=True)
_rows("nanprod nanvar nanstd", lazy=True)
_rows("cumsum cumprod", axes=1, method=0, rounds=True)

# -- functions of the lines of an array --------------------------------------------------------

_rows("sort", axes=1, cupy=True)
_rows("argsort", axes=1, method=0, cupy=True)
_rows("searchsorted", axes=1, method=0)
_rows("convolve diff gradient interp pad roll", axes=1)
_rows("flip", axes=1, view=True)

# -- products and matrices ---------------------------------------------------------------------

_rows("dot", rank=Rank.PRODUCT, axes=1, method=0, rounds=True)
_rows("matmul", rank=Rank.PRODUCT, inputs=2, rounds=True)
_rows("vecdot", inputs=2)
_rows("outer", rank=Rank.SQUARE, rounds=True)
_rows("trace", method=0, rounds=True)
_rows("inner einsum tensordot", rounds=True)
_rows("diagflat", rank=Rank.SQUARE)
_rows(
    "linalg.eigh linalg.eigvalsh linalg.lstsq linalg.pinv linalg.qr linalg.svd", axes=2, cupy=True
)
_rows("linalg.cholesky linalg.det linalg.inv linalg.solve", axes=2, cupy=True, solves=True)
_rows("fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.ifft2 fft.fftn fft.ifftn", cupy=True)

# -- arrays that are made ----------------------------------------------------------------------

_rows("zeros ones empty full", rank=Rank.SHAPE, sizes=(0,), numbers=True, creates=True)
_rows("eye identity", rank=Rank.SQUARE, sizes=(0,), numbers=True, creates=True)
_rows("arange", rank=Rank.LINE, sizes=(0, 1, 2), numbers=True, creates=True)
_rows("linspace", rank=Rank.LINE, sizes=(2,), numbers=True, creates=True, rounds=True)
_RANDOM = ("random.", "random.Generator.")
for _owner in _RANDOM:
    _rows(f"{_owner}random {_owner}standard_normal {_owner}standard_exponential",
          rank=Rank.SHAPE, sizes=(0,), numbers=True)  # fmt: skip
    _rows(f"{_owner}normal {_owner}uniform", sizes=(2,), numbers=True)
    _rows(f"{_owner}exponential", sizes=(1,), numbers=True)
    _rows(f"{_owner}choice", sizes=(1,), axes=1)
_rows("random.random_sample random.ranf random.sample", rank=Rank.SHAPE, sizes=(0,), numbers=True)
_rows("random.rand random.randn", sizes=(0, 1, 2, 3), numbers=True)
_rows("random.randint random.Generator.integers", sizes=(0, 1, 2), numbers=True)
_rows("random.default_rng random.RandomState random.seed", sizes=(0,), numbers=True)
_rows("zeros_like ones_like empty_like full_like", rank=Rank.LIKE, creates=True)
_rows("array asarray", rank=Rank.JOINED, view=True, creates=True)
_rows("ascontiguousarray asanyarray asfortranarray", view=True, creates=True)
_rows("copy", method=0, lazy=True, creates=True)
_rows("concatenate stack", rank=Rank.JOINED)
_rows("ndindex", rank=Rank.SHAPE)

# -- other shapes and other places -------------------------------------------------------------

_rows("reshape", rank=Rank.RESHAPED, view=True)
_rows("ravel", rank=Rank.FLAT, method=0, view=True)
_rows("transpose swapaxes squeeze diagonal", method=0, view=True)
_rows("permute_dims moveaxis rollaxis expand_dims atleast_1d atleast_2d atleast_3d broadcast_to "
      "broadcast_arrays diag split array_split hsplit vsplit dsplit require fliplr flipud rot90 "
      "meshgrid frombuffer matrix_transpose unstack nditer "
      "ndenumerate asmatrix real_if_close trim_zeros from_dlpack astype", view=True)  # fmt: skip
_rows("as_strided sliding_window_view", view=True, sizes=(1,))
_rows("repeat", rank=Rank.LINE, method=0)
_rows("flatnonzero", rank=Rank.LINE)
_rows("bincount", rank=Rank.LINE, positions=0)
_rows("take", method=0, positions=1)
_rows("take_along_axis", positions=1)
_rows("compress", method=1)
_rows("choose", method=0, positions=0)
_rows("nonzero", method=0)
_rows("where", lazy=True)

# -- functions that change an argument ---------------------------------------------------------

_rows("fill_diagonal put place put_along_axis putmask", changes=True)
_rows("ufunc.at", changes=True, positions=1)
_rows("copyto random.shuffle", changes=True, view=True)

# -- elementwise -------------------------------------------------------------------------------

_rows("exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh "
      "tanh", inputs=1, rounds=True)  # fmt: skip
_rows("negative positive absolute abs fabs sign square reciprocal arcsinh arccosh arctanh degrees "
      "radians deg2rad rad2deg floor ceil trunc rint invert logical_not isnan isinf isfinite "
      "signbit conj conjugate spacing modf frexp", inputs=1)  # fmt: skip
_rows("arctan2 hypot power", inputs=2, rounds=True)
_rows("add subtract multiply divide true_divide floor_divide remainder mod fmod maximum minimum "
      "fmax fmin bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less "
      "less_equal greater greater_equal logical_and logical_or logical_xor logaddexp logaddexp2 "
      "copysign nextafter ldexp heaviside gcd lcm float_power divmod", inputs=2)  # fmt: skip
_rows("asin acos atan atan2 math.pow math.erf math.erfc math.gamma math.lgamma", rounds=True)
_rows("real imag nan_to_num", lazy=True, view=True)
_rows("clip", method=0)
_rows("round", method=0, lazy=True)
_rows("around angle isclose sinc builtins.abs builtins.round", lazy=True)
_rows("builtins.int builtins.float builtins.bool builtins.complex", numbers=True)

# -- methods that are no functions, or do something else than the function ----------------------

_rows("ndarray.astype ndarray.tolist ndarray.item ndarray.tobytes ndarray.tofile ndarray.dump "
      "ndarray.dumps ndarray.ptp")  # fmt: skip
_rows("ndarray.flatten", rank=Rank.FLAT)
_rows("ndarray.reshape", rank=Rank.RESHAPED, view=True)
_rows("ndarray.conj ndarray.conjugate ndarray.view", view=True)
_rows("ndarray.fill ndarray.sort ndarray.put ndarray.itemset ndarray.partition ndarray.resize "
      "ndarray.setfield ndarray.setflags ndarray.byteswap", changes=True)  # fmt: skip
