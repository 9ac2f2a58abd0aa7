"""Arguments of the corpus programs in held_values.py."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "fill_forward": Case("float64[:]", "n", least=1),
    "differences": Case("float64[:]", "n"),
    "bars_since": Case("float64[:]", "n"),
    "sample_and_hold": Case("float64[:], float64[:], float64", "n n =0.3"),
    "split_sums": Case("float64[:], float64", "n =0.2"),
    "one_from_another": Case("float64[:], float64[:]", "n n"),
    "equity": Case("float64[:], float64[:]", "n n"),
    "equity_at_once": Case("float64[:], float64[:]", "n n"),
    "sign_changes": Case("float64[:]", "n"),
    "read_in_a_branch": Case("float64[:], float64[:]", "n n"),
    "fill_backward": Case("float64[:]", "n", least=1),
    "returns_to_go": Case("float64[:], float64", "n =0.9"),
    "products_to_go": Case("float64[:]", "n"),
    "chain": Case("float64[:]", "n"),
    "order_matters": Case("float64[:]", "n"),
}
