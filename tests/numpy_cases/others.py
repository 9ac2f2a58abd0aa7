"""Names that are not converted: they stay on the host, become a library call, or are refused."""

from numpy_case import Row, refused

_SORT = "sorting has no kernel of its own"
_STRIDES = "how an array lies in memory is not part of its value here"
_ITEMS = "Python lists of the elements belong to the host"
_SOLVE = "a factorisation has no kernel of its own"
#: names and arguments of what has no handler
REST = {
    "atleast_1d": "v", "atleast_2d": "v", "append": "v, w", "tile": "v, 2", "pad": "v, 1",
    "cross": "S, S", "cumsum": "v", "repeat": "v, 2", "allclose": "v, w", "gradient": "v",
    "nonzero": "v", "searchsorted": "v, w", "choose": "j, (v, w)", "isin": "v, w", "diag": "v",
    "flatnonzero": "v", "insert": "v, 1, w", "take": "v, j", "mgrid": "v", "finfo": "v",
    "nanmax": "v",
}  # fmt: skip

ROWS: dict[str, Row] = {
    "ndarray.tolist": refused(_ITEMS, "v.tolist()"),
    "ndarray.view": refused(_STRIDES, "v.view(np.int32)"),
    "ndarray.base": refused(_STRIDES, "v.base"),
    "ndarray.flags": refused(_STRIDES, "v.flags"),
    "ndarray.strides": refused(_STRIDES, "v.strides"),
    "numpy.argsort": refused(_SORT, "np.argsort(v)"),
    "numpy.sort": refused(_SORT, "np.sort(v)"),
    "ndarray.sort": refused(_SORT, "v.sort()"),
    "numpy.unique": refused(_SORT, "np.unique(v)"),
    "numpy.median": refused(_SORT, "np.median(v)"),
    "numpy.percentile": refused(_SORT, "np.percentile(v, 50)"),
    "numpy.quantile": refused(_SORT, "np.quantile(v, 0.5)"),
    "numpy.linalg.inv": refused(_SOLVE, "np.linalg.inv(S)"),
    "numpy.linalg.solve": refused(_SOLVE, "np.linalg.solve(S, v)"),
    "numpy.linalg.det": refused(_SOLVE, "np.linalg.det(S) * v"),
    "numpy.linalg.svd": refused(_SOLVE, "np.linalg.svd(S)"),
    "numpy.linalg.eigh": refused(_SOLVE, "np.linalg.eigh(S)"),
    "numpy.linalg.cholesky": refused(_SOLVE, "np.linalg.cholesky(S)"),
    "numpy.linalg.qr": refused(_SOLVE, "np.linalg.qr(S)"),
    "numpy.nextafter": refused("there is no such instruction", "np.nextafter(v, w)"),
    "numpy.spacing": refused("there is no such instruction", "np.spacing(v)"),
    "numpy.i0": refused("a series of its own", "np.i0(v)"),
    **{
        f"numpy.{name}": refused("not converted", f"np.{name}({rest})")
        for name, rest in REST.items()
    },
    "ndarray.flat": refused("not converted", "v.flat[0]"),
    "ndarray.cumsum": refused("not converted", "v.cumsum()"),
}
