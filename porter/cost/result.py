"""What is known of a function's cost; light, since every analysis may carry it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: a smaller gain is no reason to port anything: the model is not more exact than that
WORTH = 1.5

#: what is advised, by `Run.advice`
WORTH_IT, RESIDENT, TOO_LIGHT, EVEN = "worth porting", "keep data there", "too light", "even"


@dataclass(frozen=True)
class Run:
    """The calls of a recorded run in numbers, summed up; `seconds` were measured on the host.

    `gpu_seconds` are the model's, `transfer_seconds` of them for copies; `host_seconds` is
    what compiled code on one core would take at least.
    """

    calls: int
    seconds: float
    gpu_seconds: float
    transfer_seconds: float
    host_seconds: float
    transferred: float
    device_bytes: float
    operations: float
    launches: float
    sizes: str

    @property
    def gain(self) -> float:
        """How many times faster the GPU is, transfers counted."""
        return self.seconds / self.gpu_seconds if self.gpu_seconds else 0.0

    @property
    def kernel_gain(self) -> float:
        """The same if the data were on the device already."""
        kernels = self.gpu_seconds - self.transfer_seconds
        return self.seconds / kernels if kernels else 0.0

    @property
    def advice(self) -> str:
        """Whether it pays."""
        if self.gain >= WORTH:
            return WORTH_IT
        if self.kernel_gain >= WORTH:
            return RESIDENT
        return TOO_LIGHT if self.kernel_gain < 1 else EVEN


@dataclass(frozen=True)
class Timed:
    """A function's calls in a recorded run: `seconds` with what it calls, own ones without."""

    calls: int
    seconds: float
    own_seconds: float


@dataclass(frozen=True)
class Cost:
    """Formulas over the sizes of the arguments, by what they count; `run` if there is one.

    `small` says which calls are too small for a GPU; `counted` for which architecture and sizes
    compiled kernels were counted, and how many times as much of `bytes` and `instructions` they do
    as the plan has.
    """

    formulas: Mapping[str, str] = field(default_factory=dict)
    brief: str = ""
    run: Run | None = None
    small: str = ""
    counted: str = ""
    bytes: float = 1.0
    instructions: float = 1.0


def shown_seconds(seconds: float) -> str:
    """`1.25 s`, `3.1 ms`, `12 us`."""
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"
