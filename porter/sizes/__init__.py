"""Symbolic integers: sizes, bounds and subscripts."""
