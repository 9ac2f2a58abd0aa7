"""Arguments of tests/corpus/programs/row_scans.py."""

from tests.corpus.case import Case

M = "float64[:, :]"

CASES: dict[str, Case] = {
    "smoothed_channels": Case(f"{M}, float64", "n,m s", least=1),
    "sums_along_rows": Case(M, "n,m"),
    "sums_in_place": Case(M, "n,m"),
    "gated": Case(f"{M}, {M}", "n,m:special n,m", least=1),
    "discounted_returns": Case(f"{M}, {M}, float64", "n,m n,m s"),
    "drawdowns": Case(M, "n,m:special", least=1),
    "batches_of_channels": Case("float64[:, :, :], float64[:]", "b,n,m n:unit", least=1),
    "leaky_down_columns": Case(f"{M}, float64", "n,m s"),
    "integers_along_rows": Case("int64[:, :]", "n,m", least=1),
}
