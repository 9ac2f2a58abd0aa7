"""A kernel's source, rewritten so that Numba compiles it for the CPU."""
