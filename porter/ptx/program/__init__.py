"""A kernel as the machine runs it: one body without calls, in straight pieces."""
