"""Arguments for `corpus/row_masks.py`."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "clear_rows": Case("float64[:, :], bool[:]", "n,m n"),
    "set_rows": Case("float64[:, :], bool[:], float64[:]", "n,m n m"),
    "set_column_of_rows": Case("float64[:, :], bool[:]", "n,m n"),
    "scale_rows": Case("float64[:, :], bool[:], float64", "n,m n s"),
    "copy_rows": Case("float64[:, :], float64[:, :], bool[:]", "n,m n,m n"),
    "add_rows": Case("float64[:, :], float64[:, :], bool[:]", "n,m n,m n"),
    "both_masks": Case("float64[:, :], bool[:], bool[:]", "n,m n n"),
    "row_by_mask": Case("float64[:, :], bool[:], int64", "n,m m =n-1"),
    "mask_of_row": Case("float64[:, :], float64", "n,m s"),
    "mean_of_rows": Case("float64[:, :], bool[:]", "n,m n"),
    "reflect": Case("float64[:, :], float64[:, :], float64", "n,k n,k =1.0"),
    "masked_difference": Case("float64[:], float64[:], bool[:]", "n n n"),
    "mask_3d": Case("float64[:, :, :], bool[:, :]", "n,m,k n,m"),
    "columns_behind_a_mask": Case("float64[:, :, :], bool[:, :], int64", "n,m,k n,m =2"),
    "selected_and_put_back": Case("float64[:], bool[:], int64", "n n =3"),
    "mask_that_changes": Case("float64[:], int64", "n =3"),
}
