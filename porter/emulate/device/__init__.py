"""What kernels do on the device, in compiled code: accesses, atomics, warps."""
