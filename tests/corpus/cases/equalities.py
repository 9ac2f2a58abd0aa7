"""How the functions of `corpus/equalities.py` are called."""

from __future__ import annotations

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "first_in_a_tuple": Case("int64[:]", "n"),
    "count_in_a_tuple": Case("float64[:], int64", "n s"),
    "codes_left_out": Case("int64[:]", "n"),
    "itself_in_a_tuple": Case("float64[:], float64", "n =np.nan"),
    "number_in_an_array": Case("float64[:], float64", "n =1.0"),
    "number_not_in_rows": Case("int32[:, :], int64", "n,m =2"),
    "odd_in_a_range": Case("float64[:], int64", "n s"),
    "sizes_in_a_range": Case("float64[:]", "n"),
    "mode_in_a_tuple": Case("float64[:]", "n"),
    "axis_in_a_tuple": Case("float64[:, :]", "n,m"),
    "dtype_named": Case("float64[:]", "n"),
    "dtype_of_numpy": Case("float64[:]", "n"),
    "dtypes_unlike": Case("float64[:], float32[:]", "n n"),
    "dtype_in_a_tuple": Case("float32[:]", "n"),
    "dtype_of_integers": Case("int64[:]", "n"),
    "size_of_elements": Case("float64[:]", "n"),
    "tuples_of_two": Case("float64[:], float64[:]", "n n"),
    "any_of_two": Case("float64[:], float64, float64", "n s s"),
    "all_of_an_element": Case("float64[:]", "n"),
    "mode_given": Case("float64[:]", "n"),
    "bytes_in_a_range": Case("int8[:]", "=np.arange(-128,128,dtype=np.int8)"),
    "unsigned_in_a_range": Case("uint64[:]", "=np.array([0,1,2,5,195,200,2**64-3],np.uint64)"),
    "nan_in_two_tuples": Case("float64[:], float64", "n =np.nan"),
    "array_beside_a_tuple": Case("int64[:]", "=np.array([1,5,3])"),
}
