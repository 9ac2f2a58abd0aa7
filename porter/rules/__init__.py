"""One class per rule, one file per class, found by walking this package."""
