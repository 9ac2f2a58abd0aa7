"""How the functions of `corpus/found.py` are called."""

from __future__ import annotations

from corpus_case import Case, refused

CASES: dict[str, Case] = {
    "two_integer_widths": Case("float64[:], int64[:]", "n n"),
    "reversed_rows_of_maxima": Case("float64[:, :, :, :], float64[:, :, :]", "k,n,m,b k,n,b"),
    "inner_part_as_a_line": Case("float64[:, :]", "n,m-1"),
    "zero_dimensional": Case("float64[()], float64[()]", "=np.array(1.5) =np.array(0.5)"),
    "spread_of_nothing_to_fold": Case("float64[()]", "=np.array(1.5)"),
    "scalar_where": Case("float64[:]", "n", least=2),
    "branch_without_elements": Case("float64[:], float64[:], int64", "n n s"),
    "line_that_is_stored_into": Case("float64[:, :]", "n,m"),
    "part_that_is_flattened": refused("float64[:, :]", "PRT905"),
    "view_under_a_condition": refused("float64[:], int64", "PRT905"),
    "store_into_the_real_part": refused("complex128[:]", "PRT905"),
    "number_or_row": refused("float64[:, :], int64", "PRT908"),
    "half_precision": refused("uint8[:]", "PRT907"),
    "rebound_in_a_branch": Case("float64[:], float64[:], float64", "n n s"),
    "value_of_the_last_iteration": refused("float64[:]", "PRT904"),
    "search_in_complex": refused("complex128[:]", "PRT907"),
    "padded_rest": Case("float64[:]", "n"),
    "mean_in_integers": refused("float32[:, :]", "PRT907"),
    "doubled_or_itself": Case("float64[:], int64", "n =1"),
    "result_of_a_helper_or_its_argument": refused("float64[:], int64", "PRT905", "n =1"),
    "part_of_an_argument_or_not": refused("float64[:], int64", "PRT905", "n =3"),
    "copy_of_either": Case("float64[:], int64", "n =1"),
    "large_integers_compared": Case("int64[:], uint64[:]", "n n"),
    "fold_of_the_inside": Case("float64[:, :]", "n,m"),
    "lines_of_the_inside": Case("float64[:, :, :], float64[:, :]", "n,m,k+1 n,m"),
    "later_view": refused("float64[:], float64[:]", "PRT905"),
    "scan_before_a_loop": Case("int32[:, :], int32[:, :]", "n+2,m n+2,m"),
    "real_parts_folded": Case("complex128[:, :]", "n,m"),
    "floor_division_of_integers": Case("int64[:], int64[:]", "n n"),
    "narrow_products_folded": Case("int8[:, :]", "n+1,m"),
    "imaginary_part_changed": refused("float64[:]", "PRT905"),
    "shifted_by_numbers": Case("int64[:], int64[:]", "n n"),
    "powers_of_integers": Case("int64[:], int64[:]", "n n"),
    "powers_of_two": Case("float64[:]", "n"),
    "average_of_bytes": Case("uint8[:, :], float32[:, :]", "n+1,m n+1,m"),
    "first_column_less_the_sum": Case("float64[:, :]", "n,m+1"),
}
