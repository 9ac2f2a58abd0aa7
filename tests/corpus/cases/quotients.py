"""Arguments of tests/corpus/programs/quotients.py."""

from tests.corpus.case import Case, refused

V = "float64[:]"

CASES: dict[str, Case] = {
    "thomas": Case(f"{V}, {V}, {V}, {V}", "n n n n", least=1),
    "implicit_diffusion": Case(f"{V}, float64", "n s", least=1),
    "continued_fraction": Case(f"{V}, {V}", "n n", least=1),
    "convergents": Case(V, "n", least=1),
    "kalman": Case(f"{V}, float64, float64", "n s s"),
    "ladder": Case(f"{V}, {V}", "n n"),
    "newton": refused(f"{V}, float64", "PRT904", "n s"),
}
