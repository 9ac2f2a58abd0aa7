"""How results are written: full, concise, json."""
