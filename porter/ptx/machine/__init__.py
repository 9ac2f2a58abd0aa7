"""The machine: a grid of threads as vectors."""
