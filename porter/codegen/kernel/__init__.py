"""From the kernels of a plan to their text."""
