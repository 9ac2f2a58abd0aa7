"""Arguments for `corpus/widening.py`; the comparison shortens each axis to 1 in turn."""

from tests.corpus.case import Case

CASES = {
    name: Case("float64[:], float64[:]", "n n")
    for name in (
        "scaled_total",
        "bias_in_place",
        "own_mean",
        "asks_length",
        "like_bias",
        "doubled_bias",
    )
} | {
    "column_of_masses": Case("float64[:, :], float64[:, :]", "n,1 n,2"),
    "either_array": Case("float64[:], float64[:], int64, int64", "n m =n =m"),
    "add_bias_then_sum": Case("float64[:, :], float64[:]", "n,m m"),
    "shifted_bias": Case("float64[:], float64[:]", "n+1 n"),
    "reversed_beside": Case("float64[:, :], float64[:, :]", "n,m n,m"),
    "given_back": Case("float64[:, :], float64[:, :]", "n,m n,m"),
    "running_ratio": Case("float64[:], float64[:]", "n n"),
    "no_elements_beside": Case("float64[:, :], float64[:, :]", "n,m n,m", least=1),
    "diagonal_beside": Case("float64[:, :], int32[:, :]", "n,m+2 3,m", least=5),
    "itself_beside": Case("complex128[:], float64[:]", "n+1 n"),
    "rows_for_each": Case("float64[:], float64[:], float64[:]", "n n n"),
    "mixed_in_steps": Case("float64[:], float64[:], int64", "n n =3"),
    "picked": Case("float64[:], float64[:]", "3 3"),
    "steps_together": Case("float64[:, :], float64[:, :], float64[:, :]", "n,m n,m n,m"),
}
