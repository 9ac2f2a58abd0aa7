"""Arguments of `corpus/row_lengths.py`."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "smooth_short": Case("float64[:], float64[:]", "n k"),
    "triangle_sums": Case("float64[:, :]", "n,n"),
    "triangle_maxima": Case("float64[:, :]", "n,n"),
    "tail_norms": Case("float64[:, :]", "n,n"),
    "last_of_recent": Case("float64[:, :], int64", "n,m =0"),
}
