"""Proving a generated module against the originals."""
