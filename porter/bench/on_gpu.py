"""Times on a GPU of what was counted: a child process of its own, where `numba.cuda` is real."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.bench.records import FunctionCounts
from porter.bench.request import CountRequest
from porter.verify.compile.compilers import read_lines
from porter.verify.process import Child

#: what is timed on a GPU only
LIBRARIES = ("cupy", "jax", "torch")
#: seconds without an answer before the child is stopped
_PATIENCE = 120.0
#: where Linux's driver is, and that of Windows under WSL
_DRIVERS = (Path("/proc/driver/nvidia/version"), Path("/dev/dxg"))


def has_driver() -> bool:
    """Whether there may be a GPU; a child that looks closely takes seconds."""
    return any(path.exists() for path in _DRIVERS)


def timed(
    request: CountRequest, counts: Sequence[FunctionCounts], against: Sequence[str]
) -> list[FunctionCounts]:
    """The same functions with the times of a GPU, for the sizes that were counted."""
    sizes = {c.name: dict(c.size) for c in counts if not c.reason}
    if not sizes:
        return list(counts)
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        reply = Path(folder) / "reply.jsonl"
        reply.touch()
        module = Path(folder) / "module" / Path(request.place).name
        module.parent.mkdir()
        module.write_text(Path(request.place).read_text("utf-8"), "utf-8")
        asked = replace(
            request, module=str(module), reply=str(reply), sizes=sizes, functions=[*sizes],
            against=tuple(n for n in against if n in LIBRARIES),
        )  # fmt: skip
        file = Path(folder) / "request.json"
        file.write_text(json.dumps(vars(asked)), "utf-8")
        extra = {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        child = Child("porter.bench.child.gpu_child", [str(file)], extra, Path(folder) / "log")
        try:
            child.wait(_PATIENCE, lambda: reply.stat().st_size)
        finally:
            child.stop()
        lines = read_lines(reply)
    measured = {line["measured"]: line["times"] for line in lines}
    lost = {"gpu": {"error": child.said() or "the process ended without a message"}}
    return [_with(c, measured.get(c.name, lost)) for c in counts]


def _with(counts: FunctionCounts, times: Mapping[str, Any]) -> FunctionCounts:
    return (
        counts if counts.reason else replace(counts, measured={**(counts.measured or {}), **times})
    )
