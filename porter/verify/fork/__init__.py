"""Children that begin where one process has done the imports of all."""
