"""Kernels compiled to PTX without a GPU."""
