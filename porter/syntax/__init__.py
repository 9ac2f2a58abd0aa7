"""Questions about libcst nodes that need no knowledge of what a name means."""
