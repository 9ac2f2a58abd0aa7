"""The table of instructions: what the machine knows of PTX."""
