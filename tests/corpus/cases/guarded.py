"""Arguments of tests/corpus/programs/guarded.py."""

from tests.corpus.case import Case

V = "float64[:]"

CASES: dict[str, Case] = {
    "mean_change": Case(V, "n", least=0),
    "mean_curvature": Case(V, "n", least=0),
    "begins_high": Case(f"{V}, float64", "n s", least=0),
    "begins_low_or_is_short": Case(f"{V}, float64", "n s", least=0),
    "mean_of_many": Case(f"{V}, int64", "n =7"),
    "last_of": Case(V, "n", least=0),
    "fourth": Case(f"{V}, float64", "n s", least=0),
    "weighed": Case(f"{V}, omitted", "n ='flat'"),
    "weighted": Case(f"{V}, omitted", "n ='half'"),
    "quietly_divided": Case(f"{V}, {V}", "n:special n:special"),
    "one_more_than_a_ratio": Case(f"{V}, {V}", "n:special n:special"),
    "product_of_firsts": Case(f"{V}, {V}", "n n", least=0),
    "scaled_if_asked": Case(f"{V}, int64, int64", "n =2 =n%2"),
    "either_size": Case(f"{V}, {V}", "n n", least=0),
    "first_above": Case(f"{V}, float64", "n s", least=0),
    "doubled_at_last_above": Case(f"{V}, float64", "n s", least=1),
    "span_above": Case(f"{V}, float64", "n s", least=1),
    "first_if_large": Case(f"{V}, float64", "n s", least=0),
}
