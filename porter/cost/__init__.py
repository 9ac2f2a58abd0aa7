"""What a conversion costs: bytes, operations and launches, counted in the plan."""
