"""What runs in the child processes that ask Numba."""
