"""PRT2xx: loops in functions that fall to object mode."""
