"""The layout of generated statements: documents, their printer, and the Python that fills them."""
