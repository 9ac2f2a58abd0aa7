"""Arguments of tests/corpus/programs/carried_values.py."""

from tests.corpus.case import Case, refused

V = "float64[:]"

CASES: dict[str, Case] = {
    "bursts": Case(V, "n:special"),
    "spread_so_far": Case(V, "n"),
    "leaky_until_reset": Case(f"{V}, bool[:], float64", "n:special n s"),
    "kept": Case(f"{V}, float64", "n:special s"),
    "parted": Case(f"{V}, float64", "n:special s"),
    "crossings": Case(f"{V}, {V}", "n:special n", least=1),
    "without_repeats": Case(V, "n:special", least=1),
    "filled_forward": Case(V, "n:special"),
    "filled_in_place": Case(f"{V}, float64", "n:special s"),
    "two_averages": Case(f"{V}, float64, float64", "n s s", least=1),
    "balance_of_volume": Case(f"{V}, {V}", "n:special n"),
    "open_of_candles": Case(f"{V}, {V}", "n n", least=1),
    "dry_days": Case(V, "n"),
    "predator_and_prey": Case("int64, float64, float64", "=n s s", least=1),
    "longest_wait": Case(V, "n:special", least=1),
    "order_of_two_stores": refused(V, "PRT904", "n"),
}
