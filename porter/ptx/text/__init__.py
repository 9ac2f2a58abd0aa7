"""PTX text to immutable records."""
