"""`--target cupy`: the source rewritten, arrays moved at the edges, kernels for its loops."""
