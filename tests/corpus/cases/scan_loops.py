"""Arguments of tests/corpus/programs/scan_loops.py."""

from tests.corpus.case import Case, refused

V = "float64[:]"

CASES: dict[str, Case] = {
    "sums_so_far": Case(V, "n"),
    "sums_before": Case(V, "n", least=1),
    "sum_in_array": Case(V, "n", least=1),
    "row_starts": Case("int64[:]", "n"),
    "compound_growth": Case(f"{V}, float64", "n:unit s"),
    "peaks_so_far": Case(V, "n:special"),
    "counted_so_far": Case(V, "n"),
    "means_so_far": Case(V, "n"),
    "smoothed": refused(f"{V}, float64", "PRT904", "n s"),
    "sums_of_own_results": refused(V, "PRT904", "n"),
}
