"""The arguments that functions are called with."""
