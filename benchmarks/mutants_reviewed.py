"""Mutants that are right: what the edit changes does not matter, as read in each kernel."""

from __future__ import annotations

import re

#: module, kind, what `function: line before => line after` matches, and why it is right
REVIEWED: list[tuple[str, str, str, str]] = [
    (
        "threshold", "abs or sign dropped", r"^sign\+4: ", "-0.0 and 0.0 are equal",
    ),
    (
        "mutant_sources", "abs or sign dropped", r" => .*else T\(\(0\.0\)\)$",
        "the sums start with another zero, and -0.0 and 0.0 are equal",
    ),
    (
        "softmax|l2_norms|row_normalize", "syncthreads (dropped|moved)", r"^row_sum\+1[02]: ",
        "scratch is not used again, and nobody waits for lanes that have ended (the simulator calls"
        " it an error all the same)",
    ),
    (
        "zscores", "guard off by one", r"threadIdx.y == 0 and column < \(\w+.shape\[1\]\) \+ 1:",
        "the thread beyond the last column has its sum, and stores the same",
    ),
    (
        "pairwise|matmul|zscores", "syncthreads moved", r"^column_sum\+7: ",
        "the first threads along y alone use the result, and they have stored it themselves",
    ),
    (
        ".*", "tail dropped", r"^row_sum\+10: .*range\(WARP, THREADS // WARP \* WARP, WARP\)",
        "a block has whole warps only",
    ),
    (
        "pairwise|matmul", "syncthreads moved", r"^column_sum\+1[12]: ",
        "the kernel ends without using scratch again",
    ),
    (
        "zscores", "operands swapped", r"^zscores_columns\d?\+4: .* else \(1 - ",
        "a thread beyond the last column stores nothing, and the index counts from the end",
    ),
    (
        ".*", r"T\(\) dropped", r"^row_part\+10: return first \+ np.int64\(",
        "`first` is an int64, and so is the sum",
    ),
    (
        "softmax", "< for <=|guard dropped", r"if WARP > 1: => if (WARP >= 1|True):",
        "a warp has 32 threads",
    ),
    (
        "softmax", "NaN rule lost", r"^row_max\+13: ",
        "the sum over the row has the NaN in any case, and every element is divided by it",
    ),
    (
        "pairwise|matmul", "axes swapped", r"results\[r, c\] = T\(0.0\) => results\[c, r\]",
        "all of the square is set to zero",
    ),
    (
        "mutant_sources", "memory order", r"np.zeros\(x.shape, x.dtype\), stream\) if x.ndim > 1",
        "x has one axis",
    ),
    (
        "mutant_sources", "threshold", r"min\(largest_partial.shape\[0\], 32768\)",
        "there are at most MOST_PARTIALS partial results",
    ),
    (
        "mutant_sources", "guard off by one", r"^spread_total.*threadIdx.x == 0 \+ 1:",
        "every thread of the block has the results, the second too",
    ),
    (
        "l2_norms", "guard dropped", r"cuda.threadIdx.x == 0: => if True:",
        "every thread of the block has the same sum and stores the same number",
    ),
    (
        "mutant_sources", "syncthreads dropped", r"^block_sum\+12: ",
        "scratch is not used again, or the sum counts in thread 0 only, which reads it before it"
        " stores there (the emulator calls it a race)",
    ),
    (
        "pairwise|zscores", "syncthreads dropped", r"^column_sum\+12: ",
        "scratch is not used again in the kernels that call it",
    ),
    (
        "pairwise|matmul", "guard dropped", r"^\w+_tiled_split\+14: .* => if True\b",
        "all threads along y have the same sum, and those beyond the last column have its sum",
    ),
    (
        "mutant_sources", "tail dropped", r"^scan_sum\+6: .*width < \(cuda.blockDim.x\) - 1:",
        "width and blockDim.x are powers of two, and a block has more than two threads",
    ),
    (
        "mutant_sources", "one dtype", r"error\[0\] = \(-\(1\) if",
        "the host tests whether it is 0",
    ),
    (
        ".*", "syncthreads moved",
        r"syncthreads\(\) width (//|\*)?= .* => width (//|\*)?= .*cuda.sync",
        "width is a variable of the thread: the barrier stands between the same accesses",
    ),
    (
        "csr_matvec", "guard off by one|< for <=", r"^slice_bound\+4: .*( 0 \+ 1|<= 0)",
        "where k is 0 both give 0",
    ),
    (
        "mutant_sources", "NaN rule lost", r"smallest = minimum\(|^block_min.*min\(scr",
        "the largest keeps the NaN, and the difference of both is all that is returned",
    ),
    (
        "softmax", "NaN rule lost",
        r"= max\(largest, x\[i, j\]\)|^(block|row)_max.*max\((scr|value, cuda)",
        "the sum over the row has the NaN in any case, and every element is divided by it",
    ),
    (
        "csr_matvec", "< for <=", r"return n if k > n else k", "where k equals n both give n",
    ),
    (
        ".*", "wrong grid",
        r"_blocks\(.*, THREADS\), THREADS // 2, stream|\[(blocks|1), THREADS // 2,",
        "the kernel loops over what a smaller grid leaves",
    ),
    (
        "row_normalize", "float64 to float32", r"total / np.float32\(x.shape\[1\]\)",
        "a length is exact in float32 up to 2**24 columns",
    ),
    (
        "gaussian", "operands swapped", r"z = \(\(mean - \(x\[i\]\)\)\) / sigma", "z is squared",
    ),
    (
        "black_scholes", "abs or sign dropped", r"abs\(-d\d\)\) => .*abs\(d\d\)\)$",
        "the absolute value is the same",
    ),
    (
        ".*", "< for <=", r"^(minimum|maximum)\+2: .* a (<=|>=) b .* => .* a [<>] b ",
        "of equal numbers either one will do (NumPy's own loops differ in the sign of zero)",
    ),
    (
        "zscores|pairwise", "operands swapped", r"^zscores_kernel\+11: |x_tile.* \*\* 2$",
        "the difference is squared",
    ),
    (
        "mutant_sources", "axes swapped", r"^transposed_difference_kernel", "the matrix is square",
    ),
    (
        "mutant_sources", "< for <=|guard (off by one|dropped)", r"^running\+7: ",
        "there is a block in any case, and in no elements it finds nothing",
    ),
    (
        "mutant_sources|l2_norms", "syncthreads (moved|dropped)", r"^block_(min|max|sum)\+1[12]: ",
        "thread 0 alone uses the result, and reads it before it stores there again (the emulator"
        " calls it a race)",
    ),
    (
        "mutant_sources|l2_norms", "syncthreads moved", r"^block_(min|max|sum)\+7: ",
        "the barrier stands before the next step instead of behind the last one, whose result only"
        " thread 0 uses (the emulator calls it a race)",
    ),
    (
        ".*", "wrong grid", r"_row_threads\(\w+.shape\[1\]\)\) // 2, stream",
        "half the threads, still a power of two, take two elements each",
    ),
    (
        "black_scholes", "T\\(\\) dropped", r" > T\(0.0\).* => .* > \(0.0\)",
        "zero is zero in both types, and the compiler compares in float32",
    ),
    (
        "black_scholes", "< for <=", r"d[12] > T\(0.0\) ", "at 0 both sides are one half",
    ),
    (
        "mutant_sources", "NaN rule lost",
        r"largest = maximum\(|^block_max.*max\(scr|^maximum\+2: ",
        "the smallest keeps the NaN, and the difference of both is all that is returned",
    ),
    (
        "softmax", "NaN rule lost", r"^maximum\+2: ",
        "the sum over the row has the NaN in any case, and every element is divided by it",
    ),
    (
        "zscores", "float64 to float32", r"np.float32\(table.shape\[0\]\)",
        "a length is exact in float32 up to 2**24 rows",
    ),
    (
        ".*", "float64 to float32", r"np.float32\((T\()?-?(math.inf|0.0)\)?\)",
        "zero and infinity are the same in float32; the variable takes the elements' type",
    ),
    (
        "csr_matvec", "branch dropped", r"^position\+5: ",
        "Numba counts negative subscripts from the end itself",
    ),
    (
        "mutant_sources", "guard dropped", r"^(running_scan_parts|spread_total).*threadIdx.x == 0:",
        "every thread of the block has the same sums and stores the same numbers",
    ),
    (
        "hidden_layer", "arguments exchanged", r"d_weights, d_greyscales, out",
        "a * w / 255 is w * a / 255 but for the rounding",
    ),
    (
        "heat", "arguments exchanged", r"\]\(d_u, new, u2\)", "both are copies of u",
    ),
    (
        "matmul|pairwise", "strides swapped", r"gridDim.y \* TILE\): => .*blockDim.y \* TILE",
        "only a grid of 65535 blocks takes a second step: elements are then stored twice, alike",
    ),
    (
        "threshold", "< for <=", r"^clip_outliers_kernel\+5: too_large",
        "what equals the limit stays as it is",
    ),
    (
        ".*", "wrong grid", r"_blocks\(.*, THREADS\) - 1, 1\)",
        "the kernel loops over what a smaller grid leaves",
    ),
    (
        "mutant_sources|pairwise|matmul", "< for <=",
        r"if first \+ size < x|^scan_sum\+6: |if width > TILE else width",
        "where both are equal it comes to the same",
    ),
    (
        "mutant_sources", "< for <=", r"^running_scan.* while tile < last: ",
        "one tile more has no element",
    ),
    (
        "mutant_sources", "float64 to float32", r"total / np.float32\(x_size0\)",
        "a length is exact in float32 up to 2**24 elements",
    ),
    (
        "csr_matvec", "float64 to float32", r"np.int32\(k\) \+ n",
        "only indices into more than 2**31 elements have no int32",
    ),
    (
        "mandelbrot", "T\\(\\) dropped", r"escape\[i, j\] = n$", "n is a 64-bit integer already",
    ),
    (
        "csr_matvec", "T\\(\\) dropped", r"return k \+ n if",
        "n is a 64-bit integer, and so is the sum",
    ),
    (
        "threshold", "float64 to float32", r"np.float32\(abs\(x\[i\]\) > limit\)",
        "a truth is a truth as 1.0 as well",
    ),
    (
        "hidden_layer", "float64 to float32", r"np.float32\(GREYSCALE_MAX\)",
        "255 is exact in float32",
    ),
    (
        "mutant_sources|l2_norms", "guard off by one",
        r"^(running_scan_parts|l2_norms_rows).* 0 \+ 1:",
        "every thread of the block has the sum, the second too",
    ),
    (
        "mandelbrot", "wrong sign", r"x \* y - b$",
        "the orbit is the conjugate one, with the same absolute values",
    ),
    (
        "softmax", "float64 to float32", r"np.float32\((maximum|block_max)\(",
        "the largest cancels: it has only to be near",
    ),
    (
        ".*", "T\\(\\) dropped", r"^grid_2d.*, \(np.uint32\(row\)\)",
        "an index is joined with 64-bit integers only: the result has 64 bits",
    ),
    (
        ".*", "T\\(\\) dropped", r"T\([024].0\).* => .*[=>/] \([024].0\):?$|, \(weights\[i\]\)\)$",
        "the number is the same in both types, and what is stored has the array's",
    ),
]  # fmt: skip


def equivalent(module: str, kind: str, before: str, after: str, *, doubles: bool) -> str:
    """The reason why a mutant that survived is right; '' when it is in no list."""
    if kind == "T() dropped" and doubles:
        return "more precise, not wrong: verify warns of float64 in a float32 program"
    text = f"{before} => {after}"
    for modules, kinds, pattern, reason in REVIEWED:
        if re.fullmatch(modules, module) and re.fullmatch(kinds, kind) and re.search(pattern, text):
            return reason
    return ""
