"""Arguments for `corpus/loops_turns.py`."""

from tests.corpus.case import Case

F2, F, N = "float64[:, :]", "float64", "int64"

CASES = {
    "gauss_seidel": Case(f"{F2}, {F2}, {F}, {N}", "n,m n,m s =n//2"),
    "sor": Case(f"{F2}, {F}, {N}", "n,m =1.5 =5"),
    "nine_points": Case(f"{F2}, {N}", "n,m =n//3"),
    "backwards": Case(f"{F2}, {N}", "n,m =4"),
    "one_axis_backwards": Case(f"{F2}, {N}", "n,m =5"),
    "two_tables": Case(f"{F2}, {F2}, {N}", "n,m n,m =4"),
    "rows_of_statements": Case(f"{F2}, {N}", "n,m =3"),
    "turns_of_distances": Case(f"{F2}, {N}", "n,m =3"),
    "from_the_end": Case(f"{F2}, {N}", "n,m =3"),
    "rows_grow": Case(f"{F2}, {N}", "n,m =3"),
    "with_a_count": Case(f"{F2}, {N}", "n,m =3"),
    "streamed": Case("float64[:, :, :], int64", "n,m,k =2"),
    "literals_that_change": Case("float64[:], int64", "n =3"),
    "literals_with_two_names": Case("float64[:], int64", "n =3"),
    "last_of_a_loop": Case("float64[:], int64", "n =3"),
    "shifted_again": Case("float64[:, :]", "n,m"),
}
