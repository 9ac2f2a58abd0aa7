"""Reading Python: files, modules, positions, comments, suppressions."""
