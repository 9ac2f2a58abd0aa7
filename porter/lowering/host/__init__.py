"""What the host function runs as the user wrote it."""
