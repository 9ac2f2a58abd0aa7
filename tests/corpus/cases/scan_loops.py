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
    "smoothed": Case(f"{V}, float64", "n s"),
    "leaky": Case(f"{V}, float64", "n s"),
    "volatility": Case(f"{V}, float64, float64, float64", "n s s s"),
    "weighted": Case(f"{V}, {V}", "n n:special"),
    "decayed_then_fed": Case(f"{V}, float64", "n s"),
    "delayed": Case(f"{V}, {V}, float64", "n n s"),
    "back_substituted": Case(f"{V}, {V}", "n:unit n:special"),
    "swept": Case(f"{V}, {V}, {V}", "n:unit n n:special"),
    "differences_backwards": Case(V, "n"),
    "decayed_events": Case(f"{V}, float64", "n s"),
    "congruential": Case("int64[:], int64", "n:wide =7"),
    "drawn_towards": Case(f"{V}, float64", "n:special s"),
    "membrane": Case(f"{V}, float64, float64, float64", "n s s s"),
    "relative_strength": Case(f"{V}, int64", "3*n+9 =k"),
    "sums_from": Case(f"{V}, int64", "n =k"),
    "differences_from": Case(f"{V}, int64", "n =k"),
    "downwards_to": Case(f"{V}, int64", "n =k"),
    "drawn_twice": refused(f"{V}, float64", "PRT904", "n s"),
    "second_order": Case(f"{V}, float64, float64", "n s s"),
    "biquad": Case(f"{V}, float64, float64, float64, float64, float64", "n s s s s s"),
    "biquad_of_states": Case(f"{V}, float64, float64, float64, float64", "n:special s s s s"),
    "double_smoothing": Case(f"{V}, float64, float64", "n s s", least=2),
    "accelerated": Case(f"{V}, float64", "n s"),
    "fibonacci": Case("int64", "=n"),
    "two_unknowns_back": Case(f"{V}, {V}, {V}", "n n n:special"),
    "third_order": refused(f"{V}, float64", "PRT904", "n s"),
    "sums_of_own_results": refused(V, "PRT904", "n"),
}
