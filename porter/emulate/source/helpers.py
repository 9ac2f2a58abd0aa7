"""The names that transformed kernels find among their globals."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.emulate.device import accesses, arrays, atomics, bits, places
from porter.emulate.source import threads
from porter.emulate.source.expressions import PREFIX


def names_with(note: Any) -> dict[str, Any]:
    """The names, with a note of every access compiled in (see `races`) or with none."""
    names = {
        "load": accesses.make_load(note), "store": accesses.make_store(note),
        "atomic_cas": atomics.make_cas(note), "shared": arrays.shared, "local": arrays.local,
        "pause": threads.pause, "post": threads.post, "collect": threads.collect,
        "bits": threads.bits, "pair": bits.pair, "fma": bits.fma, "fmod": bits.fmod,
        "popc": bits.popc, "brev": bits.brev, "clz": bits.clz, "ffs": bits.ffs, "cbrt": bits.cbrt,
        "selp": bits.selp, "floor": bits.floor, "ceil": bits.ceil, "trunc": bits.trunc,
        "int32": np.int32, "int64": np.int64,
    }  # fmt: skip
    names |= places.NAMES
    names |= {f"atomic_{op}": atomics.make_atomic(op, note) for op in atomics.UPDATES}
    return {f"{PREFIX}_{name}": value for name, value in names.items()}


#: the names of kernels that only run
PLAIN = names_with(None)
