"""PRT1xx: what Numba cannot compile."""
