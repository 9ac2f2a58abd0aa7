"""The schedules, one in each file; `registry.py` beside this folder has their order."""
