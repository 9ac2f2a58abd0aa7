"""Statements of the user: assignments, branches, loops, `return`."""
