"""The array calculus: dtypes, symbolic sizes, and the tables of NumPy functions."""
