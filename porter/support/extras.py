"""What a module of kernels has beside its functions where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Extras:
    """`timing` is a keyword of the host functions, `forall` says how kernels of one axis are
    launched, `on_device` is a context manager of the module; calls with large arrays of the host
    run in chunks on so many streams as `pipeline` says, 0 for none."""

    timing: bool = False
    forall: bool = False
    on_device: bool = False
    pipeline: int = 0

    @property
    def helpers(self) -> frozenset[str]:
        """The helpers that the module has whether or not a function calls them."""
        return frozenset({"_moved_there"} if self.on_device else ())

    @property
    def sizes(self) -> Mapping[str, tuple[str, str]]:
        """Constants of the module: name -> (value, what it is)."""
        return {
            "STREAMS": (str(self.pipeline), "streams that chunks of large arrays are spread over"),
            "CHUNK_BYTES": ("33554432", "bytes of arguments in a chunk, at most"),
        }
