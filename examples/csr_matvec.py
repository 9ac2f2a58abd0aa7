"""Product of a sparse matrix in compressed row storage with a vector."""

import numpy as np
from numpy.typing import NDArray


def csr_matvec(
    data: NDArray[np.float64],
    indices: NDArray[np.int64],
    indptr: NDArray[np.int64],
    x: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return A @ x; row i of A has the values data[indptr[i]:indptr[i + 1]]."""
    rows = indptr.shape[0] - 1
    y = np.zeros(rows, dtype=data.dtype)
    for i in range(rows):
        start = indptr[i]
        stop = indptr[i + 1]
        y[i] = np.sum(data[start:stop] * x[indices[start:stop]])
    return y
