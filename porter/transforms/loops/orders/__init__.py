"""Other orders of the points of a nest, in which many of them are independent."""
