"""PRT4xx: threads that get in each other's way."""
