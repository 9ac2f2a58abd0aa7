"""Arguments for `corpus/row_updates.py`."""

from tests.corpus.case import Case

CASES = {
    "add_both_products": Case(
        "float64[:], float64[:], float64[:], float64[:], float64[:, :]", "n m m n n,m"
    ),
    "scale_by_row_sum": Case("float64[:], float64[:, :]", "n n,m"),
    "total_into_element": Case("float64[:, :], float64[:], int64", "n,n n =n-1"),
    "center_rows": Case("float64[:], float64[:, :]", "n n,m"),
}
