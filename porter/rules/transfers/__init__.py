"""PRT5xx: copies between host and device."""
