"""dtypes by name, the promotion of NumPy, and signatures of parameters."""
