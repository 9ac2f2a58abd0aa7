"""Loops of the host: in a block, or replayed by a graph."""
