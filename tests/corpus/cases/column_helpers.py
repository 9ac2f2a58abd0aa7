"""Arguments of the corpus programs in column_helpers.py."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "_smoothed": Case("float64[:]", "n"),
    "smoothed_columns": Case("float64[:, :]", "n,m"),
    "_rolling_mean": Case("float64[:], int64, int64", "n =3 =2", refused=("PRT904",)),
    "rolling_means": Case("float64[:, :], int64, int64", "n,m =3 =2"),
    "_fed_back": Case("float64[:], int64, float64", "n+3 =2 =0.5", refused=("PRT904",)),
    "fed_back_columns": Case("float64[:, :], float64", "n+3,m =0.5"),
    "both_ways": Case("float64[:, :]", "n,m"),
    "few_of_each": Case("float64[:, :]", "n,m"),
    "added_to": Case("float64[:, :], float64[:, :]", "n,m n,m"),
    "longer_columns": Case("float64[:, :]", "n,m"),
    "until_negative": Case("float64[:, :]", "n,m"),
}
