"""PRT3xx: what the CUDA target does not take."""
