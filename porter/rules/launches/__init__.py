"""PRT6xx: launch configurations and memory access."""
