"""What generated modules do on Numba's simulator, counted, beside what the model says.

    NUMBA_ENABLE_CUDASIM=1 python -m tests.cost.cost_child SIZE KEY...

KEY names a case of the corpus (`stencils:heat`) or a function of the examples
(`examples/heat.py:heat`); prints one line of JSON for each.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator.cudadrv import devicearray

from porter.codegen.module.module import module_text
from porter.convert.function import convert_function
from porter.cost.advice import sizes_of
from porter.cost.estimate import estimate
from porter.cost.machine import Machine
from porter.cost.work import work_of
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.verify import generated
from tests.corpus.inputs import CASES
from tests.corpus.simulator import install
from tests.corpus.sources import source_of
from tests.programs.simulator import SMALL

SEEN = {"to_device": 0, "to_host": 0, "launches": 0, "device_bytes": 0}
TOUCHED: dict[str, set[tuple[int, Any]]] = {"read": set(), "written": set()}
ITEMS: dict[int, int] = {}


def count() -> None:
    """Count transfers, launches, and the elements that each launch touches."""
    install()
    launch, to_device = simulator.FakeCUDAKernel.__call__, cuda.to_device
    to_host, onto = devicearray.FakeCUDAArray.copy_to_host, devicearray.FakeCUDAArray.copy_to_device
    inside = devicearray.FakeWithinKernelCUDAArray
    get, put = inside.__getitem__, inside.__setitem__

    def launched(kernel: Any, *args: Any) -> Any:
        if kernel._device or simulator._kernel_context is not None:
            return launch(kernel, *args)
        SEEN["launches"] += 1
        result = launch(kernel, *args)
        for touched in TOUCHED.values():
            SEEN["device_bytes"] += sum(ITEMS[array] for array, _ in touched)
            touched.clear()
        return result

    def sent(array: Any, *args: Any, **kwargs: Any) -> Any:
        SEEN["to_device"] += array.nbytes
        return to_device(array, *args, **kwargs)

    def put_there(self: Any, array: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(array, np.ndarray):  # from the host
            SEEN["to_device"] += array.nbytes
        return onto(self, array, *args, **kwargs)

    def fetched(self: Any, *args: Any, **kwargs: Any) -> Any:
        SEEN["to_host"] += self._ary.nbytes
        return to_host(self, *args, **kwargs)

    def note(kind: str, array: Any, index: Any) -> None:
        base = array._item._ary
        ITEMS[id(base)] = base.itemsize
        TOUCHED[kind].add((id(base), index))

    def read(self: Any, index: Any) -> Any:
        note("read", self, index)
        return get(self, index)

    def written(self: Any, index: Any, value: Any) -> None:
        note("written", self, index)
        put(self, index, value)

    simulator.FakeCUDAKernel.__call__ = launched
    cuda.to_device = sent
    devicearray.FakeCUDAArray.copy_to_host = fetched
    devicearray.FakeCUDAArray.copy_to_device = put_there
    inside.__getitem__, inside.__setitem__ = read, written


def compare(key: str, size: int) -> dict[str, Any]:
    """The model's numbers and the counted ones for one function."""
    case = CASES[key]
    path, name = source_of(key), key.partition(":")[2]
    module = SourceModule(path.read_text("utf-8"), str(path))
    scope = Globals(module)
    scope.options.allow_serial = case.serial
    made = convert_function(module.by_name[name], case.signature, scope)
    with tempfile.TemporaryDirectory() as folder:
        text = module_text(made.texts, "f.py")
        own = generated.block_sizes(text, SMALL)
        # columns are long, as the plan takes them to be, and no product has many terms
        small = {n: SMALL[n] for n in own} | {"LONG": 5}
        loaded = generated.load(Path(folder) / "f_cuda.py", text, small)
    arguments = case.make(np.random.default_rng(0), size)
    names = [p.name for p in made.plan.parameters]
    sizes = sizes_of(made.plan, dict(zip(names, map(_size, arguments), strict=True)))
    assert sizes is not None
    work = work_of(made.plan)
    found = estimate(work, sizes, Machine())
    for k in SEEN:
        SEEN[k] = 0
    with np.errstate(all="ignore"):
        getattr(loaded, name)(*arguments)
    model = None if found is None else {k: getattr(found, k) for k in SEEN}
    return {"key": key, "model": model, "counted": dict(SEEN), "partly": bool(made.program.kept)}


def _size(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.shape
    return int(argument) if isinstance(argument, (int, np.integer)) else None


def main(size: str, *keys: str) -> None:
    """Print a line for each key."""
    count()
    for key in keys:
        try:
            line = compare(key, int(size))
        except Exception as error:
            line = {"key": key, "error": f"{type(error).__name__}: {error}"[:200]}
            if len(keys) == 1:
                traceback.print_exc()
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
