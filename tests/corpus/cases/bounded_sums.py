"""Arguments of tests/corpus/programs/bounded_sums.py."""

from tests.corpus.case import Case, refused

V = "float64[:]"

CASES: dict[str, Case] = {
    "largest_sum": Case(V, "n:special", least=1),
    "largest_sum_by_if": Case(V, "n:special", least=1),
    "waiting_times": Case(f"{V}, {V}", "n n"),
    "control_chart": Case(f"{V}, float64, float64", "n:special s s"),
    "reservoir": Case(f"{V}, {V}, float64", "n n s"),
    "clipped_walk": Case(f"{V}, float64, float64", "n s s"),
    "integrated_charge": Case(f"{V}, {V}, {V}", "n:special n n"),
    "saturating_counter": Case("bool[:]", "n"),
    "stock": Case("int64[:], int64", "n =7"),
    "bounded_and_weighed": refused(f"{V}, float64", "PRT904", "n s"),
}
