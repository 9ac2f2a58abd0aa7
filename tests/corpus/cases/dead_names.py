"""Arguments for `corpus/dead_names.py`."""

from tests.corpus.case import Case

CASES = {
    "new_in_every_iteration": Case("float64[:], int64", "n =n", least=2),
    "read_after_the_loop": Case("float64[:], int64", "n =n"),
    "read_before_bound": Case("float64[:], int64", "n =3"),
    "bound_in_a_branch": Case("float64[:], int64", "n =3"),
    "two_sweeps": Case("float64[:, :], float64[:, :]", "n,m n,m"),
    "last_row_total": Case("float64[:]", "n:pos"),
}
