"""Arguments for `corpus/windows.py`."""

from tests.corpus.case import Case, refused

CASES = {
    "pooled": Case("float64[:, :, :]", "k,n,m"),
    "pooled_inside": Case("float64[:, :, :]", "k,n,m"),
    "channels": Case("float64[:, :], float64[:, :, :]", "n,k b,k,m", least=2),
    "gram_by_rows": Case("int64, float64[:, :]", "=n m,n"),
    "blocks_of_products": Case(
        "complex128[:, :, :], complex128[:, :, :], int64[:], complex128[:, :, :]",
        "b,k,k m,k,k n:idx=m n,k,k",
    ),
    "_rolled": refused("float64[:, :], int64", "PRT905"),
    "strided_spread": Case("float64[:, :], int64", "k,n =2", least=2),
    "strided_patches": Case("float64[:, :]", "n+2,m"),
    "strided_beyond": Case("float64[:]", "n", refused=("PRT903",)),
    "strided_store": refused("float64[:]", "PRT905"),
    "strides_of_a_result": Case("float64[:]", "n", least=2),
    "strides_of_another_result": refused("float64[:, :]", "PRT905"),
    "strides_of_another": refused("float64[:], float64[:]", "PRT905"),
}
