"""Modules for arrays in chunks: functions of blocks, and the host function that calls them."""
