"""An emulator of CUDA kernels: their own source, compiled for the CPU by Numba."""
