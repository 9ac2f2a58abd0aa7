"""From an array program to kernels: a visible tuple of passes, one file each."""
