"""Programs of `corpus/loops_in_order.py`: refused unless a single thread is asked for."""

from corpus_case import refused

F1, F, N, I1 = "float64[:]", "float64", "int64", "int64[:]"

CASES = {
    "crc16": refused("uint8[:], int64", "PRT904"),
    "bubblesort": refused(F1, "PRT904"),
    "insertion_sort": refused(F1, "PRT904"),
    "smoothing": refused(f"{F1}, {F}", "PRT904"),
    "fibonacci": refused(N, "PRT904"),
    "random_access": refused(f"{I1}, {N}, {N}", "PRT904"),
    "longest_run": refused(F1, "PRT904"),
    "merge": refused(f"{F1}, {F1}", "PRT904"),
    "union_find": refused(f"{I1}, {I1}, {I1}", "PRT904"),
    "drawdown": refused(F1, "PRT904"),
}
