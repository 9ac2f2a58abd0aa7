"""The generated module around its kernels and host functions."""
