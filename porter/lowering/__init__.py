"""From a libcst function and the types of its parameters to an array program."""
