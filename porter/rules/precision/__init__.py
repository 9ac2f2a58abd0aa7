"""PRT7xx: precision and cost."""
