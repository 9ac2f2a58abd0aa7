"""Arguments for `corpus/kinds.py`."""

from tests.corpus.case import Case, refused

F1, F2, N = "float64[:]", "float64[:, :]", "int64"

CASES = {
    "array_in_both_branches": Case(f"{F1}, {N}", "n =n"),
    "array_or_left": Case(f"{F1}, {N}", "n =n"),
    "left_with_the_array": Case(f"{F1}, {N}", "n =n"),
    "array_used_in_its_branch": Case(f"{F1}, {N}", "n =n"),
    "array_of_one_iteration": Case(F2, "n,m+1"),
    "summed_from_zero": Case(F2, "n,m"),
    "added_from_zero": Case(F2, "n,m+1"),
    "two_sums": Case(f"{F1}, {F1}", "n m+1"),
    "summed_in_a_while": refused(f"{F2}, {N}", "PRT908"),
    "array_in_one_branch": refused(f"{F1}, {N}", "PRT908"),
    "array_of_the_iteration_before": refused(f"{F1}, {N}", "PRT908"),
    "array_of_the_last_iteration": refused(F2, "PRT908"),
    "multiplied_by_an_array": refused(f"{F1}, {N}", "PRT908"),
}
