"""Writes the table of NumPy's dtype promotion: `python -m tests.tools.make_promotion`."""

from __future__ import annotations

import sys

import numpy as np

from tests.support.paths import ROOT

TABLE = ROOT / "porter" / "dtypes" / "promotion.py"
NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
HEAD = '''"""np.result_type for every pair of dtypes, by `python -m tests.tools.make_promotion`."""

_ROWS = {
'''
TAIL = """}

#: (dtype name, dtype name) to the name of their common dtype
PROMOTION: dict[tuple[str, str], str] = {
    (a, b): common for a, row in _ROWS.items() for b, common in zip(_ROWS, row.split(), strict=True)
}
"""


def text() -> str:
    """The file, from the installed NumPy."""
    rows = (
        f'    "{a}": "{" ".join(np.result_type(np.dtype(a), np.dtype(b)).name for b in NAMES)}",\n'
        for a in NAMES
    )
    return HEAD + "".join(rows) + TAIL


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{TABLE.name} written from NumPy {np.__version__}\n")
