"""Passes over stores: what is stored, and in which order."""
