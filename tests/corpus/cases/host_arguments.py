"""Arguments of the corpus programs in host_arguments.py."""

from tests.corpus.case import Case

CASES: dict[str, Case] = {
    "centred": Case("float64[:, :], omitted", "n,m =None"),
    "column_sums": Case("float64[:, :], omitted", "n,m =0"),
    "row_norm": Case("float32[:, :], omitted, omitted", "n,m =-1 =True"),
    "weighted": Case("float64[:], omitted", "n =None"),
    "three_taps": Case("float64[:], omitted", "n =(0.25,0.5,0.25)", least=2),
    "taps_as_list": Case("float32[:], omitted", "n =[0.25,0.75]", least=1),
    "norm_by_name": Case("float64[:], omitted", "n ='l2'"),
    "filled": Case("int64, float64, omitted", "=n =0.5 ='float32'"),
    "every_other": Case("float64[:], omitted", "n =2"),
    "by_constant": Case("float32[:], float64", "n =2.5"),
    "both_none": Case("float64[:], omitted, omitted", "n =None =None"),
    "inner_of_shape": Case("float64[:, :], UniTuple(int64, 2)", "n,m =(n,m)"),
    "window_of_size": Case("float32[:, :], UniTuple(int64, 2)", "n,m =(2,n)"),
    "moved_by": Case("float64[:, :], Tuple((float64, float64, int64))", "n,3 =(0.5,2.0,3)"),
    "checked_with_messages": Case("float64[:, :], float64[:]", "n,n n"),
    "padded_unless_named": Case("float64[:], int64", "n =2"),
}
