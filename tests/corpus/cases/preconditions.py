"""How the functions of `corpus/preconditions.py` are called."""

from __future__ import annotations

from tests.corpus.case import Case, refused

CASES: dict[str, Case] = {
    "same_shapes": Case("float64[:], float64[:]", "n n"),
    "inner_sizes": Case("float64[:, :], float64[:]", "n,m m"),
    "points_in_space": Case("float64[:, :]", "n,3"),
    "first_less_last": Case("float64[:], int64", "n+2 =2"),
    "behind_a_sum": Case("float64[:], float64[:]", "n n"),
    "behind_a_store": Case("float64[:], float64[:]", "n+1 n+1"),
    "behind_what_raises": Case("float64[:], float64[:]", "n n"),
    "weighted": Case("float64[:], float64[:]", "n n:pos"),
    "sizes_by_name": Case("float64[:], float64[:]", "n n"),
    "in_one_branch": Case("float64[:], float64[:], float64", "n+2 n+2 =3.0"),
    "slopes": Case("float64[:], float64[:]", "n+3 n+3"),
    "one_of_two": Case("float64[:], float64[:], float64[:]", "n m n"),
    "square_windows": Case("float64[:, :], float64[:, :]", "n+3,m+4 3,3"),
    "_validate": refused("float64[:], float64[:]", "PRT909", "n n"),
    "_as_floats": refused("float64[:], int64", "PRT909", "n =1"),
    "_difference": Case("float64[:], float64[:]", "n n"),
    "in_a_helper": Case("float64[:], float64[:]", "n n"),
    "in_two_helpers": Case("float64[:], float64[:]", "n n"),
    "about_what_is_computed": Case("float64[:], float64[:]", "n n"),
    "with_exchanged_names": Case("float64[:], float64[:]", "n n"),
}
