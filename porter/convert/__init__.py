"""From a function to the text of its kernels, and from a file to a verified module."""
