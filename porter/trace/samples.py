"""Values of arguments, kept while the script runs and written beside the trace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from porter.trace.values import NUMBERS

#: bytes that one call's arguments may take, and all together
EACH, ALL = 1 << 20, 64 << 20
_PLAIN = (bool, int, float, complex)
_WHOLE = 1 << 63


class Samples:
    """Copies of arguments: numbers and arrays of numbers, the first calls first.

    A call with any other argument, or with larger ones, is not kept.
    """

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self.bytes = 0

    def keep(self, values: dict[str, Any]) -> str:
        """Copy the arguments of a call; the name of their file, '' if they are not kept."""
        size = 0
        for value in values.values():
            one = _size(value)
            if one is None:
                return ""
            size += one
        if size > EACH or self.bytes + size > ALL:
            return ""
        self.bytes += size
        self.kept.append({n: v.copy() if hasattr(v, "copy") else v for n, v in values.items()})
        return f"{len(self.kept):04}.npz"

    def write(self, folder: Path) -> None:
        """Write one file for each call, in place of those of an earlier run. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("[0-9]*.npz"):
            old.unlink()
        for number, values in enumerate(self.kept, start=1):
            # start-up: a script without arrays is traced without it
            import numpy

            # Python's own numbers have no dtype: the letter tells them apart
            named: dict[str, Any] = {
                f"{'n' if type(v) in _PLAIN else 'a'}:{n}": v
                for n, v in values.items()
                if v is not None
            }
            with (folder / f"{number:04}.npz").open("wb") as file:
                numpy.savez_compressed(file, **named)


def _size(value: Any) -> int | None:
    """Bytes of a value that can be kept, None for all others."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic)):
        plain = value.dtype.kind in NUMBERS and value.dtype.isnative and not value.dtype.fields
        return int(value.nbytes) if plain else None
    if value is None or type(value) in _PLAIN:
        return None if type(value) is int and not -_WHOLE <= value < _WHOLE else 8
    return None
