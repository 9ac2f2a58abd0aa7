"""Questions over the IR: accesses, aliasing, dependence, legality."""
