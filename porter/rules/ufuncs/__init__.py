"""PRT8xx: ufuncs and gufuncs."""
