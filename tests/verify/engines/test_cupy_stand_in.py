"""What stands in for CuPy refuses what CuPy refuses, and counts what is moved."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from porter.numpy_functions.cupy import _TABLE, differs

#: the simulator must be chosen before Numba is imported: all in one process
CHECKS = """
import numpy as np

from porter.verify.engines.cupy import stand_in
from porter.verify.engines.cupy.arrays import TRANSFERS

stand_in.install()
import cupy as cp
from numba import cuda

host = np.arange(6.0).reshape(2, 3)
x = cp.asarray(host)
assert TRANSFERS.there == 1 and TRANSFERS.back == 0
assert cp.asarray(x) is x and x.real is x and x.shape == (2, 3)


def refuses(action, error=TypeError):
    try:
        action()
    except error:
        return True
    return False


# NumPy's functions do not take its arrays, and it takes none of NumPy's
assert refuses(lambda: np.exp(x)) and refuses(lambda: np.sum(x)) and refuses(lambda: np.asarray(x))
assert refuses(lambda: x + host) and refuses(lambda: host + x) and refuses(lambda: x + [1.0])
assert refuses(lambda: cp.exp(host)) and refuses(lambda: cp.sum([1.0, 2.0]))
assert refuses(lambda: x.__setitem__(0, [1.0, 2.0, 3.0])) and refuses(lambda: x[np.array([0])])
# what CuPy has not
assert refuses(lambda: cp.insert, AttributeError) and refuses(lambda: cp.random, AttributeError)
assert refuses(lambda: x.flat, AttributeError) and refuses(lambda: x.ctypes, AttributeError)
assert refuses(lambda: cp.sum(x, where=x > 0)) and refuses(lambda: x.sum(where=x > 0))
assert refuses(lambda: cp.maximum.reduce(x)) and refuses(lambda: cp.exp(x, where=x > 0))
assert refuses(lambda: range(cp.argmax(x))) and refuses(lambda: x[: cp.argmax(x)])
# elements are views of no dimensions, and change in place
one = x[0, 0]
assert type(one) is cp.ndarray and one.shape == ()
x[0, 0] = 7.0
assert float(one) == 7.0
one += 1.0
assert float(x[0, 0]) == 8.0 and float(x[cp.argmax(x[0]) * 0, 0]) == 8.0
rows = x[cp.asarray(np.array([0]))]
rows += 1.0
assert float(x[0, 0]) == 8.0, "positions give a copy"
# numbers are read back, and counted
TRANSFERS.clear()
if x.max() > 1.0:
    x.min().item()
assert cp.asnumpy(x).tolist() == x.tolist() and TRANSFERS.back == 4
assert type(cp.sum(x)) is cp.ndarray and cp.sum(x).dtype == np.float64
assert type(2.0 * x) is cp.ndarray and type(np.float64(2.0) * x) is cp.ndarray
assert isinstance(cp.allclose(x, x), cp.ndarray) and cp.float32 is np.float32
# Numba's arrays are the same memory
numba_array = cuda.to_device(np.zeros(3))
cp.asarray(numba_array)[1] = 5.0
assert numba_array.copy_to_host().tolist() == [0.0, 5.0, 0.0]
cuda.as_cuda_array(x).copy_to_host()
stream = cuda.stream()
with cp.cuda.ExternalStream(int(stream)):
    assert cuda.external_stream(cp.cuda.get_current_stream().ptr) is stream
assert cp.cuda.get_current_stream().ptr == 0
print("done")
"""


def test_what_stands_in_is_as_strict_as_cupy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECKS], capture_output=True, text=True,
        env={"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def test_the_table_is_about_functions_of_numpy() -> None:
    later = {"numpy.unstack", "numpy.vecdot", "numpy.astype"}  # of newer versions
    for name in _TABLE:
        library, _, path = name.partition(".")
        owner = np.ndarray if library == "ndarray" else np
        for part in path.split("."):
            owner = getattr(owner, part, None)
            if owner is None:
                break
        assert owner is not None or name in later or "float128" in name, name
    assert differs("numpy.exp") == differs("numpy.nothing")
