"""What `cuda.reduce` makes of a function of two, without a GPU: the fold from left to right.

Numba's simulator has another one: it knows no `size` and no `stream`, and of no elements it gives
Python's number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import cuda


class Fold:
    """Called as the objects of `numba.cuda.reduce` are."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """The fold of an array of one dimension, which starts from `init`."""
        del stream
        values = np.asarray(getattr(arr, "_ary", arr))
        if values.ndim != 1:
            raise TypeError("only support 1D array")
        total = values.dtype.type(init)
        for value in values[:size]:
            # the elements of an array have its dtype
            total = np.asarray(self.function(total, value)).astype(values.dtype)[()]
        if res is None:
            return total
        res[0] = total
        return None

    def alone(self, arr: Any, init: Any = 0) -> Any:
        """As the host function is called."""
        return self(arr, init=init)


@contextmanager
def in_place() -> Iterator[None]:
    """Files that are loaded meanwhile find it in Numba's place."""
    known = {name: getattr(cuda, name) for name in ("reduce", "Reduce")}
    for name in known:
        setattr(cuda, name, Fold)
    try:
        yield
    finally:
        for name, own in known.items():
            setattr(cuda, name, own)
