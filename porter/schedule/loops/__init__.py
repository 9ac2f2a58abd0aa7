"""Schedules of threads that never work together: loops of a CPU, the outermost in parallel."""
