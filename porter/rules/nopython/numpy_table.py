"""NumPy names that Numba does not compile: asked of the registries of numba 0.68.1 with
NumPy 2.4.6 (`tests/test_rules.py` asks the installed ones again).  Newer versions may know
more, which only means that a finding can be ignored."""

from __future__ import annotations

from porter.rules.words import words

UNSUPPORTED = words(
    "apply_along_axis apply_over_axes array2string array_equiv array_repr array_str asanyarray "
    "asmatrix base_repr binary_repr bitwise_count block bmat choose compress copyto "
    "cumulative_prod cumulative_sum diag_indices diag_indices_from diagonal einsum einsum_path "
    "fix frexp fromfile fromfunction fromiter frompyfunc fromregex fromstring genfromtxt "
    "gradient heaviside histogram2d histogram_bin_edges histogramdd i0 inner ix_ lexsort load "
    "loadtxt mask_indices matmul matrix_transpose matvec meshgrid modf packbits pad piecewise "
    "place poly polyadd polyder polydiv polyfit polyint polymul polysub polyval promote_types "
    "put put_along_axis putmask ravel_multi_index real_if_close require result_type rollaxis "
    "save savetxt savez savez_compressed shares_memory sort_complex squeeze tensordot tile "
    "unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unstack "
    "vecdot vecmat linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm "
    "linalg.matrix_transpose linalg.multi_dot linalg.outer linalg.svdvals linalg.tensordot "
    "linalg.tensorinv linalg.tensorsolve linalg.trace linalg.vecdot linalg.vector_norm "
    "fft.fft fft.fft2 fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn "
    "fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq "
    "fft.rfftn random.bytes random.default_rng random.get_state random.multivariate_normal "
    "random.noncentral_f random.random_integers random.set_state"
)
