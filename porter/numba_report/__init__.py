"""Numba's own word: what its compiler makes of each function, asked in a child process."""
