"""Arguments for `corpus/loops_sweeps.py`."""

from tests.corpus.case import Case

F1, F2, F, N = "float64[:]", "float64[:, :]", "float64", "int64"

CASES = {
    "deriche_rows": Case(f"{F2}, {F}, {F}", "n,m =0.3 =0.6"),
    "columns_downwards": Case(f"{F2}, {F2}", "n,m n,m"),
    "column_outer": Case(F2, "n,m"),
    "adi_step": Case(f"{F2}, {F}, {F}", "n,m =0.3 =4.0"),
    "implicit_columns": Case(f"{F2}, {F2}", "n,m+3 n+1,m+3"),
    "escape_counts": Case("float64[:], float64[:], int64", "n m =4"),
    "shifted_sweep": Case(f"{F2}, {F2}", "n,m n,m"),
    "crossing_sweep": Case(F2, "n,m"),
    "garch": Case(f"{F2}, {F}, {F}, {F}", "n,m =0.1 =0.2 =0.5"),
    "kalman_scalar": Case(f"{F2}, {F}, {F}", "n,m s s"),
    "ema_columns": Case(f"{F2}, {F}", "n,m =0.3"),
    "prefix_max_rows": Case(F2, "n,m"),
    "horner": Case(f"{F1}, {F1}", "k n"),
    "horner_vector": Case(f"{F1}, {F1}", "k n"),
    "iir_filter": Case(f"{F2}, {F}, {F}, {F}", "n,m s s =0.4"),
    "backward_induction": Case(f"{F1}, {F}, {F}", "n =0.9 =0.4"),
    "backward_induction_slices": Case(f"{F1}, {F}, {F}", "n =0.9 =0.4"),
    "returns_to_go": Case(f"{F2}, {F}", "n,m =0.9"),
    "euler_lorenz": Case(f"{F1}, {F1}, {F1}, {F}, {N}", "n n n =0.01 =4"),
    "column_recurrence_3d": Case("float64[:, :, :]", "n,k,m"),
    "shift_left": Case(F1, "n"),
    "two_apart": Case(F1, "n"),
    "halves": Case(F1, "n"),
    "mirror": Case(F1, "n"),
    "upper_from_lower": Case(F2, "n,n"),
    "red_black": Case("float64[:, :], float64[:, :], float64, int64", "n+2,m+2 n+2,m+2 =0.1 =2"),
}
