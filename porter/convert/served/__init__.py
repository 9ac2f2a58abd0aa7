"""Which calls a module serves beyond its own types: other dtypes, ranks, sizes of 1 and values."""
