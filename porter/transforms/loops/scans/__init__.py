"""Loops that carry values from one iteration to the next, as scans."""
