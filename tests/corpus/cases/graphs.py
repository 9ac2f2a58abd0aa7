"""Arguments for `corpus/graphs.py`."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "bfs": Case("int64[:], int64[:], int64, int64", "n:idx=n n:idx=n =n =0"),
    "components": Case("int64[:], int64[:], int64", "n:idx=n n:idx=n =n"),
    "pagerank_vector": Case("int64[:], int64[:], int64, int64", "2*n:idx=n 2*n:idx=n =n =3"),
    "kmeans_step": Case("float64[:, :], float64[:, :]", "n,2 k,2"),
    "deposit_2d": Case(
        "float64[:], float64[:], float64[:], int64, int64", "2*n:pos 2*n:pos 2*n =n+4 =n+5"
    ),
    "ising_sweep": Case("float64[:, :], float64[:, :], float64", "2*n,2*m 2*n,2*m:unit =0.4"),
    "radial_profile": Case("float64[:, :], float64, float64, int64", "n,m =1.5 =2.0 =m"),
    "bigrams": Case("int64[:], int64", "n+1:idx=k =k"),
    "segment_sum": Case("float64[:, :], int64[:], int64", "n,k n:idx=m =m"),
    "laplacian_of_edges": Case(
        "int64[:], int64[:], float64[:], float64[:]", "2*n:idx=n 2*n:idx=n 2*n n"
    ),
    "equalize": Case("uint8[:, :]", "n,m"),
    "naive_bayes_counts": Case("int64[:, :], int64[:], int64", "n,m n:idx=k =k"),
    "orderbook_volume": Case("float64[:], float64[:], float64, int64", "2*n:pos 2*n =0.25 =m"),
    "first_and_last_seen": Case(
        "int64[:], float64[:], float64[:], float64[:]", "2*n:idx=m 2*n m m"
    ),
    "out_of_range_rows": Case("int64[:], int64, int64", "n:idx=k =n =k"),
    "total_in_element": Case("float64[:], float64[:]", "n k"),
    "jacobian_scatter": Case("int64[:, :], float64[:, :, :], int64", "n,2:idx=n n,2,2 =n"),
}
