"""Which kinds of evidence can be had here: each is tried in a child process."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from porter.diagnostics import UsageError
from porter.verify.process import Child

SECONDS = 60.0


def probe(kind: str) -> dict[str, Any]:
    """What a child found that tried the simulator, the emulator, ptx or a GPU for a minute.

    The keys are `ok`, `detail` and, of a GPU, `gpus`, their names, and `cuda` (see `cuda_facts`).
    """
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        return _asked(kind, Path(folder))


def _asked(kind: str, folder: Path) -> dict[str, Any]:
    reply = folder / "reply.json"
    extra = {"NUMBA_ENABLE_CUDASIM": "1"} if kind in ("simulator", "emulator") else {}
    child = Child("porter.verify.probe_child", [kind, str(reply)], extra, folder / "log")
    try:
        ended = child.wait(SECONDS)
    finally:
        child.stop()
    if not ended:
        return {"ok": False, "detail": f"no answer within {SECONDS:g} s"}
    try:
        found: dict[str, Any] = json.loads(reply.read_text("utf-8"))
    except (OSError, json.JSONDecodeError):
        return {"ok": False, "detail": child.said() or "the probe died without a message"}
    return found


@cache
def require_gpu() -> None:
    """Raise `UsageError` where there is no GPU that `numba.cuda` can use."""
    found = probe("gpu")
    if not found["ok"]:
        raise UsageError(f"--on gpu: no NVIDIA GPU can be used here ({found['detail']}); "
                         "help: `porter doctor` shows what to install")  # fmt: skip
