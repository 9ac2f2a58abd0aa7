"""What the one thread of an element does, where a ufunc is called for all elements."""
