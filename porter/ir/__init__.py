"""The scalar IR and the array program: nodes, printer, checker, reference interpreter."""
