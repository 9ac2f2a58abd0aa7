"""Arguments for `corpus/windows.py`."""

from tests.corpus.case import Case

CASES = {
    "pooled": Case("float64[:, :, :]", "k,n,m"),
    "pooled_inside": Case("float64[:, :, :]", "k,n,m"),
    "channels": Case("float64[:, :], float64[:, :, :]", "n,k b,k,m", least=2),
    "gram_by_rows": Case("int64, float64[:, :]", "=n m,n"),
    "blocks_of_products": Case(
        "complex128[:, :, :], complex128[:, :, :], int64[:], complex128[:, :, :]",
        "b,k,k m,k,k n:idx=m n,k,k",
    ),
}
