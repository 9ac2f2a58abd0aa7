"""The child process of `porter doctor`: tries one kind of evidence and writes what happened.

`python -m porter.verify.probe_child simulator|emulator|ptx|gpu REPLY`; the reply is a JSON
object with `ok`, `detail` and, for gpu, `gpus` and `cuda` (see `cuda_facts`).
"""

from __future__ import annotations

import faulthandler
import json
import sys
from pathlib import Path
from typing import Any

#: kernels find `cuda` among the globals of their module: only there the simulator swaps it
cuda: Any = None


def _simulator() -> dict[str, Any]:
    # importing the simulator's parts first would hide why it cannot be imported
    import numba.cuda

    from porter.verify.engines.simulator import install

    global cuda
    cuda = numba.cuda
    install()
    counts = cuda.device_array(40, "int64")
    cuda.jit(_kernel)[5, 8](counts)
    right = counts.copy_to_host().tolist() == list(range(40))
    return {"ok": right, "detail": "" if right else "the simulator computes wrong results"}


def _emulator() -> dict[str, Any]:
    # what is probed may not be importable
    import numba.cuda
    import numpy as np

    from porter.emulate.launch import launch

    global cuda
    cuda = numba.cuda
    counts = np.zeros(40, np.int64)
    launch(cuda.jit(_kernel), 5, 8, (counts,))
    right = counts.tolist() == list(range(40))
    return {"ok": right, "detail": "" if right else "the emulator computes wrong results"}


def _kernel(counts: Any) -> None:
    i = cuda.grid(1)
    counts[i] = i


def _ptx() -> dict[str, Any]:
    # what is probed may not be importable
    from porter.verify.compile.occupancy import USUAL
    from porter.verify.compile.ptx_child import prepare

    reason = prepare()
    # the compiler decides which of them is imported
    import numba.cuda as target

    origin = getattr(target, "implementation", "Built-in")
    return {"ok": not reason, "detail": reason or f"{' '.join(USUAL)} by {origin}"}


def _gpu() -> dict[str, Any]:
    # what is probed may not be importable
    import numba.cuda as target

    from porter.verify.compile.cuda_facts import facts

    found = facts(target)
    gpus = [f"{d['name']} (compute capability {d['compute_capability']})" for d in found["devices"]]
    detail = ", ".join(gpus) or found["driver"]["problem"] or "no GPU"
    return {"ok": bool(gpus), "detail": detail, "gpus": gpus, "cuda": found}


PROBES = {"simulator": _simulator, "emulator": _emulator, "ptx": _ptx, "gpu": _gpu}


def main() -> None:
    """Run one probe."""
    faulthandler.dump_traceback_later(120, exit=True)
    try:
        result = PROBES[sys.argv[1]]()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        result = {"ok": False, "detail": reason}
    Path(sys.argv[2]).write_text(json.dumps(result), "utf-8")


if __name__ == "__main__":
    main()
