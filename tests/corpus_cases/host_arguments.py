"""Arguments of the corpus programs in host_arguments.py."""

from corpus_case import Case

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
}
