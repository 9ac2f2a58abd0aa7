"""porter turns NumPy functions into verified CUDA kernels."""

__version__ = "0.1.0"
