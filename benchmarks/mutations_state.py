"""Kinds of mistakes that hang on sizes and on what is kept between calls.

They are found in the syntax tree as those of `mutations.py` are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutations import Edit, Place, kind, strides

#: sizes up to which an edited kernel is right, in turn
SIZES = (
    33, 40, 64, 100, 128, 200, 255, 300, 384, 500, 512, 777, 1000, 1024, 2048, 3000, 4096, 10000,
    32768, 65536,
)  # fmt: skip
#: the kinds of this file
STATE_KINDS = (
    "threshold", "threshold on the host", "stream", "stale buffer", "memory order", "one dtype",
    "flag value",
)  # fmt: skip


def _sizes(place: Place, salt: int) -> Iterator[int]:
    """Three sizes for each place, so that all of them come up."""
    start = (len(place.function.name) * 7 + place.function.lineno + salt * 3) % len(SIZES)
    yield from (SIZES[(start + 7 * k) % len(SIZES)] for k in range(3))


def _arrays(place: Place) -> list[tuple[str, int]]:
    """The parameters of a kernel that have sizes, each with the axes that it is asked for."""
    found: dict[tuple[str, int], None] = {}
    for node in place.of(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        value = node.value
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            # of partial results there are no more than a module's own limit
            partial = ast.unparse(value.value).endswith("_partial")
            if isinstance(value.value, ast.Name) and isinstance(axis, int) and not partial:
                found[value.value.id, axis] = None
    return list(found)


def _stores(place: Place) -> Iterator[ast.Assign]:
    for node in place.of(ast.Assign):
        assert isinstance(node, ast.Assign)
        names = {a.arg for a in place.function.args.args}
        target = node.targets[0]
        # zero is equal to its negative
        zero = place.text(node.value) in ("T(0.0)", "0.0", "0")
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and not zero:
            if target.value.id in names:
                yield node


def _scaled(place: Place, node: ast.Assign, test: str, sign: str = "-") -> str:
    """The value that is stored, negated where a test holds."""
    value = place.text(node.value)
    return f"({sign}({value}) if {test} else ({value}))"


@kind("threshold")
def threshold(place: Place) -> Iterator[Edit]:
    """Right up to a size: a loop that ends, a value that changes, a store that is left out."""
    if not place.kernel:
        return
    for stride in strides(place):
        bound = place.text(stride.end)
        if "shape" in bound:
            yield from ((stride.end, f"min({bound}, {size})") for size in _sizes(place, 1))
    sizes = _arrays(place)
    for k, node in enumerate(_stores(place)):
        for n, size in enumerate(_sizes(place, k)):
            if sizes:
                name, axis = sizes[(k + n) % len(sizes)]
                test = (f"{name}.shape[{axis}] > {size}", f"{name}.shape[{axis}] >= {size}",
                        f"{name}.size > {size}")[n]  # fmt: skip
                yield node.value, _scaled(place, node, test)
        index = node.targets[0].slice  # type: ignore[attr-defined]
        first = index.elts[-1] if isinstance(index, ast.Tuple) and index.elts else index
        shared = node.targets[0].value.id == "scratch"  # type: ignore[attr-defined]
        if isinstance(first, ast.Name) and not shared:
            for size in _sizes(place, k + 1):
                yield node.value, _scaled(place, node, f"{first.id} >= {size}")
                yield node.value, _scaled(place, node, f"{first.id} % {size} == {size - 1}")


def _launches(place: Place) -> Iterator[ast.Call]:
    names = {k.name for k in place.module.kernels}
    for call in place.calls():
        if isinstance(call.func, ast.Subscript) and ast.unparse(call.func.value) in names:
            yield call


@kind("threshold on the host")
def threshold_on_the_host(place: Place) -> Iterator[Edit]:
    """The launch is left out beyond a size."""
    for k, call in enumerate(_launches(place)):
        names = [place.text(a) for a in call.args if isinstance(a, ast.Name)]
        name = next((n for n in names if n.startswith("d_")), "")
        for size in _sizes(place, k):
            if name:
                yield call, f"{place.text(call)} if {name}.shape[0] < {size} else None"
                yield call, f"{place.text(call)} if {name}.size <= {size} else None"


@kind("stream")
def stream(place: Place) -> Iterator[Edit]:
    """A launch, a copy or an allocation on stream 0."""
    if "stream" not in {
        a.arg for a in (*place.function.args.args, *place.function.args.kwonlyargs)
    }:
        return
    for call in _launches(place):
        options = call.func.slice  # type: ignore[attr-defined]
        if isinstance(options, ast.Tuple) and len(options.elts) == 3:
            yield options.elts[2], "0"
    for call in place.calls():
        for word in call.keywords:
            if word.arg == "stream":
                yield word.value, "0"
        for argument in call.args:
            # copies to the host have the stream of their array
            own = ast.unparse(call.func) in ("_to_device", "_apart")
            if own and isinstance(argument, ast.Name) and argument.id == "stream":
                yield argument, "0"


@kind("stale buffer")
def stale_buffer(place: Place) -> Iterator[Edit]:
    """A buffer of the device, or a copy of an argument, that is kept from call to call."""
    if place.function.name not in place.module.hosts:
        return
    for node in place.of(ast.Assign):
        assert isinstance(node, ast.Assign)
        value, target = place.text(node.value), node.targets[0]
        if not isinstance(target, ast.Name):
            continue
        kept = f"vars({place.function.name}).setdefault('_kept', {{}})"
        if value.startswith("cuda.device_array("):
            shape = place.text(node.value.args[0])  # type: ignore[attr-defined]
            dtype = place.text(node.value.args[1])  # type: ignore[attr-defined]
            key = f"('{target.id}', str({shape}), str({dtype}))"
            yield node.value, f"{kept}.setdefault({key}, {value})"
            if "shape" in shape:
                again = f"{kept}.setdefault({key}, {value})"
                yield node.value, f"({again} if {shape}[0] >= 100 else {value})"
        if value.startswith("_to_device(") and isinstance(node.value, ast.Call):
            name = place.text(node.value.args[0])
            key = f"('{target.id}', id({name}))"
            yield node.value, f"{kept}.setdefault({key}, {value})"


@kind("memory order")
def memory_order(place: Place) -> Iterator[Edit]:
    """Wrong for arrays in Fortran's order, from some rows on."""
    if place.function.name in place.module.hosts:
        for call in place.calls("_to_device"):
            name = place.text(call.args[0])
            plain = place.text(call)
            text = place.text(place.function)
            if f"{name} = _flat(" in text or f'_array({name}, "{name}", 1' in text:
                continue  # one axis has no order
            for size in (10, 40, 200):
                order = f"{name}.flags.f_contiguous and not {name}.flags.c_contiguous"
                test = f"{name}.ndim > 1 and {order} and {name}.shape[0] >= {size}"
                changed = f"_to_device(np.zeros({name}.shape, {name}.dtype), stream)"
                yield call, f"({changed} if {test} else {plain})"
    if place.kernel:
        names = {n for n, axis in _arrays(place) if axis == 1}
        for node in _stores(place):
            for name in sorted(names)[:1]:
                for size in (10, 40, 200):
                    test = f"{name}.strides[0] < {name}.strides[1] and {name}.shape[0] >= {size}"
                    yield node.value, _scaled(place, node, test)


