"""What stands in for CuPy where there is no GPU: its arrays, functions and streams."""
