"""From loops to launches: which kernels a plan has, and how their threads share the work."""
