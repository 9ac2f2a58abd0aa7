"""One program of NPBench in a process of its own: makes its arguments, runs both versions.

    python npbench_child.py types REQUEST     the signature of the arguments, as JSON
    python npbench_child.py compare REQUEST   what differs, and the launches of a call

REQUEST is a JSON file that `npbench.py` wrote.  The program's own `initialize` gives shapes,
dtypes and ranges; the values are random.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
Arguments = tuple[Any, ...]
Function = Callable[..., Any]

#: sizes above the cap are lowered to it; 70 is more than a block has threads here
CAPS = (17, 12, 8, 3, 1, 70)
#: arrays with more elements than this take the simulator too long
ELEMENTS = 6_000
#: a cap whose original takes more of the processor's time is left out: the simulator is slower by
#: thousands, and as many launches as a loop on the host makes take minutes
SECONDS = 0.1
NUMBA = {"bool": "boolean"}


def scaled(parameters: dict[str, Any], cap: int) -> dict[str, Any]:
    """The parameters with large integers lowered, different ones to different numbers."""
    large = sorted({n for n in parameters.values() if type(n) is int and n > cap}, reverse=True)
    lowered = {n: max(1, cap - rank) for rank, n in enumerate(large)}
    return {k: lowered.get(v, v) if type(v) is int else v for k, v in parameters.items()}


def load(path: Path, name: str) -> Any:
    """A name of a module that is loaded from its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def arguments(request: dict[str, Any], cap: int) -> Arguments:
    """The arguments that the program's own initializer makes for lowered parameters."""
    values = scaled(request["parameters"], cap)
    init = request["init"]
    if init:
        initialize = load(Path(request["initializer"]), init["func_name"])
        made = initialize(*(values[name] for name in init["input_args"]))
        names = init["output_args"]
        values |= dict(zip(names, made if len(names) > 1 else (made,), strict=True))
    return tuple(values[name] for name in request["input_args"])


def randomized(value: Any, rng: np.random.Generator) -> Any:
    """A random array like this one; numbers and sorted integers (offsets) stay.

    Integers keep their range, because they may be indices; a symmetric positive definite
    matrix gives another one; anything else is uniform over the range of its values.
    """
    if not isinstance(value, np.ndarray) or not value.size:
        return value
    low, high = value.real.min(), value.real.max()
    if value.dtype.kind in "iub":
        if value.ndim == 1 and value.size > 1 and (np.diff(value.astype(np.int64)) >= 0).all():
            return value
        return rng.integers(low, high, value.shape, value.dtype, endpoint=True)
    if positive_definite(value):
        root = rng.standard_normal(value.shape)
        return (root @ root.T + len(value) * np.eye(len(value))).astype(value.dtype)
    if low == high:
        low, high = sorted((0.5 * low, 1.5 * low)) if low else (0.0, 0.1)
    made = rng.uniform(low, high, value.shape)
    if value.dtype.kind == "c":
        made = made + 1j * rng.uniform(low, high, value.shape)
    return made.astype(value.dtype)


def positive_definite(value: Any) -> bool:
    """Whether the array is a symmetric positive definite matrix of more than one row."""
    if value.ndim != 2 or value.shape[0] != value.shape[1] or len(value) < 2:
        return False
    if value.dtype.kind != "f" or not np.allclose(value, value.T):
        return False
    return bool(np.linalg.eigvalsh(value).min() > 0)


def type_of(value: Any) -> str:
    """The Numba type of an argument."""
    if isinstance(value, np.ndarray):
        name = NUMBA.get(value.dtype.name, value.dtype.name)
        return f"{name}[{', '.join([':'] * value.ndim)}]"
    if isinstance(value, np.generic):
        return NUMBA.get(value.dtype.name, value.dtype.name)
    return {"bool": "boolean", "int": "int64", "float": "float64", "complex": "complex128"}[
        type(value).__name__
    ]


def sizes(request: dict[str, Any], original: Function) -> dict[int, Arguments]:
    """The initializer's arguments for each cap that suits the simulator; at least for one.

    Raises the initializer's error when it takes none of the caps.
    """
    suited: dict[int, Arguments] = {}
    smallest: dict[int, Arguments] = {}
    error: Exception | None = None
    for cap in CAPS:
        try:
            own = arguments(request, cap)
            start = time.process_time()
            elements = sum(a.size for a in outputs(original, own))
        except Exception as refused:
            error = refused
            continue
        if elements < ELEMENTS and time.process_time() - start < SECONDS:
            suited[cap] = own
        elif not smallest or cap < min(smallest):
            smallest = {cap: own}
    if error and not suited and not smallest:
        raise error
    return suited or smallest


def variants(request: dict[str, Any], original: Function) -> Iterator[tuple[str, Arguments]]:
    """Named argument lists: the initializer's values, random ones, sizes, layouts."""
    from tests.corpus.check import _each_array, _strided

    suited = sizes(request, original)
    yield "initialize", next(iter(suited.values()))
    for number, (cap, own) in enumerate(suited.items()):
        for seed in range(1 if number else request["seeds"]):
            rng = np.random.default_rng(request["seed"] + seed)
            yield f"cap {cap}, seed {seed}", tuple(randomized(a, rng) for a in own)
    rng = np.random.default_rng(request["seed"])
    own = suited.get(8, next(iter(suited.values())))
    base = tuple(randomized(a, rng) for a in own)
    yield "strided", _each_array(base, _strided)
    yield "Fortran order", _each_array(base, np.asfortranarray)


