"""Arguments for `corpus/histograms.py`."""

from tests.corpus.case import Case

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
    "bincount_plain": Case("int64[:]", "n:idx=m"),
    "bincount_minlength": Case("int32[:], int64", "n:idx=m =m+3"),
    "bincount_weights": Case("int64[:], float64[:]", "2*n:idx=m 2*n"),
    "group_means_bincount": Case("int64[:], float64[:], int64", "2*n:idx=k 2*n =k"),
    "degree_distribution": Case("int64[:], int64", "2*n:idx=n =n"),
    "most_frequent": Case("uint8[:]", "2*n:idx=m"),
    "joint_counts": Case("int64[:], int64[:], int64", "2*n:idx=k 2*n:idx=k =k"),
    "weighted_between_edges": Case("float64[:], float64[:]", "3*n:special 3*n:special"),
    "weighted_by_edges": Case("float64[:], float64[:], float64[:]", "3*n 3*n:special m+2:sorted"),
    "means_in_bins": Case("float64[:], float64[:], int64", "3*n 3*n =m"),
    "histogram_of_changed": Case("float64[:], int64", "3*n =m"),
    "histogram_beside_changed": Case("float64[:], float64[:], int64", "3*n 3*n =m"),
    "edges_stored_into": Case("float64[:], int64", "3*n =m"),
    "means_of_groups": Case("int64[:], float64[:], int64[:], int64", "2*n:idx=k 2*n 2*n:idx=m =k"),
    "equalized": Case("uint8[:, :]", "n,m"),
}
