"""Expressions of the user, evaluated to symbolic values."""
