"""Many files at once: what is known of them from earlier runs, and processes for the rest."""
