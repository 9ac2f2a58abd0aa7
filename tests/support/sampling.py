"""Tests with many similar cases: some run by default, the others with `-m long`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def one_in(n: int, values: Iterable[object]) -> list[object]:
    """The values as parameters of a test: one in `n` runs by default, the others with `-m long`."""
    return [
        pytest.param(v, marks=[pytest.mark.long] if k % n else []) for k, v in enumerate(values)
    ]
