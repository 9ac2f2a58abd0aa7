"""The original function, and what makes two results equal."""
