"""What one run of the user's script tells of its functions."""