def problem(original: Function, converted: Function, made: Arguments) -> str:
    """What differs between two calls; values may differ as far as rounding errors explain."""
    from tests.corpus.check import compare

    found = compare(original, converted, made)
    if "differ, at" not in found:
        return found
    exact, got = outputs(original, made), outputs(converted, made)
    if distance(exact, got) <= 64 * sensitivity(original, made, exact):
        return ""
    given = arrays(made)
    unchanged = distance(given, got[-len(given) :]) == 0
    return found + " (the arguments are as they were given)" * unchanged


def sensitivity(original: Function, made: Arguments, exact: list[Any]) -> float:
    """How far results move when every float of the arguments moves by one rounding error."""
    rng = np.random.default_rng(1)
    moved = [distance(exact, outputs(original, _nearby(made, rng))) for _ in range(3)]
    return max(moved)


def _nearby(made: Arguments, rng: np.random.Generator) -> Arguments:
    return tuple(
        (a * (1 + np.finfo(a.dtype).eps * rng.choice([-1, 1], a.shape))).astype(a.dtype)
        if isinstance(a, np.ndarray) and a.dtype.kind in "fc"
        else type(a)(a * (1 + np.finfo(type(a)).eps * rng.choice([-1, 1])))
        if isinstance(a, (float, np.floating))
        else a
        for a in made
    )


def distance(exact: list[Any], others: list[Any]) -> float:
    """The largest difference, relative to the largest value of its array."""
    largest = 0.0
    for e, o in zip(exact, others, strict=True):
        if e.shape != o.shape or not (np.isfinite(e) == np.isfinite(o)).all():
            return np.inf
        finite = np.isfinite(e)
        if finite.any():
            scale = float(np.abs(e[finite]).max()) or 1.0
            change = np.abs(np.subtract(e[finite], o[finite], dtype=np.result_type(e, o, float)))
            largest = max(largest, float(change.max()) / scale)
    return largest


def outputs(function: Function, made: Arguments) -> list[Any]:
    """All that a call leaves: its results and its array arguments, as arrays."""
    from tests.corpus.check import _copied

    copies = _copied(made)
    with np.errstate(all="ignore"):
        result = function(*copies)
    return arrays(result if isinstance(result, tuple) else (result,)) + arrays(copies)


def arrays(values: Arguments) -> list[Any]:
    """The arrays among values, numbers that NumPy made included."""
    return [np.asarray(a) for a in values if isinstance(a, (np.ndarray, np.generic, int, float))]


def changes_anything(original: Function, made: Arguments) -> bool:
    """Whether a kernel that does nothing would be found out."""
    before, after = arrays(made), outputs(original, made)
    if len(after) > len(before):
        return True
    return any(not np.array_equal(b, a) for b, a in zip(before, after, strict=True))


def count_launches() -> list[str]:
    """Make the simulator keep the name of each kernel that is launched in the list returned."""
    from numba.cuda.simulator import kernel as simulator

    from tests.corpus.simulator import install

    install()
    launch, names = simulator.FakeCUDAKernel.__call__, []

    def counted(kernel: Any, *args: Any) -> Any:
        if not kernel._device and simulator._kernel_context is None:
            names.append(kernel.fn.__name__)
        return launch(kernel, *args)

    simulator.FakeCUDAKernel.__call__ = counted
    return names


def smaller_blocks(path: Path) -> Path:
    """The module with fewer threads in a block, so that small arrays fill many blocks."""
    text = re.sub(r"^THREADS = \d+", "THREADS = 32", path.read_text(), flags=re.M)
    small = path.with_name("small_" + path.name)
    small.write_text(re.sub(r"^TILE = \d+", "TILE = 4", text, flags=re.M))
    return small


def compare_all(request: dict[str, Any]) -> dict[str, Any]:
    """Run the variants, at least two and more until the time is spent; the first one's launches."""
    launched = count_launches()
    original = load(Path(request["source"]), request["function"])
    converted = load(smaller_blocks(Path(request["module"])), request["function"])
    wrong, stricter, tried, telling, launches = [], [], [], False, 0
    end = time.perf_counter() + request["budget"]
    for name, made in variants(request, original):
        if len(tried) > 1 and time.perf_counter() > end:
            break
        launched.clear()
        found = problem(original, converted, made)
        launches = launches if tried else len(launched)
        tried.append(name)
        telling = telling or changes_anything(original, made)
        if found.startswith("raises ValueError") and len(tried) > 1:
            stricter.append(f"[{name}] {found}")
        elif found:
            wrong.append(f"[{name}] {found}")
            break
    if not telling:
        wrong.append("nothing that the call leaves differs from what it was given")
    return {"wrong": wrong, "stricter": stricter, "variants": len(tried), "launches": launches}


def types(request: dict[str, Any]) -> dict[str, Any]:
    """The signature, from a size that the initializer accepts."""
    original = load(Path(request["source"]), request["function"])
    made = next(iter(sizes(request, original).values()))
    return {"signature": ", ".join(type_of(a) for a in made)}


def main() -> None:
    """Answer one request on the last line of the output."""
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    step, path = sys.argv[1:]
    request = json.loads(Path(path).read_text())
    print(json.dumps({"types": types, "compare": compare_all}[step](request)))


if __name__ == "__main__":
    main()
