"""Functions of NumPy that stay library calls: what their results are, told before they run.

A call becomes a statement of the host: its arrays are made, brought to NumPy on the host (or
handed to CuPy on the device), and its results are arrays that kernels read on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter import ir
from porter.dtypes.dtype import COMPLEX128, FLOAT64, WEAK_INT, DType
from porter.ir.engines import Engine
from porter.ir.walk import free_names
from porter.lowering.arrays.calculus import Operand, matmul
from porter.lowering.arrays.rearrange import flatten, reshape
from porter.lowering.evaluation import Evaluator
from porter.lowering.functions.registry import Call
from porter.lowering.state.builder import Builder
from porter.numpy_functions import known
from porter.resolve.values import Array
from porter.sizes.polynomial import Poly, sym
from porter.sizes.shapes import product as count

#: how a library sees all of a buffer in another shape, when its sizes are filled in
_RESHAPED = ".reshape"


@dataclass(frozen=True)
class Result:
    """One array that a library call makes."""

    name: str
    shape: tuple[Poly, ...]
    dtype: DType


def library_call(
    call: Call,
    text: str,
    arrays: Sequence[Array],
    results: Sequence[Result],
    scalars: Sequence[ir.Expr] = (),
) -> list[Array]:
    """The arrays that `text` makes; `{0}`, `{1}` stand in it for the arrays given, then for
    scalars of the host.

    Refuses where Python might not evaluate the call, and where nothing may stay on the host.
    """
    b, scope = call.b, call.ev.scope
    shown = call.name.replace("numpy.", "np.", 1)
    on_device = scope.options.library == "cupy" and known(call.name).cupy
    if scope.options.refuse_host and not on_device:
        raise call.refuse(
            "PRT901",
            f"`{shown}` would run on the host, which `--refuse-host` forbids",
            "drop `--refuse-host`, or use `--library cupy`",
        )
    if b.scope.speculative:
        raise call.refuse(
            "PRT901",
            f"`{shown}` would stay on the host but is in code that may not run",
            "move the call to a separate statement",
        )
    for array in arrays:
        if array.mask is not None:
            raise call.refuse("PRT906", f"`{shown}` of a selection by a mask is not supported")
    if not on_device:
        cure = (
            "; with `--library cupy`, CuPy runs it on the device" if known(call.name).cupy else ""
        )
        b.host.note_fallback(
            f"`{shown}` runs on the host, with copies of its arrays there and back{cure}"
        )
    engine = Engine.CUPY if on_device else Engine.NUMPY
    return _statement(b, text, arrays, results, scalars, engine)


def solver(
    call: Call,
    engine: Engine,
    text: str,
    operands: Array,
    result: Result,
    scalars: Sequence[ir.Expr] = (),
) -> Array:
    """What the module's own solver makes of an array; `text` is how NumPy makes it.

    `{0}` stands in it for the array, then come scalars of the host.
    """
    if call.b.scope.speculative:
        raise call.refuse(
            "PRT901",
            f"`{call.name.replace('numpy.', 'np.', 1)}` is in code that may not run",
            "move the call to a separate statement",
        )
    held = call.b.define("operands", operands)
    return _statement(call.b, text, [held], [result], scalars, engine)[0]


def product(
    ev: Evaluator, text: str, arrays: Sequence[Array], made: Operand, blas: bool = True
) -> Operand:
    """The product `text`, by CuPy where the user prefers it, by NumPy where it is one of `blas` and
    the target has nothing better; elsewhere `made`, for a kernel.

    `text` is as for `library_call`.  Kernels keep integers, which CuPy's libraries do not multiply,
    sums to one number, which share a pass with others, and products of rows that the index of a
    loop chooses.
    """
    if not isinstance(made, Array) or not _stays_a_call(ev, arrays, made, blas):
        return made
    result = Result("product", made.shape, made.dtype)
    engine = Engine.CUPY if ev.scope.options.library == "cupy" else Engine.NUMPY
    return _statement(ev.b, text, arrays, [result], engine=engine)[0]


def matrix_product(ev: Evaluator, x: Array, y: Array, what: str = "`@`") -> Operand:
    """`np.matmul(x, y)`, as `product` makes it.

    A stack of matrices times one matrix is one product of all rows: NumPy calls BLAS for each
    matrix of a stack, and the first factor need not be copied into the shape of the stack.
    """
    made = matmul(ev.b, x, y, what)
    text = "np.matmul({0}, {1})"
    if not isinstance(made, Array) or x.ndim <= 2 or y.ndim > 2 or ev.scope.options.library:
        return product(ev, text, (x, y), made)
    if not _stays_a_call(ev, (x, y), made):
        return made
    if not _is_reshaped(ev.b, x):
        if _order(ev.b, x) is not None:
            return product(ev, text, (x, y), made)  # transposed: BLAS takes each matrix as it lies
        x = ev.b.define("operand", x)
    sizes = [ev.b.sizes.resolve(n) for n in made.shape]
    rows = reshape(ev.b, x, (count(map(ev.b.sizes.resolve, x.shape[:-1])), x.shape[-1]))
    places = ", ".join(f"{{{2 + d}}}" for d in range(len(sizes)))
    scalars = [ir.Value(n, WEAK_INT) for n in sizes]
    result = Result("product", made.shape, made.dtype)
    return _statement(ev.b, f"{text}.reshape({places})", (rows, y), [result], scalars)[0]


def _stays_a_call(ev: Evaluator, arrays: Sequence[Array], made: Array, blas: bool = True) -> bool:
    """Whether a library makes a product, which NumPy hands to BLAS if `blas`."""
    b, on_device = ev.b, ev.scope.options.library == "cupy"
    if b.scope.speculative:
        return False
    if not (on_device or (blas and ev.scope.options.host_products and _is_blas(b, arrays, made))):
        return False
    chosen = any(a.mask is not None or _chosen_by_a_loop(b, a) for a in arrays)
    return made.dtype.kind in "fc" and not chosen


def _is_blas(b: Builder, arrays: Sequence[Array], made: Array) -> bool:
    """Whether NumPy hands a product to BLAS, and a loop of ours is no match for it.

    A matrix times a vector is read once in either way: what computes the matrix costs no pass of
    its own in a loop, and inside a loop of the host the product stays there, which is compiled
    then.  So are nested loops: what they multiply in each turn is small.
    """
    if made.dtype.name == "float16" or b.restarts.own_products or len(b.scope.indices) > 1:
        return False
    # a matrix with one column is a vector
    matrices = [a for a in arrays if sum(n.constant != 1 for n in a.shape) > 1]
    if len(matrices) == len(arrays):
        return True
    return bool(matrices) and not b.out.depth and all(_order(b, a) is not None for a in matrices)


def _probe(array: Array) -> list[Poly]:
    return [sym(f"?{d}", True) for d in range(array.ndim)]


def _chosen_by_a_loop(b: Builder, array: Array) -> bool:
    return not b.scope.indices.isdisjoint(free_names(array.at(_probe(array))))


def _statement(
    b: Builder,
    text: str,
    arrays: Sequence[Array],
    results: Sequence[Result],
    scalars: Sequence[ir.Expr] = (),
    engine: Engine = Engine.NUMPY,
) -> list[Array]:
    inputs, read = [], []
    sizes: list[ir.Expr] = []
    for k, array in enumerate(arrays):
        order = _order(b, array)
        if order == _RESHAPED:
            first = len(scalars) + len(sizes)
            sizes += [ir.Value(b.sizes.resolve(n), WEAK_INT) for n in array.shape]
            shown = (f"host_value_{first + d}_" for d in range(array.ndim))
            order = f".reshape({', '.join(shown)})"
        elif order is None:
            array, order = b.define("operand", Array(array.shape, array.dtype, array.at)), ""
        assert array.view is not None
        inputs.append((f"host_array_{k}_", array.view.buffer))
        read.append(f"host_array_{k}_{order}")
    made = [
        b.out.add(ir.Buffer(b.out.fresh(r.name), tuple(map(b.sizes.resolve, r.shape)), r.dtype))
        for r in results
    ]
    values = tuple((f"host_value_{k}_", e) for k, e in enumerate((*scalars, *sizes)))
    b.out.emit(
        ir.Host(
            text.format(*read, *(placeholder for placeholder, _ in values[: len(scalars)])),
            b.place.origin,
            values=values,
            arrays=tuple(inputs),
            makes=tuple(m.name for m in made),
            engine=engine,
        )
    )
    if engine is Engine.CUPY:
        b.host.imports.add("import cupy as cp")
    return [Array.of(m) for m in made]


def _order(b: Builder, array: Array) -> str | None:
    """How a library sees a whole buffer as this array without a copy, or None.

    Nothing, a transpose, or `_RESHAPED`, which needs the sizes of the array.
    """
    if array.view is None:
        return None
    probe = _probe(array)
    index = list(array.view.index(probe))
    shape = b.out.buffers[array.view.buffer].shape
    if len(index) != len(probe) or set(index) != set(probe):
        return _RESHAPED if _is_reshaped(b, array) else None
    if tuple(array.shape[probe.index(i)] for i in index) != shape:
        return None
    if index == probe:
        return ""
    if array.ndim == 2:
        return ".T"
    return f".transpose({', '.join(str(index.index(p)) for p in probe)})"


def _is_reshaped(b: Builder, array: Array) -> bool:
    """Whether an array is all of a buffer in the order of memory, in its own or another shape."""
    if array.view is None or not array.ndim:
        return False
    whole = [b.sizes.resolve(n) for n in b.out.buffers[array.view.buffer].shape]
    shape = [b.sizes.resolve(n) for n in array.shape]
    if not b.sizes.are_equal(count(whole), count(shape)):
        return False
    probe = [p if n.constant != 1 else Poly() for p, n in zip(_probe(array), shape, strict=True)]
    return flatten(array.view.index(probe), whole) == flatten(probe, shape)


def floating(call: Call, array: Array) -> DType:
    """The dtype that linear algebra computes in: the array's, float64 for integers."""
    if array.dtype.name == "float16":
        raise call.refuse(
            "PRT907",
            f"`{call.name}` of float16 raises TypeError in NumPy",
            "convert the array with `astype(np.float32)` first",
        )
    return array.dtype if array.dtype.kind in "fc" else FLOAT64


def complex_of(call: Call, array: Array) -> DType:
    """The complex dtype of a Fourier transform."""
    dtype = array.dtype
    if dtype.kind == "c":
        return dtype
    if dtype.kind == "f":
        call.b.dtypes.pin(dtype)
    return DType("complex64") if dtype.name in ("float32", "float16") else COMPLEX128


def real_of(call: Call, dtype: DType) -> DType:
    """The dtype of the real numbers of a dtype."""
    if dtype.kind != "c":
        return dtype
    call.b.dtypes.pin(dtype)
    return DType("float32") if dtype.name == "complex64" else FLOAT64
