"""A block of rules outside of the package."""
