"""The types of the parameters of a function: given, hinted, or inferred from use."""
