"""What is spelt differently for another kind of module: one class for each kind."""
