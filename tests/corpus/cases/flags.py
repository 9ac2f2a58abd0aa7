"""How the functions of `corpus/flags.py` are called."""

from __future__ import annotations

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "any_above": Case("float64[:], float64", "n s"),
    "any_above_2d": Case("float32[:, :], float64", "n,m s"),
    "none_below": Case("float64[:], float64", "n =-2.5"),
    "spread_largest": Case(
        "float64[:], int64[:], int64[:]", "=np.arange(5.0) =np.arange(6) =np.array([1,2,3,4,0])"
    ),
    "stores_and_says_so": Case("float64[:], float64[:], float64", "n n s"),
    "state_of_several": Case("float64[:], float64, float64", "n =0.1 =0.7"),
    "set_to_what_is_stored": Case("float64[:], float64[:]", "n n"),
    "read_where_it_is_set": Case("float64[:], float64[:]", "n n"),
    "wins_and_draws": Case("float64[:], float64[:]", "n+1 m+1"),
    "below_and_above": Case("float64[:], float64", "n+1 =0.2"),
    "weights_of_pairs": Case("float64[:], float64[:, :], float64", "n+1 n+1,2 =0.7"),
    "remembered_in_a_branch": Case("float64[:], float64", "n+1 =0.2"),
    "raised_and_added": Case("float64[:], float64[:]", "n n"),
    "last_of_two_flags": Case("float64[:]", "n"),
    "largest_of_two": Case("float64[:], float64[:]", "n n"),
    "without_the_last": Case("float64[:], bool", "n+1 =False"),
    "one_or_two": Case("float64[:], bool", "n =True"),
    "part_by_size": Case("float64[:]", "n"),
    "share_of_each": Case("float64[:], float64[:]", "n m"),
}
