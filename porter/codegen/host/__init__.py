"""From the host part of a plan to the text of host functions."""
