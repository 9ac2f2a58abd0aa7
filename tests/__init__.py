"""One package, so that no other folder named `tests` on the path is mixed with this one."""
