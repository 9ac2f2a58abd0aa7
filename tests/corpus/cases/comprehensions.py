"""How the functions of `corpus/comprehensions.py` are called."""

from __future__ import annotations

from tests.corpus.case import Case, refused

CASES: dict[str, Case] = {
    "row_sums": Case("int64[:], float64[:]", "=np.array([0,2,2,5]) =np.arange(5.0)"),
    "squares_and_places": Case("float64[:]", "n"),
    "row_ranges": Case("float64[:, :]", "n,m"),
    "outer_list": Case("float64[:], int64, int64", "n+1 =2 =3"),
    "mean_distance": Case("float64[:], float64[:]", "n n"),
    "window_means": Case("float64[:], int64", "n+3 =3"),
    "largest_gap": Case("float64[:], float64[:]", "n n"),
    "all_and_any": Case("float64[:], float64", "n =0.5"),
    "nearest": Case("float64[:, :], float64[:, :]", "n,3 m,3"),
    "every_second": Case("int32[:]", "n"),
    "reversed_list": Case("float32[:]", "n"),
    "normalised_columns": Case("float64[:, :]", "n,m"),
    "rows_below": Case("float32[:, :]", "n,m"),
    "frames_side_by_side": Case("float64[:]", "n+2"),
    "windows_as_columns": Case("int64[:]", "n+1"),
    "outer_products": Case("float64[:, :], float64[:]", "n,m 3"),
    "numbers_below": Case("float64[:]", "n"),
    "deep_rows": Case("float64[:, :]", "n,m"),
    "planes_behind": Case("float64[:, :, :]", "n,m,2"),
    "joined_planes": Case("float64[:, :, :]", "n,m,2"),
    "rows_of_an_array": Case("float64[:, :]", "n,m"),
    "of_either_dtype": refused("int8[:]", "PRT908", "n"),
    "frames_of_any_width": refused("float64[:], int64", "PRT902", "n+3 =3"),
    "with_a_condition": refused("float64[:]", "PRT902", "n"),
}
