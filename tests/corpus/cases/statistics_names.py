"""Arguments of `corpus/statistics_names.py`."""

from tests.corpus.case import Case

ONE, TWO = "float64[:]", "float64[:, :]"

CASES: dict[str, Case] = {
    "zscore": Case(f"{TWO}, int64", "n,m s", least=2),
    "weighted_moments": Case(f"{ONE}, {ONE}", "n n:pos"),
    "weighted_columns": Case(f"{TWO}, {ONE}", "n,m n:pos"),
    "fill_missing": Case(TWO, "n,m:nan"),
    "missing_summary": Case(ONE, "n:nan"),
    "scale_to_range": Case("float32[:, :]", "n,m:nan"),
    "column_covariance": Case(TWO, "n,m", least=2),
    "column_correlation": Case(TWO, "n,m", least=3),
    "covariance_of_rows": Case(TWO, "n,m", least=1),
    "mahalanobis_terms": Case(f"{TWO}, {TWO}", "n,m:pos m,m:pos"),
    "skew_and_kurtosis": Case(ONE, "n", least=3),
    "mean_where_positive": Case(TWO, "n,m"),
    "trimmed": Case(f"{ONE}, float64, float64", "n =-1.0 =1.0"),
    "chebyshev_distances": Case(f"{TWO}, {TWO}", "n,m n,m"),
    "pairwise_l1": Case(f"{ONE}, {ONE}", "n m"),
    "table_of_maxima": Case(f"{ONE}, {ONE}", "n m"),
    "three_way_minimum": Case(f"{ONE}, {ONE}, {ONE}", "n n n"),
    "masked_update": Case(f"{ONE}, {ONE}, {ONE}", "n n n"),
    "accumulate_into": Case(f"{ONE}, {ONE}, {ONE}", "n n n"),
    "log_odds": Case("float32[:]", "n:unit"),
    "converged": Case(f"{ONE}, {ONE}", "n n"),
    "wrap_and_split": Case(ONE, "n"),
    "block_products": Case(f"{TWO}, {TWO}", "n,m k,b"),
    "power_mean": Case(f"{ONE}, float64", "n s"),
    "max_with_floor": Case(TWO, "n,m"),
    "signal_to_noise": Case("float64[:, :, :]", "n,m,k"),
}
