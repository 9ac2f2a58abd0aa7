"""What runs kernels: the simulator, the emulator, a GPU."""