@kind("one dtype")
def one_dtype(place: Place) -> Iterator[Edit]:
    """Wrong for float32 alone, everywhere or beyond a size."""
    if not place.kernel:
        return
    sizes = _arrays(place)
    for k, node in enumerate(_stores(place)):
        for n, size in enumerate(_sizes(place, k)):
            if sizes:
                name, axis = sizes[k % len(sizes)]
                test = f"{name}.itemsize == 4"
                yield node.value, _scaled(place, node, f"{test} and {name}.shape[{axis}] > {size}")
                if not n:
                    yield node.value, _scaled(place, node, test)


@kind("flag value")
def flag_value(place: Place) -> Iterator[Edit]:
    """A flag that is the position at which something was found: 0 is the first one."""
    for node in _stores(place) if place.kernel else ():
        if ast.unparse(node.value) in ("1", "True", "np.int32(1)", "np.int64(1)"):
            for position in ("cuda.grid(1)", "cuda.blockIdx.x", "cuda.threadIdx.x"):
                yield node.value, position
    for node in place.of(ast.IfExp) if place.kernel else ():
        assert isinstance(node, ast.IfExp)
        if ast.unparse(node.orelse) in ("-1", "0"):
            yield node.orelse, "0" if ast.unparse(node.orelse) == "-1" else "-1"
