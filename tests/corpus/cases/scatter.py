"""Arguments for `corpus/scatter.py`."""

from tests.corpus.case import Case, refused

CASES: dict[str, Case] = {
    "spread_of_itself": Case("float64[:, :], int64[:]", "n,m 2*n:idx=n"),
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
    "put": Case("float64[:], int64[:], float64[:]", "m n:idx=m n"),
    "put_constant": Case("float64[:], int64[:]", "m n:idx=m"),
    "put_scaled": Case("float64[:], int64[:], float64", "m n:idx=m s"),
    "add_at_once": Case("float64[:], int64[:], float64[:]", "m n:idx=m n"),
    "double_selected": Case("float64[:], int32[:]", "m n:idx=m"),
    "inverse_permutation": Case("int64[:]", custom=lambda rng, size: (rng.permutation(size),)),
    "put_rows": Case("float64[:, :], int64[:], float64[:, :]", "m,k n:idx=m n,k"),
    "put_rows_slice": Case("float64[:, :], int64[:], float64[:, :]", "m,k n:idx=m n,k"),
    "put_columns": Case("float64[:, :], int64[:], float64[:, :]", "k,m n:idx=m k,n"),
    "put_row_value": Case("float64[:, :], int64[:], float64[:]", "m,k n:idx=m k"),
    # NumPy does not keep its promise of the last value for several reversed index arrays
    "put_pairs": Case(
        "float64[:, :], int64[:], int64[:], float64[:]",
        custom=lambda rng, size: (
            rng.standard_normal((size + 2, 3)),
            rng.permutation(size + 2)[:size],
            rng.integers(0, 3, size),
            rng.standard_normal(size),
        ),
    ),
    "put_part_of_row": Case("float64[:, :], int64[:], float64[:]", "m,m n:idx=m n"),
    "one_hot": Case("int64[:], int64", "n:idx=k =k"),
    "softmax_gradient": Case("float64[:, :], int64[:]", "n,k n:idx=k"),
    "put_block": Case(
        "float64[:, :], int64[:], int64[:], float64[:, :]",
        custom=lambda rng, size: (
            rng.standard_normal((size + 2, size + 2)),
            rng.permutation(size + 2)[:size],
            rng.permutation(size + 2)[:2],
            rng.standard_normal((size, 2)),
        ),
    ),
    "put_through_two": Case("float64[:], int64[:], int64[:], float64[:]", "m n+1:idx=m n:idx=n n"),
    "copy_selected": Case("float64[:], int64[:], int64[:]", "m n:idx=m n:idx=m"),
    "swap_by_index": Case("float64[:], int64[:], int64[:]", "m k:idx=m k:idx=m"),
    "negative_positions": Case("float64[:], int64[:]", "m n:idx=m"),
    "put_in_slice": Case("float64[:], int64[:], float64[:]", "m+2 n:idx=m n"),
    "put_each_row": Case("float64[:, :], int64[:], float64[:]", "k,m n:idx=m k"),
    "bump_each_row": Case("float64[:, :], int64[:]", "k,m n:idx=m"),
    "boundary": Case("float64[:], int64[:], float64[:], int64", "n+2 k:idx=n k =3"),
    "gather_columns": Case("float64[:, :], int64[:]", "k,m n:idx=m"),
    "gather_labels": Case("float64[:, :], int64[:]", "n,k:pos n:idx=k"),
    "gather_rows_columns": Case("float64[:, :], int64[:], int64[:]", "m,m n:idx=m k:idx=m"),
    "gather_expanded": Case("float64[:], int64[:]", "m n:idx=m"),
    "gather_composed": Case("float64[:], int64[:], int64[:]", "m n+1:idx=m n:idx=n"),
    "gather_table": Case("float64[:, :], uint8[:, :]", "k,3 n,m:idx=k"),
    "embedding_mean": Case("float64[:, :], int64[:, :]", "m,k n,3:idx=m"),
    "add_at": Case("float64[:], int64[:], float64[:]", "m 2*n:idx=m 2*n"),
    "count_at": Case("int32[:], int64", "2*n:idx=m =m"),
    "add_at_pairs": Case(
        "float64[:, :], int64[:], int64[:], float64[:]", "m,k 2*n:idx=m 2*n:idx=k 2*n"
    ),
    "add_at_rows": Case("float64[:, :], int64[:], float64[:, :]", "m,k n:idx=m n,k"),
    "subtract_at": Case("int64[:], int64[:], int64[:]", "m 2*n:idx=m 2*n"),
    "maximum_at": Case("float64[:], int64[:], float64[:]", "m 2*n:idx=m 2*n:special"),
    "minimum_at": Case("int64[:], int64[:], int64[:]", "m 2*n:idx=m 2*n"),
    "add_at_itself": Case("float64[:], int64[:]", "m n:idx=m"),
    "spring_forces": Case("float64[:, :], int64[:], int64[:], float64", "m,k n:idx=m n:idx=m s"),
    "positions_of_itself": Case("int64[:]", "n:idx=n"),
    "scale_refused": refused("int64[:], float64[:], float64[:]", "PRT904", "n:idx=m n m"),
    "relax_refused": refused(
        "int64[:], int64[:], float64[:], float64[:]", "PRT904", "n:idx=m n:idx=m n m"
    ),
    "small_counts_refused": refused("int64[:], int8[:]", "PRT907", "n:idx=m m"),
    "slots_refused": refused("int64[:], int64[:], int64[:]", "PRT904", "n:idx=m m m"),
    "store_in_turned_columns": Case("float64[:, :], int64[:], float64[:]", "k,m 2*n:idx=m k"),
    "add_from_the_end": Case("float64[:, :], int64[:], float64[:]", "m,m n:idx=m n"),
}
