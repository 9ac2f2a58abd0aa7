"""Passes from an array program to loops."""
