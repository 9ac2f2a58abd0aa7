"""What Numba compiles, as tables that were asked of Numba and are read without it."""
