"""Arguments of the corpus programs in host_library.py."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "ridge": Case("float64[:, :], float64[:], float64", "n,k n =0.5"),
    "whiten": Case("float64[:, :]", "n,k", least=2),
    "inverse_and_itself": Case("float32[:, :]", "n,n", least=1),
    "lower_product": Case("float64[:, :]", "n,n", least=1),
    "scaled_by_det": Case("float64[:, :]", "n,n", least=1),
    "energy_from_svd": Case("float64[:, :]", "n,k", least=1),
    "least_squares": Case("float64[:, :], float64[:]", "n,k n", least=4),
    "orthogonal_part": Case("float64[:, :], float64[:]", "n,k k", least=3),
    "lowpass": Case("float32[:], int64", "n =3", least=8),
    "power_spectrum": Case("float32[:]", "n", least=1),
    "blur_in_frequency": Case("float32[:, :]", "n,m", least=1),
    "trimmed": Case("float32[:]", "n", least=1),
    "row_quantiles": Case("float64[:, :]", "n,m", least=1),
    "ranked": Case("float64[:]", "n"),
    "sorted_rows": Case("int32[:, :]", "n,m"),
    "flat_order": Case("float64[:, :]", "n,m"),
    "sorted_in_place": Case("float64[:]", "n"),
    "trend": Case("float64[:], float64[:]", "n n", least=3),
    "repeated_solve": Case("float64[:, :], float64[:], int64", "=np.eye(n)*9+1 n =3", least=1),
    "in_helper": Case("float64[:, :]", "n,n", least=1),
    "_solved": Case("float64[:, :], float64[:]", "n,n n", least=1),
    "levelled": Case("float64[:]", "n"),
    "levelled_by_chebyshev": Case("float64[:]", "n"),
}
