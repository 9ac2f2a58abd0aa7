"""Arguments of the corpus programs in host_objects.py."""

from tests.corpus.case import Case, refused

CASES: dict[str, Case] = {
    "table": Case("float64[:]", "n", least=1),
    "report": Case("float64[:]", "n:pos", least=1),
    "described": Case("float64[:]", "n", least=1),
    "labels": Case("float64[:]", "n:pos"),
    "text_of_first": Case("float64[:], int64", "n =2"),
    "elementwise_of_one_axis": Case("float64[:]", "n"),
    "checked": Case("float64[:], float64[:], int64", "n n =2"),
    "negative_refused": Case("float64[:]", "n:pos"),
    "warned": Case("float64[:], float64", "n =0.5"),
    "imported_inside": Case("float64[:]", "n"),
    "printed": Case("float64[:], omitted", "n =False"),
    "kinds": Case("float64[:, :]", "n,m"),
    "as_floats": Case("float64[:]", "n"),
    "copied_count": Case("float64[:], int64", "n =3"),
    "histogram_text": Case("float64[:]", "n", least=1),
    "two_kinds": refused("float64[:], int64", "PRT908", "n =3"),
    "name_by_branch": refused("float64[:], int64", "PRT908", "n =3"),
    "previous_none": refused("float64[:], int64", "PRT908", "n =3"),
    "kept_then_changed": refused("float64[:]", "PRT902 PRT905", "n"),
}
