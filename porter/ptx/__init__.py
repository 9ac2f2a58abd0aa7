"""Compiled kernels: a parser of PTX, and a machine that runs it on NumPy vectors."""
