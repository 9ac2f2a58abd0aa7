"""Arguments for `corpus/scatter.py`."""

from corpus_case import Case, refused

CASES: dict[str, Case] = {
    "count_loop": Case("int64[:], int64[:]", "2*n:idx=m m"),
    "degrees": Case("int64[:], int64[:], int64", "2*n:idx=n 2*n:idx=n =n"),
    "weighted_histogram": Case(
        "float64[:], float64[:], float64, float64, int64", "2*n 2*n =-1.0 =1.5 =m"
    ),
    "coo_matvec": Case(
        "int64[:], int64[:], float64[:], float64[:], int64", "2*n:idx=n 2*n:idx=m 2*n m =n"
    ),
    "coo_matmat": Case(
        "int64[:], int64[:], float64[:], float64[:, :], int64", "2*n:idx=n 2*n:idx=m 2*n m,k =n"
    ),
    "image_histogram": Case("uint8[:, :]", "n,m"),
    "joint_histogram": Case("int64[:], int64[:], int64", "2*n:idx=m 2*n:idx=m =m"),
    "confusion_matrix": Case("int32[:], int32[:], int64", "2*n:idx=k 2*n:idx=k =k"),
    "group_sums": Case("int64[:], float64[:], int64", "2*n:idx=m 2*n =m"),
    "group_means": Case("int64[:], float64[:], int64", "2*n:idx=m 2*n =m"),
    "group_maximum": Case("int64[:], float64[:], int64", "2*n:idx=m 2*n:nan =m"),
    "group_minimum_if": Case("int64[:], float64[:], float64[:]", "2*n:idx=m 2*n:nan m:nan"),
    "latest": Case("int64[:], int64[:], int64[:]", "2*n:idx=m 2*n m"),
    "subtract_flows": Case(
        "int64[:], int64[:], float64[:], float64[:]", "2*n:idx=m 2*n:idx=m 2*n m"
    ),
    "pair_forces": Case("float64[:], float64", "n =0.1"),
    "centroids": Case("float64[:, :], int64[:], int64", "n,m n:idx=k =k"),
    "pagerank": Case(
        "int64[:], int64[:], int64, float64, int64", "2*n:idx=n 2*n:idx=n =n =0.85 =3"
    ),
    "min_label_sweep": Case("int64[:], int64[:], int64[:]", "n:idx=n n:idx=n n"),
    "bfs_level": Case("int64[:], int64[:], int64[:], int64", "2*n:idx=n 2*n:idx=n n =2"),
    "mark": Case("int64[:], int8[:]", "n:idx=m m"),
    "flags_or": Case("int64[:], bool[:], bool[:]", "2*n:idx=m 2*n m"),
    "bits": Case("int64[:], uint32[:], uint32[:]", "2*n:idx=m 2*n m"),
    "deposit": Case("float64[:], float64[:], int64", "2*n 2*n =m"),
    "assemble": Case("float64[:]", "n"),
    "polynomial_product": Case("float64[:], float64[:]", "n m"),
    "co_occurrence": Case("int64[:, :], int64", "n,m:idx=k =k"),
    "hough": Case("bool[:, :], float64[:], float64[:], int64", "n,m k:unit k:unit =12*n+9"),
    "permute_loop": Case("int64[:], float64[:], float64[:]", "2*n:idx=n 2*n n"),
    "scatter_pairs": Case(
        "int64[:], float64[:], float64[:], float64[:], float64[:]", "n:idx=m n n m m"
    ),
    "triangle_count": Case("int64[:], int64[:], bool[:, :]", "n:idx=n n:idx=n n,n"),
    "scale_refused": refused("int64[:], float64[:], float64[:]", "PRT904", "n:idx=m n m"),
    "relax_refused": refused(
        "int64[:], int64[:], float64[:], float64[:]", "PRT904", "n:idx=m n:idx=m n m"
    ),
    "small_counts_refused": refused("int64[:], int8[:]", "PRT907", "n:idx=m m"),
    "slots_refused": refused("int64[:], int64[:], int64[:]", "PRT904", "n:idx=m m m"),
}
