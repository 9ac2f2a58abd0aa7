"""Schedules of running folds, whose elements continue from the ones before them."""
