"""How the functions of `corpus/pairs.py` are called."""

from __future__ import annotations

from tests.corpus.case import Case

ROWS = "float64[:, :]"
CASES: dict[str, Case] = {
    "minimum_image": Case(f"{ROWS}, float64", "n,k =3.0"),
    "gravity": Case(f"{ROWS}, float64[:]", "n,k n"),
    "both_ways": Case(ROWS, "n,k"),
    "potential": Case(ROWS, "n,k", least=2),
    "distances": Case(ROWS, "n,k"),
    "upper": Case(ROWS, "n,k"),
    "neighbours": Case(f"{ROWS}, float64", "n,k =2.5"),
    "centred": Case(ROWS, "n,m"),
    "nearest": Case(f"{ROWS}, {ROWS}", "n,k m,k"),
    "changed_between": Case(f"{ROWS}, float64[:]", "n,m n"),
    "added_below": Case(f"{ROWS}, float64[:]", "n,b n+2"),
    "added_rows": Case(f"{ROWS}, float64[:]", "n,m n"),
    "added_between": Case(f"{ROWS}, float64[:], int64[:, :]", "n,m n m,b"),
    "counted_rows": Case(f"{ROWS}, float64[:]", "n,m n"),
    "last_row": Case(ROWS, "n,m"),
    "last_of_each": Case(ROWS, "n,m"),
    "last_made": Case(ROWS, "n,m"),
    "last_stored_into": Case(f"{ROWS}, float64[:]", "n,m n"),
    "last_view": Case(ROWS, "n,m"),
    "last_change": Case("float64[:], int64", "n =3"),
    "last_sum": Case("float64[:], int64", "n =2"),
    "until_small": Case("float64[:], float64", "n =0.25"),
    "named_in_a_branch": Case("float64[:], float64", "n =1.0"),
    "viewed_in_a_branch": Case("float64[:], float64", "n =1.0"),
    "best_row": Case(ROWS, "n,m"),
    "best_row_unbound": Case(ROWS, "n,m", refused=("PRT902",)),
}
