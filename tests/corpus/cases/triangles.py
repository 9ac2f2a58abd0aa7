"""What the functions of `programs/triangles.py` are called with."""

from tests.corpus.case import Case

CASES = {
    "distances": Case("float64[:]", "n"),
    "lower": Case("float64[:], float64[:]", "n n"),
    "from_the_end": Case("float64[:]", "n"),
    "other_start": Case("float64[:], float64", "n s"),
    "band": Case("float64[:]", "n"),
    "gram_upper": Case("float64[:, :], float64[:, :]", "n,m m,m"),
    "gram_both": Case("float64[:, :]", "n,m"),
    "gram_later": Case("float64[:, :]", "n,m"),
    "shifted": Case("float64[:]", "n"),
}
