"""What a child process is asked that verifies functions; the fields are the keys of its JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """`module` is the file of the text, which is to stand in `place`, where it need not be yet.

    `seconds` are those of a function before it starts no new case, `limit` those of the child;
    with `case` that case is all; `inputs` is a file of strategies and `trace` a trace.  `joined`
    runs beside the simulator only what that has no time for: no table, no wrong inputs, but the
    cases beyond the table, for `budget` seconds of each function.
    The PTX machine runs the kernels in the folder `texts` that were compiled for `arch`, whose
    parameters are laid out as `layout` says; a function has `most` instructions for all its cases.
    It is `alone` if no other engine runs the function: then it takes what costs time, too.
    A child that `stays` waits afterwards for lines on its standard input, each the file of a
    further request for the same module.
    """

    module: str
    place: str
    functions: Sequence[str]
    cases: int
    seed: int
    seconds: float
    on: str = "simulator"
    reply: str = ""
    limit: float = 0.0
    observe: bool = False
    case: int | None = None
    values: bool = False
    joined: bool = False
    budget: float | None = None
    run_module: bool = False
    inputs: str | None = None
    trace: str | None = None
    texts: str = ""
    arch: str = ""
    layout: str = ""
    most: int | None = None
    alone: bool = False
    stays: bool = False
