"""What a launch is where arrays are in chunks: a function of blocks, and how the blocks meet."""
