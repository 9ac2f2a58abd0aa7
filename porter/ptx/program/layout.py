"""Where the variables of a kernel lie: offsets in shared and local memory, and of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.ptx.text.records import Variable

#: generic addresses of shared and local memory; those of arrays are the host's
SHARED, LOCAL = 1 << 60, 2 << 60


@dataclass(frozen=True)
class Layout:
    """Offsets by names; `dynamic` is where shared memory of the launch's size begins."""

    shared: dict[str, int]
    local: dict[str, int]
    parameters: dict[str, int]
    shared_size: int
    local_size: int
    parameter_size: int


def layout(variables: Iterable[Variable], parameters: Iterable[Variable]) -> Layout:
    """The places of all variables; what the launch gives the size of lies after the others."""
    known = list(variables)
    fixed = [v for v in known if v.space == "shared" and v.size]
    shared, size = _places(fixed)
    size = -(-size // 16) * 16
    shared |= {v.name: size for v in known if v.space == "shared" and not v.size}
    local, local_size = _places(v for v in known if v.space == "local")
    places, parameter_size = _places(parameters)
    return Layout(shared, local, places, size, -(-local_size // 16) * 16, parameter_size)


def _places(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    places: dict[str, int] = {}
    at = 0
    for variable in variables:
        at = -(-at // variable.align) * variable.align
        places[variable.name] = at
        at += variable.size
    return places, at
