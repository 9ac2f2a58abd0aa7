"""Values of constants that the top level computes, as text that means the same elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Computed:
    """The value of a constant after its statements ran.

    `text` is an expression of literals and NumPy (`np`), empty where there is none; then `why`
    completes "`K` ...".
    """

    text: str = ""
    why: str = ""


#: gives the value of a constant by the path and the text of its file, and its name
Values = Callable[[str, str, str], Computed]
