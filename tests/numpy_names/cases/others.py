"""Names that are not converted: they stay on the host, become a library call, or are refused."""

from tests.numpy_names.case import Row, refused

_SORT = "sorting has no kernel of its own"
_STRIDES = "how an array lies in memory is not part of its value here"
_ITEMS = "Python lists of the elements belong to the host"
#: names and arguments of what has no handler
REST = {
    "atleast_1d": "v", "atleast_2d": "v", "append": "v, w", "tile": "v, 2", "pad": "v, 1",
    "cross": "S, S", "repeat": "v, 2", "gradient": "v",
    "nonzero": "v", "searchsorted": "v, w", "choose": "j, (v, w)", "isin": "v, w", "diag": "v",
    "flatnonzero": "v", "insert": "v, 1, w", "take": "v, j", "mgrid": "v", 
}  # fmt: skip

ROWS: dict[str, Row] = {
    "ndarray.tolist": refused(_ITEMS, "v.tolist()"),
    "ndarray.view": refused(_STRIDES, "v.view(np.int32)"),
    "ndarray.base": refused(_STRIDES, "v.base"),
    "ndarray.flags": refused(_STRIDES, "v.flags"),
    "ndarray.strides": refused(_STRIDES, "v.strides"),
    "numpy.unique": refused(_SORT, "np.unique(v)"),
    "numpy.nextafter": refused("there is no such instruction", "np.nextafter(v, w)"),
    "numpy.spacing": refused("there is no such instruction", "np.spacing(v)"),
    "numpy.i0": refused("a series of its own", "np.i0(v)"),
    **{
        f"numpy.{name}": refused("not converted", f"np.{name}({rest})")
        for name, rest in REST.items()
    },
    "ndarray.flat": refused("not converted", "v.flat[0]"),
    "numpy.linalg.eig": refused("complex or real as the data says", "np.linalg.eig(S)"),
    "numpy.unwrap": refused("each element depends on the one before", "np.unwrap(v)"),
    "numpy.nanargmax": refused(
        "it raises where all are NaN, as only the data says", "np.nanargmax(v)"
    ),
    "numpy.nanargmin": refused(
        "it raises where all are NaN, as only the data says", "np.nanargmin(v)"
    ),
    "numpy.frexp": refused("not converted", "np.frexp(v)"),
    "numpy.ldexp": refused("not converted", "np.ldexp(v, e)"),
    "numpy.gcd": refused("not converted", "np.gcd(j, j)"),
    "numpy.lcm": refused("not converted", "np.lcm(j, j)"),
}
