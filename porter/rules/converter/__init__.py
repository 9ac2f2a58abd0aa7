"""PRT9xx: what the converter and porter itself report."""
