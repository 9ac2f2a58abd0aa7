"""Times of a module of compiled loops on this CPU: nothing is counted, all is measured."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from porter.bench.records import FunctionCounts
from porter.bench.request import CountRequest
from porter.verify.compile.compilers import read_lines
from porter.verify.process import Child

#: seconds without an answer before the child is stopped
_PATIENCE = 300.0


def measured(request: CountRequest, folder: Path) -> tuple[list[FunctionCounts], frozenset[str]]:
    """The functions with their times, and the names that sizes can have."""
    reply, file = Path(request.reply), folder / "request.json"
    reply.touch()
    file.write_text(json.dumps(vars(request)), "utf-8")
    threads = str(os.cpu_count() or 1)
    extra = {
        "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_CACHE_DIR": str(folder / "cache"),
        # NumPy's products have the threads that the loops have
        "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads,
    }  # fmt: skip
    child = Child("porter.bench.child.cpu_child", [str(file)], extra, folder / "log")
    try:
        child.wait(_PATIENCE, lambda: reply.stat().st_size)
    finally:
        child.stop()
    lines = {line["measured"]: line for line in read_lines(reply)}
    lost = {"failed": child.said() or "the process ended without a message"}
    found = [_counts(name, lines.get(name, lost)) for name in request.functions]
    return found, frozenset(n for line in lines.values() for n in line.get("names", ()))


def _counts(name: str, line: dict[str, Any]) -> FunctionCounts:
    return FunctionCounts(
        name, line.get("types", ""), line.get("size", {}), reason=line.get("failed", ""),
        notes=tuple(line.get("notes", ())), measured=line.get("times"),
    )  # fmt: skip
