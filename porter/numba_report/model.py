"""What Numba did with each function, as plain data: the child process sends it, reports read it.

Imports neither Numba nor NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

#: kinds of functions that run on the device
ON_GPU = ("kernel", "device", "vectorize cuda", "guvectorize cuda")


@dataclass(frozen=True)
class Failure:
    """Why Numba gave up: the user's line, a plain sentence without a full stop, the cure.

    `certain` says that it would be so for any types of the arguments.
    """

    line: int
    sentence: str
    help: str = ""
    certain: bool = False


@dataclass(frozen=True)
class LiftedLoop:
    """A loop that Numba took out of an object-mode function.

    `signature` names what goes in, such as `x: float64[::1], n: int64`. `nopython` tells
    whether it became machine code; it is None when the loop was never compiled because the
    function was not called. `reason` says why it fell back to objects.
    """

    line: int
    end_line: int
    signature: str = ""
    nopython: bool | None = None
    reason: str = ""


@dataclass(frozen=True)
class Compiled:
    """A function compiled for one signature.

    `target` is cpu or cuda. `mode` is nopython (machine code without Python), object (Python
    objects), lifted (Python objects around lifted loops), failed (rejected by Numba) or unknown
    (not compiled at all; `error` says why). `signature` holds the arguments' types; `assumed`
    says that porter chose them, `known` where they came from; a function that is not
    `decorated` was compiled as if it had `@njit`. `types` holds for each line readable texts
    such as `total: float64`, `object_lines` the lines that run as Python objects, `raw` Numba's
    own annotation.
    """

    path: str
    name: str
    line: int
    end_line: int
    target: str = "cpu"
    signature: str = ""
    returns: str = ""
    mode: str = "nopython"
    assumed: bool = False
    known: str = ""
    decorated: bool = True
    loops: tuple[LiftedLoop, ...] = ()
    types: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    object_lines: tuple[int, ...] = ()
    error: Failure | None = None
    raw: str = ""


def to_record(compiled: Compiled) -> dict[str, Any]:
    """The same as JSON's types; lines of `types` become strings, as JSON wants keys to be."""
    record = asdict(compiled)
    record["types"] = {str(line): list(texts) for line, texts in compiled.types.items()}
    return record


def from_record(record: Mapping[str, Any]) -> Compiled:
    """What `to_record` made, read back from JSON."""
    types = {int(line): tuple(texts) for line, texts in record["types"].items()}
    error = record["error"]
    return Compiled(
        **{k: v for k, v in record.items() if k not in ("types", "loops", "object_lines", "error")},
        types=types,
        loops=tuple(LiftedLoop(**loop) for loop in record["loops"]),
        object_lines=tuple(record["object_lines"]),
        error=Failure(**error) if error else None,
    )
