"""docs/add-a-numpy-function.md, followed: `np.vecdot`, which porter does not have."""

from __future__ import annotations

from porter.lowering.arrays.calculus import as_array, elementwise, normal_axis, reduce
from porter.lowering.functions.registry import Call, function
from porter.numpy_functions import Rank
from porter.resolve.values import Value
from tests.recipes.checks import refused, verified


@function("numpy.vecdot", "x1 x2 axis=-1", rank=Rank.REDUCED, axes=1, rounds=True)
def _vecdot(call: Call) -> Value:
    """The sum of products along one axis."""
    x, y, axis = call.array("x1"), call.array("x2"), int(call.constant("axis"))
    if "c" in (x.dtype.kind, y.dtype.kind):
        raise call.refuse("PRT901", "`vecdot` of complex arrays", "conjugate and sum them")
    along = [normal_axis(call.b, axis, a.ndim, "`vecdot`") for a in (x, y)]
    # this axis does not broadcast: one element is not repeated
    call.b.sizes.unify(x.shape[along[0]], y.shape[along[1]], "`vecdot`")
    product = as_array(elementwise(call.b, "mul", x, y))
    axis = normal_axis(call.b, axis, product.ndim, "`vecdot`")
    return reduce(call.b, "sum", product, [axis], False, product.dtype)


SOURCE = """
import numpy as np


def lengths(x):
    return np.sqrt(np.vecdot(x, x))


def along_columns(x, y):
    return np.vecdot(x[::-1], y.T, axis=0) + 1
"""


def main() -> None:
    verified(SOURCE, "lengths", "float64[:, :]")
    verified(SOURCE, "along_columns", "float32[:, :], float32[:, :]")
    assert "complex" in refused(SOURCE, "lengths", "complex128[:, :]")


if __name__ == "__main__":
    main()
