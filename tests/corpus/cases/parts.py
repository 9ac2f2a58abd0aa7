"""What the functions of `programs/parts.py` are called with."""

from tests.corpus.case import Case

F1, F2 = "float64[:]", "float64[:, :]"

CASES = {
    "interior_added": Case(F1, "n"),
    "from_both_sides": Case(F1, "n"),
    "slopes_2d": Case(F2, "n,m"),
    "part_then_whole": Case(f"{F1}, {F1}", "n n"),
    "shifted_by": Case(f"{F1}, int64", "n =2", least=3),
    "placed": Case(f"{F1}, {F1}, int64", "n+5 n =2"),
    "ends_set": Case(f"{F1}, float64", "n s"),
    "inverted": Case(F1, "n"),
    "inverted_total": Case(F1, "n"),
    "steepest": Case(F2, "n,m"),
    "kept_and_folded": Case(F1, "n"),
    "narrow_total": Case("int64[:]", "n"),
    "totals_in_a_loop": Case(f"{F1}, int64", "n =3"),
    "named_alike": Case(F2, "n,m"),
    "rows_set": Case(f"{F2}, {F1}", "n,m m", least=2),
    "mirrored_rows": Case(F2, "n,m", least=2),
    "border_last": Case(F1, "n"),
    "border_first": Case(f"{F1}, {F1}", "n n"),
    "frame_set": Case(f"{F2}, {F1}", "n,m m"),
    "denoised": Case(f"{F2}, {F2}, float64, float64", "n,m n,m =0.5 =0.1"),
    "inflow": Case(f"{F1}, float64, int64", "n s =3"),
    "of_a_neighbour": Case(F1, "n"),
    "widths_of_parts": Case("int64[:], int8[:]", "n n"),
    "region_grown": Case(f"{F2}, bool[:, :], float64", "n,m n,m =-0.5"),
}
