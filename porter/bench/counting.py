"""What the kernels of a generated module execute in one call of each function, without a GPU.

    counts = count(Path("softmax_cuda.py"), sizes={"n": 4096, "m": 512}, arch="sm_90")
    counts[0].kernels[0].instructions

The module's host functions run in a child process, on arrays that take no memory.  Another one
compiles the kernels that they launch, and the PTX machine executes some blocks of each launch.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from porter.bench.on_cpu import measured
from porter.bench.on_gpu import has_driver, timed
from porter.bench.records import FunctionCounts, function_counts
from porter.bench.request import CountRequest
from porter.bench.sizes import said_sizes
from porter.codegen.module.header import is_edited
from porter.diagnostics import UsageError
from porter.source.files import read
from porter.target.registry import TARGETS, target_named
from porter.trace.lookup import main_signature, traced_in
from porter.verify.compile.backends import chosen
from porter.verify.compile.compilers import Compiler, compiler, read_lines
from porter.verify.process import Child, with_bytecode
from porter.verify.run import checked_module

#: seconds that the counts of a function may take, besides the start of the processes
SECONDS = 4.0
#: seconds of a function before its child is stopped
_PATIENCE = 60.0


@dataclass(frozen=True)
class Counting:
    """What is counted of one module; `names` are the names that sizes can have."""

    functions: list[FunctionCounts]
    names: frozenset[str]


def count(
    path: Path,
    *,
    functions: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    arch: str = "sm_90",
    seconds: float = SECONDS,
) -> list[FunctionCounts]:
    """The counts of a module's functions, those of the header or some of them.

    `sizes` has extents of the header's `shapes` line and integer arguments; what it leaves open is
    taken from the source's `# porter: size` comments, a trace, or `sizes.USUAL`.  A function that
    cannot be counted has a `reason`; one that cannot be counted within `seconds` is counted for
    smaller sizes, and `size` and `notes` say so.  Raises `UsageError` for a file that is no such
    module, and for a size that no function has.
    """
    found = counting(path, functions=functions, sizes=sizes, arch=arch, seconds=seconds)
    for name in sizes or ():
        if found.names and name not in found.names:
            raise UsageError(unknown_size(name, found.names))
    return found.functions


def unknown_size(name: str, names: frozenset[str]) -> str:
    """The message for a size that no function has."""
    have = ", ".join(sorted(names)) or "none"
    return f"no function has a size `{name}` (sizes: {have})"


def counting(
    path: Path,
    *,
    functions: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    arch: str = "sm_90",
    seconds: float = SECONDS,
    run_module: bool = False,
    operations: bool = False,
    against: Sequence[str] = (),
) -> Counting:
    """As `count`, with the names that sizes can have.

    With `operations`, those of the original are counted too, which runs for that; it is timed with
    each of `against`: numpy and numba on this CPU, the libraries on a GPU.  Where there is a GPU's
    driver, the module is timed too.  Of a module of compiled loops nothing is counted: it is timed
    on this CPU, in turn with what it is compared with.
    """
    place, text, header, names, source = checked_module(path, functions)
    if header.run_module and not run_module:
        raise UsageError(f"{place} was converted with --run-module: count it with --run-module")
    if target_named(*header.target.split()).chunked:
        raise UsageError(f"{place} is lazy: its time is that of `compute()`, which Dask measures")
    on_cpu = header.target in TARGETS and not TARGETS[header.target].device
    backend = "" if on_cpu else chosen((), text)[0]
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        module = Path(folder) / "module" / place.name
        module.parent.mkdir()
        module.write_text(text, "utf-8")
        request = CountRequest(
            str(module), str(place), names, _sizes(source, names, sizes or {}),
            _traced(source, names), arch, f"{folder}/texts",
            "mlir" if backend.endswith("mlir") else "numba", f"{folder}/reply.jsonl", seconds,
            (_PATIENCE + seconds) * (1 + len(names)), run_module, operations, tuple(against),
        )  # fmt: skip
        if on_cpu:
            return Counting(*measured(request, Path(folder)))
        begun = compiler(backend)
        try:
            found = _all(request, Path(folder), begun)
        finally:
            begun.release(again=not is_edited(text))
    if operations and has_driver():
        found = replace(found, functions=timed(request, found.functions, against))
    return found


def _sizes(
    source: Path, names: Sequence[str], given: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    said = said_sizes(read(str(source)).text, str(source))
    return {name: {**said.get(name, {}), **given} for name in names}


def _traced(source: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    found = {}
    for name, function in traced_in(str(source)).items():
        signature = main_signature(function) if name in names else None
        if signature is not None and signature.shapes:
            most = max(signature.shapes, key=lambda s: s.seconds)
            found[name] = {
                "parameters": function.parameters, "types": signature.types, "sizes": most.sizes
            }  # fmt: skip
    return found


def _all(request: CountRequest, folder: Path, begun: Compiler) -> Counting:
    """The counts of all functions; one that ends its child costs no other its counts."""
    found: dict[str, FunctionCounts] = {}
    names: frozenset[str] = frozenset()
    pending = list(request.functions)
    while pending:
        reply = folder / f"reply{len(pending)}.jsonl"
        run = _Run(replace(request, functions=pending, reply=str(reply)), folder, begun)
        part = run.finished()
        names |= part.names
        lost = set(run.lost)
        found |= {c.name: c for c in part.functions if c.name not in lost}
        pending = [name for name in pending if name in lost]
    return Counting([found[name] for name in request.functions], names)


class _Run:
    """The child that counts and the one that compiles for it; `lost` are functions that it did not
    come to."""

    def __init__(self, request: CountRequest, folder: Path, begun: Compiler) -> None:
        self.request, self.folder, self.compiler = request, folder, begun
        self.failures: dict[str, str] = {}
        self.lost: list[str] = []
        self.reply = Path(request.reply)
        self.reply.touch()

    def finished(self) -> Counting:
        """Everything that the child counts."""
        file = self.folder / "request.json"
        file.write_text(json.dumps(vars(self.request)), "utf-8")
        extra = {
            "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_CACHE_DIR": str(self.folder / "cache")
        }  # fmt: skip
        log = self.folder / "log"
        child = Child("porter.bench.child.count_child", [str(file)], with_bytecode(extra), log)
        try:
            why = self._watched(child)
        finally:
            child.stop()
        return self._counting(read_lines(self.reply), why or f"{child.ended()} {child.said()}")

    def _watched(self, child: Child) -> str:
        """Compile what the child wants until it ends; why it did not, or ''."""
        answered = 0
        while True:

            def wanted(done: int = answered) -> bool:
                return self.reply.read_bytes().count(b'{"wanted":') > done

            ended = child.wait(_PATIENCE, lambda: self.reply.stat().st_size, wanted)
            if not ended:
                return (
                    "for too much memory"
                    if child.large
                    else f"after {_PATIENCE:g} s without an answer"
                )
            lines = [line["wanted"] for line in read_lines(self.reply) if "wanted" in line]
            if child.process.poll() is not None or len(lines) <= answered:
                return ""
            self._compile(lines[answered])
            answered += 1
            child.send("")

    def _compile(self, launches: dict[str, list[dict[str, Any]]]) -> None:
        request = {
            "module": self.request.module, "place": self.request.place,
            "archs": [self.request.arch], "texts": self.request.texts, "blocks": {},
        }  # fmt: skip
        found = self.compiler.evidence(launches, request, _PATIENCE)
        for name, evidence in found.items():
            for one in evidence:
                said = one.detail.get("error") or one.detail.get("reason")
                if said:
                    self.failures.setdefault(name, str(said))

    def _counting(self, lines: list[dict[str, Any]], why: str) -> Counting:
        done = {line.pop("counted"): line for line in lines if "counted" in line}
        operated = {line.pop("operated"): line for line in lines if "operated" in line}
        times = {line["measured"]: line["times"] for line in lines if "measured" in line}
        fatal = next((line["fatal"] for line in lines if "fatal" in line), "")
        names: set[str] = set()
        found = []
        begun = [line["start"] for line in lines if "start" in line]
        if begun and not fatal:
            self.lost = [n for n in self.request.functions if n not in done and n != begun[-1]]
        for name in self.request.functions:
            line = done.get(name)
            if line is None:
                said = fatal or f"the child process ended {why}".strip()
                found.append(FunctionCounts(name, reason=said))
                continue
            names |= set(line.pop("names", ()))
            failed = line.pop("failed", "")
            if failed:
                plain = {k: line[k] for k in ("types", "size") if k in line}
                said = self.failures.get(name) or failed
                found.append(FunctionCounts(name, reason=said, **plain))
            else:
                counts = function_counts({"name": name, **line})
                if self.request.operations:
                    counts = counts.operated(operated.get(name, {}))
                found.append(replace(counts, measured=times.get(name)))
        return Counting(found, frozenset(names))
