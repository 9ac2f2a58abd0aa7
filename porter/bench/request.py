"""What the counting child is asked; the fields are the keys of its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CountRequest:
    """`module` is the file of the text, `place` where it stands.

    `sizes` are those given, by function; `traced` has `parameters`, `types` and `sizes` of the
    recorded calls that took most time.  `seconds` are those of a function, `limit` those of the
    child.  Compiled kernels are in the folder `texts`, their parameters laid out as `layout` says.
    With `operations` the original is run on arrays that count; `against` says what it is timed
    with.
    """

    module: str
    place: str
    functions: Sequence[str]
    sizes: Mapping[str, Mapping[str, int]]
    traced: Mapping[str, Mapping[str, Any]]
    arch: str
    texts: str
    layout: str
    reply: str
    seconds: float
    limit: float
    run_module: bool = False
    operations: bool = False
    against: Sequence[str] = ()
