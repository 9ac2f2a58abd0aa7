"""Passes over the user's own loops."""
