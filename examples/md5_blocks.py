"""A checksum of squared values: the loop can be ported, the checksum cannot."""

import hashlib


def hash_computation(x):
    """Square `x` in place and return the MD5 digest of its bytes."""
    for i in range(len(x)):
        x[i] = x[i] ** 2
    # Numba knows no hashlib
    return hashlib.md5(x).digest()
