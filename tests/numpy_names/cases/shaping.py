"""Rearranging, joining and indexing."""

from tests.numpy_names.case import ANY, NUMBER, REAL, Row, rows

FEW = "b1 i4 u8 f4 f8 c16"

ROWS: dict[str, Row] = {
    **rows(
        "numpy.",
        "transpose",
        "np.{}(A) * 1",
        "np.{}(C, (1, 2, 0)) * 1",
        "np.{}(C, axes=[2, 0, 1]) + 0",
        dtypes=FEW,
        tolerance=0,
    ),
    **rows(
        "numpy.", "swapaxes", "np.{}(C, 0, 2) * 1", "np.{}(A, 0, -1) + 0", dtypes=FEW, tolerance=0
    ),
    **rows(
        "numpy.", "moveaxis", "np.{}(C, 0, 2) * 1", "np.{}(C, -1, 0) + 0", dtypes=FEW, tolerance=0
    ),
    **rows("numpy.", "expand_dims", "np.{}(A, 0) * 1", "np.{}(A, -1) + 0", dtypes=FEW, tolerance=0),
    **rows(
        "numpy.",
        "squeeze",
        "np.{}(A[:, None], 1) * 1",
        "np.{}(R, axis=1) + 0",
        dtypes=FEW,
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "flip",
        "np.{}(v) * 1",
        "np.{}(A, 1) * 1",
        "np.{}(A, axis=(0, 1)) + 0",
        "np.{}(C) + 0",
        dtypes=FEW,
        tolerance=0,
    ),
    **rows("numpy.", "flipud fliplr", "np.{}(A) * 1", dtypes=FEW, tolerance=0),
    **rows(
        "numpy.",
        "roll",
        "np.{}(v, 2)",
        "np.{}(A, -1, axis=0)",
        "np.{}(A, q, 1)",
        dtypes=FEW,
        tolerance=0,
        least=1,
    ),
    **rows(
        "numpy.fft.",
        "fftshift ifftshift",
        "np.fft.{}(v)",
        "np.fft.{}(A)",
        "np.fft.{}(A, axes=-1) + 0",
        "np.fft.{}(C, axes=(0, -1))",
        dtypes=FEW,
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "diff",
        "np.{}(v)",
        "np.{}(A, axis=0)",
        "np.{}(A, n=2)",
        dtypes=FEW,
        tolerance=0,
        least=2,
    ),
    **rows(
        "numpy.",
        "broadcast_to",
        "np.{}(r, A.shape) * A",
        "np.{}(v[:, None], A.shape) + A",
        dtypes=FEW,
        tolerance=4,
    ),
    **rows(
        "numpy.", "triu tril", "np.{}(A)", "np.{}(S, 1)", "np.{}(S, k=-1)", dtypes=FEW, tolerance=0
    ),
    **rows(
        "numpy.",
        "reshape",
        "np.{}(C, (C.shape[0], -1)) * 1",
        "np.{}(A, -1) + 0",
        "np.{}(A, A.shape[0] * A.shape[1]) + 0",
        dtypes=FEW,
        tolerance=0,
        least=1,
    ),
    **rows("numpy.", "ravel", "np.{}(A) * 1", "np.{}(C) + 0", dtypes=FEW, tolerance=0, least=1),
    **rows(
        "numpy.",
        "concatenate",
        "np.{}((v, w, r))",
        "np.{}([A, B], axis=1)",
        "np.{}((A, B), 0)",
        dtypes=ANY,
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "stack",
        "np.{}((v, w))",
        "np.{}([A, B], axis=1)",
        "np.{}((v, w), -1)",
        dtypes=ANY,
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "hstack vstack column_stack",
        "np.{}((v, w))",
        "np.{}([A, B])",
        dtypes=NUMBER,
        tolerance=0,
    ),
    "numpy.shape": Row("v * np.shape(A)[1]", dtypes=REAL),
    "numpy.size": Row("v * np.size(A)", dtypes=REAL),
    "numpy.ndim": Row("v * np.ndim(A)", dtypes=REAL),
}
