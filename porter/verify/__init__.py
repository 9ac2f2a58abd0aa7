"""Verifying a generated module against the originals."""
