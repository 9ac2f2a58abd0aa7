"""Passes that join loops and keep elements in registers."""
