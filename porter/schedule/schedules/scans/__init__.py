"""Schedules of lines whose elements follow from the ones before them."""
