"""What lowering knows while it reads a function: values, names, sizes, checks."""
