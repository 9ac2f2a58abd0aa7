"""What would be computed several times is computed once."""
