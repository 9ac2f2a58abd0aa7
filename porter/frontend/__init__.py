"""From a libcst function to an array program."""
