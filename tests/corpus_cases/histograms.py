"""Arguments for `corpus/histograms.py`."""

from corpus_case import Case

CASES: dict[str, Case] = {
    "histogram_ten": Case("float64[:]", "n"),
    "histogram_bins": Case("float64[:], int64", "3*n =m"),
    "histogram_range": Case("float64[:], float64, float64", "3*n:special =-1.0 =2.5"),
    "histogram_unit": Case("float64[:]", "3*n:unit"),
    "histogram_density": Case("float64[:], int64", "3*n =m"),
    "histogram_weights": Case("float64[:], float64[:]", "3*n 3*n"),
    "histogram_edges": Case("float64[:], float64[:]", "3*n m+2:sorted"),
    "histogram_list": Case("float64[:]", "3*n"),
    "histogram_image": Case("uint8[:, :]", "n,m"),
    "entropy_of_histogram": Case("float64[:]", "3*n"),
}
