"""Linear algebra, Fourier transforms and sorts: library calls with known results."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import FLOAT64, INT64, WEAK_INT, DType, promote
from porter.ir.engines import Engine
from porter.ir.scalars import on_host
from porter.lowering.arrays.calculus import (
    ONE,
    aligned,
    as_array,
    astype,
    broadcast_shape,
    normal_axis,
    reindex,
)
from porter.lowering.arrays.rearrange import flat
from porter.lowering.arrays.stores import store
from porter.lowering.functions.creation import ones_on_diagonal
from porter.lowering.functions.joining import join
from porter.lowering.functions.registry import Call, function
from porter.lowering.library import Result, complex_of, floating, library_call, real_of, solver
from porter.numpy_functions import Dotted
from porter.resolve.values import NONE, Array, Special, Value
from porter.sizes.polynomial import Poly, minimum

#: a result of a library call whose size or type the data decides
UNKNOWN = Special("a result whose size is not known")


def _square(call: Call, name: str) -> Array:
    array = call.array(name)
    if array.ndim != 2:
        raise call.refuse("PRT903", f"`{call.name}` requires a 2-D array")
    return array


def _known(call: Call, *names: str) -> str:
    """Keyword arguments as they were given, where they differ from nothing."""
    parts = []
    for name in names:
        value = call.constant(name)
        if value is not None:
            parts.append(f", {name}={value!r}")
    return "".join(parts)


@function("numpy.linalg.cholesky", "a")
def _cholesky(call: Call) -> Value:
    if not call.ev.scope.options.own_solvers:
        return _same_matrix(call)
    a = _matrices(call, "a")
    result = Result("factor", a.shape, floating(call, a))
    held = as_array(astype(a, result.dtype))
    return solver(call, Engine.CHOLESKY, "np.linalg.cholesky({0})", held, result)


@function("numpy.linalg.pinv", "a")
def _same_matrix(call: Call) -> Value:
    a = _square(call, "a")
    shape = a.shape[::-1] if call.name.short == "pinv" else a.shape
    result = Result(call.name.short, shape, floating(call, a))
    return library_call(call, f"np.{call.name.path}({{0}})", [a], [result])[0]


@function("numpy.linalg.inv", "a")
def _inv(call: Call) -> Value:
    """The solution for the identity matrix."""
    if not call.ev.scope.options.own_solvers:
        return _same_matrix(call)
    a = _matrices(call, "a")
    n = a.shape[-1]
    return _solved(call, a, ones_on_diagonal(n, n, 0, floating(call, a)))


@function("numpy.linalg.solve", "a b")
def _solve(call: Call) -> Value:
    own = call.ev.scope.options.own_solvers
    a, b = _matrices(call, "a") if own else _square(call, "a"), call.array("b")
    if not b.ndim or not (own or b.ndim <= 2):
        raise call.refuse("PRT903", "`solve` requires a 1-D or 2-D right-hand side")
    dtype = _common(call, a, b)
    if not own:
        text = "np.linalg.solve({0}, {1})"
        return library_call(call, text, [a, b], [Result("solution", b.shape, dtype)])[0]
    if b.ndim > 1:
        return _solved(call, a, b)
    # a vector, also for a stack of matrices (NumPy 2)
    return _solved(call, a, reindex(b, (*b.shape, ONE), lambda idx: list(idx[:-1])), vector=True)


def _matrices(call: Call, name: str) -> Array:
    """A square matrix, or a stack of them."""
    array = call.array(name)
    if array.ndim < 2:
        raise call.refuse("PRT903", f"`{call.name}` requires an array of at least two dimensions")
    rows, columns = array.shape[-2:]
    call.b.sizes.unify(rows, columns, "Last 2 dimensions of the array must be square")
    return array


def _solved(call: Call, a: Array, b: Array, vector: bool = False) -> Array:
    """The solutions of `a @ x = b`, both with the leading axes of either.

    A `vector` has no axis for its only column.
    """
    dtype = _common(call, a, b)
    lead = broadcast_shape(call.b, [a.shape[:-2], b.shape[:-2]], f"`{call.name}`")
    sides = [_stacked(as_array(astype(side, dtype)), lead) for side in (a, b)]
    operands = join(call.b, sides, -1, f"`{call.name}`")
    n = call.b.sizes.resolve(a.shape[-1])
    text = "np.linalg.solve({0}[..., :{1}], {0}[..., {1}:])" + ("[..., 0]" if vector else "")
    shape = (*lead, n) if vector else (*lead, n, b.shape[-1])
    result = Result("solution", shape, operands.dtype)
    return solver(call, Engine.SOLVE, text, operands, result, [ir.Value(n, WEAK_INT)])


def _stacked(array: Array, lead: tuple[Poly, ...]) -> Array:
    """A matrix for each index of the leading axes."""

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return array.at([*aligned(array.shape[:-2], idx[:-2]), *idx[-2:]])

    return Array((*lead, *array.shape[-2:]), array.dtype, at)


def _common(call: Call, a: Array, b: Array) -> DType:
    x, y = floating(call, a), floating(call, b)
    if x.var and y.var:
        call.b.dtypes.same_dtype(x, y)
    return promote(x, y)


@function("numpy.linalg.det", "a")
def _det(call: Call) -> Value:
    own = call.ev.scope.options.own_solvers
    a = _matrices(call, "a") if own else _square(call, "a")
    result = Result("determinant", a.shape[:-2], floating(call, a))
    text = "np.linalg.det({0})"
    if own:
        held = as_array(astype(a, result.dtype))
        made = solver(call, Engine.DETERMINANT, text, held, result)
    else:
        made = library_call(call, text, [a], [result])[0]
    return made if made.ndim else made.at(())


@function("numpy.linalg.eigvalsh", "a UPLO=L")
def _eigvalsh(call: Call) -> Value:
    a = _square(call, "a")
    result = Result("eigenvalues", a.shape[:1], real_of(call, floating(call, a)))
    text = f"np.linalg.eigvalsh({{0}}, {call.constant('UPLO')!r})"
    return library_call(call, text, [a], [result])[0]


@function("numpy.linalg.eigh", "a UPLO=L")
def _eigh(call: Call) -> Value:
    a = _square(call, "a")
    dtype = floating(call, a)
    results = [Result("eigenvalues", a.shape[:1], real_of(call, dtype)),
               Result("eigenvectors", a.shape, dtype)]  # fmt: skip
    text = f"np.linalg.eigh({{0}}, {call.constant('UPLO')!r})"
    return tuple(library_call(call, text, [a], results))


@function("numpy.linalg.svd", "a full_matrices=True compute_uv=True")
def _svd(call: Call) -> Value:
    a = _square(call, "a")
    (m, n), dtype = a.shape, floating(call, a)
    k = minimum(m, n)
    full, vectors = call.constant("full_matrices"), call.constant("compute_uv")
    values = Result("singular_values", (k,), real_of(call, dtype))
    if not vectors:
        return library_call(call, "np.linalg.svd({0}, compute_uv=False)", [a], [values])[0]
    rows, columns = (m, n) if full else (k, k)
    results = [Result("u", (m, rows), dtype), values, Result("vh", (columns, n), dtype)]
    text = f"np.linalg.svd({{0}}, full_matrices={bool(full)})"
    return tuple(library_call(call, text, [a], results))


@function("numpy.linalg.qr", "a mode=reduced")
def _qr(call: Call) -> Value:
    a = _square(call, "a")
    (m, n), dtype, mode = a.shape, floating(call, a), call.constant("mode")
    k = minimum(m, n)
    if mode == "r":
        return library_call(call, "np.linalg.qr({0}, 'r')", [a], [Result("r", (k, n), dtype)])[0]
    if mode not in ("reduced", "complete"):
        raise call.refuse(
            "PRT901",
            f"`qr` with the mode {mode!r} is not supported",
            "use the mode `reduced`, `complete` or `r`",
        )
    inner = k if mode == "reduced" else m
    results = [Result("q", (m, inner), dtype), Result("r", (inner, n), dtype)]
    return tuple(library_call(call, f"np.linalg.qr({{0}}, {mode!r})", [a], results))


@function("numpy.linalg.lstsq", "a b rcond=None")
def _lstsq(call: Call) -> Value:
    a, b = _square(call, "a"), call.array("b")
    if b.ndim not in (1, 2):
        raise call.refuse("PRT903", "`lstsq` requires a 1-D or 2-D right-hand side")
    shape = (a.shape[1], *b.shape[1:])
    text = f"np.linalg.lstsq({{0}}, {{1}}, rcond={call.constant('rcond')!r})[0]"
    result = Result("solution", shape, _common(call, a, b))
    return (library_call(call, text, [a, b], [result])[0], UNKNOWN, UNKNOWN, UNKNOWN)


# -- Fourier transforms ------------------------------------------------------------------------


@function(
    "numpy.fft.fft numpy.fft.ifft numpy.fft.rfft numpy.fft.irfft", "a n=None axis=-1 norm=None"
)
def _fft(call: Call) -> Value:
    a, short = call.array("a"), call.name.path
    if not a.ndim:
        raise call.refuse("PRT903", f"`{short}` is applied to a scalar")
    axis = normal_axis(call.b, int(call.constant("axis")), a.ndim, f"`{call.name}`")
    given = call.value("n")
    length = a.shape[axis] if given is NONE else call.ev.size(given, call.node)
    kind = call.name.short
    n = length
    if kind == "rfft":
        n = length // 2 + 1
    elif kind == "irfft" and given is NONE:
        n = (length - 1) * 2
    shape = (*a.shape[:axis], n, *a.shape[axis + 1 :])
    dtype = complex_of(call, a)
    dtype = real_of(call, dtype) if kind == "irfft" else dtype
    if kind == "rfft" and a.dtype.kind == "c":
        raise call.refuse(
            "PRT907", "`rfft` of complex numbers raises TypeError in NumPy", "use `np.fft.fft`"
        )
    # a size that is not known is given to the call when it runs
    scalars = [ir.Value(length, INT64)] if given is not NONE and length.constant is None else []
    shown = "{1}" if scalars else length if given is not NONE else None
    text = f"np.{short}({{0}}, {shown}, {axis}{_known(call, 'norm')})"
    name = "signal" if kind in ("ifft", "irfft") else "spectrum"
    return library_call(call, text, [a], [Result(name, shape, dtype)], scalars)[0]


@function("numpy.fft.fft2 numpy.fft.ifft2 numpy.fft.fftn numpy.fft.ifftn", "a norm=None")
def _fftn(call: Call) -> Value:
    a, short = call.array("a"), call.name.path
    if a.ndim < 2:
        raise call.refuse("PRT903", f"`{short}` requires an array of at least two dimensions")
    name = "signal" if call.name.short in ("ifft2", "ifftn") else "spectrum"
    result = Result(name, a.shape, complex_of(call, a))
    return library_call(call, f"np.{short}({{0}}{_known(call, 'norm')})", [a], [result])[0]


# -- order -------------------------------------------------------------------------------------


@function("numpy.sort numpy.argsort", "a axis=-1 kind=None stable=None")
def _sort(call: Call) -> Value:
    a, short = call.array("a"), call.name.path
    if not a.ndim:
        raise call.refuse("PRT903", f"`{short}` is applied to a scalar")
    axis = call.constant("axis")
    if axis is None:
        a, axis = flat(call.b, a), 0
    axis = normal_axis(call.b, int(axis), a.ndim, f"`{call.name}`")
    result = (Result("sorted", a.shape, a.dtype) if short == "sort"
              else Result("order", a.shape, INT64))  # fmt: skip
    text = f"np.{short}({{0}}, axis={axis}{_known(call, 'kind', 'stable')})"
    return library_call(call, text, [a], [result])[0]


@function("ndarray.sort", "a axis=-1 kind=None stable=None")
def _sort_in_place(call: Call) -> Value:
    target = call.array("a")
    if call.constant("axis") is None:
        raise call.refuse("PRT907", "`.sort` with `axis=None` raises TypeError in NumPy",
                          "use `np.sort(x, axis=None)`")  # fmt: skip
    call.name = Dotted("numpy.sort")
    result = _sort(call)
    assert isinstance(result, Array)
    store(call.b, target, result)
    return NONE


@function("numpy.median numpy.nanmedian", "a axis=None keepdims=False")
def _median(call: Call) -> Value:
    return _quantile(call, f"np.{call.name.path}({{0}}")


@function(
    "numpy.percentile numpy.quantile numpy.nanpercentile numpy.nanquantile",
    "a q axis=None method=linear keepdims=False",
)
def _percentile(call: Call) -> Value:
    """Of one `q`, or of a list of them, which becomes the first axis."""
    q = call.value("q")
    several = isinstance(q, tuple)
    scalars = [call.ev.as_numeric(v, call.node) for v in (q if several else (q,))]
    if any(isinstance(v, Array) or not on_host(v) for v in scalars):
        raise call.refuse("PRT901", f"the `q` of `{call.name}` is computed on the device")
    places = ", ".join(f"{{{1 + k}}}" for k in range(len(scalars)))
    text = f"np.{call.name.path}({{0}}, {f'[{places}]' if several else places}"
    tail = f", method={call.constant('method')!r}"
    return _quantile(call, text, tail, [v for v in scalars if not isinstance(v, Array)], several)


def _quantile(
    call: Call, head: str, tail: str = "", scalars: Sequence[ir.Expr] = (), several: bool = False
) -> Value:
    a = call.array("a")
    if a.dtype.kind == "c":
        raise call.refuse("PRT907", f"`{call.name}` of complex numbers is not supported")
    strong = several or any(not e.dtype.weak for e in scalars)
    dtype = FLOAT64 if strong or a.dtype.kind != "f" else a.dtype
    axes = call.axes()
    axes = (
        list(range(a.ndim))
        if axes is None
        else [normal_axis(call.b, x, a.ndim, f"`{call.name}`") for x in axes]
    )
    keep = bool(call.constant("keepdims"))
    shape = tuple(
        Poly.of(1) if d in axes else n for d, n in enumerate(a.shape) if keep or d not in axes
    )
    shape = (Poly.of(len(scalars)), *shape) if several else shape
    over = "None" if len(axes) == a.ndim else repr(tuple(axes) if len(axes) > 1 else axes[0])
    text = f"{head}, axis={over}{tail}, keepdims={keep})"
    made = library_call(call, text, [a], [Result("quantile", shape, dtype)], scalars)[0]
    return made if shape else made.at(())


@function("numpy.polyfit", "x y deg")
def _polyfit(call: Call) -> Value:
    x, y, degree = call.array("x"), call.array("y"), call.constant("deg")
    if x.ndim != 1 or y.ndim != 1 or not isinstance(degree, int):
        raise call.refuse(
            "PRT901", "`polyfit` is supported for 1-D arrays and a constant degree only"
        )
    result = Result("coefficients", (Poly.of(degree + 1),), FLOAT64)
    return library_call(call, f"np.polyfit({{0}}, {{1}}, {degree})", [x, y], [result])[0]
