"""Arguments for `corpus/leading_axes.py`; `tests/end_to_end/test_ranks.py` changes their ranks."""

from tests.corpus.case import Case

ROWS, PAIR = "float64[:, :]", "float64[:, :], float64[:, :]"
CASES = {
    "norm_last": Case(f"{ROWS}, float64", "n,m =1e-5"),
    "unit_vectors": Case(ROWS, "n,k"),
    "quaternion_conjugate": Case(ROWS, "n,4"),
    "quaternion_product": Case(PAIR, "n,4 n,4"),
    "rotated": Case(PAIR, "n,4 n,k"),
    "triple_product": Case(f"{PAIR}, {ROWS}", "n,k n,k n,k"),
    "angle_between": Case(PAIR, "n,k n,k"),
    "bounds": Case(ROWS, "n,m"),
    "bounds_first": Case(ROWS, "n,m"),
    "share_of_all": Case(ROWS, "n,m"),
    "centred_pair": Case(PAIR, "n,m n,m"),
    "joined": Case(PAIR, "n,m n,m"),
    "weighted": Case(f"{ROWS}, float64[:]", "n,m m"),
    "transform": Case(PAIR, "n,k k,k"),
    "steps_back": Case(f"{ROWS}, int64", "n,m =3"),
}
