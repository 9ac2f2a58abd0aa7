"""What the kernels of a module execute, counted; what that takes on a GPU, modelled."""
