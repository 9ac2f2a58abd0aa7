"""Arithmetic as the PTX ISA defines it, on NumPy vectors."""
