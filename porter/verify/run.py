"""Proving a generated module: the simulator in one child process, the compiler in another."""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from porter.codegen.module.header import FunctionRecord, Header, is_edited, parse, text_hash
from porter.diagnostics import UsageError
from porter.source import newer
from porter.source.files import read
from porter.source.regular import MOST_DATA, read_regular_text
from porter.support.nearest import suggestion
from porter.trace.record import read_trace
from porter.verify.beside import Beside
from porter.verify.compile.backends import chosen
from porter.verify.compile.compilers import Compiler, compiler, read_lines
from porter.verify.compile.occupancy import ARCHITECTURES, USUAL
from porter.verify.engines.sanitize import MOST_CASES, TOOLS, command, first_error
from porter.verify.evidence import (
    FAILED,
    PASSED,
    SKIPPED,
    Evidence,
    FunctionEvidence,
    Mismatch,
    in_words,
)
from porter.verify.inputs.cases import FIRST
from porter.verify.inputs.domains import read_domains
from porter.verify.kernels import kernels_of
from porter.verify.limits import memory
from porter.verify.probe import require_gpu
from porter.verify.process import Child
from porter.verify.watching import Step, Watch

KINDS = ("simulator", "emulator", "ptx", "gpu")
#: what is proved when nothing is asked for; the emulator joins with larger cases of its own
DEFAULT = ("simulator", "ptx")
#: the processor's seconds for the cases beyond the table of a function, and of a module: of text
#: as it was converted
FRESH, FRESH_MODULE = 1.5, 6.0
#: the same for text that was edited by hand
EDITED, EDITED_MODULE = 20.0, 120.0
_NARROW = re.compile(r"\bu?int(8|16|32)\[")
#: the share of the time limit after which a child starts no new case
_SOFT = 0.7


def verify_module(
    path_of_generated: Path,
    *,
    on: tuple[str, ...] = DEFAULT,
    cases: int = 24,
    seed: int = 0,
    functions: tuple[str, ...] = (),
    timeout: float = 300,
    text: str | None = None,
    case: int | None = None,
    inputs: Path | None = None,
    trace: Path | None = None,
    archs: tuple[str, ...] = (),
    backends: tuple[str, ...] = (),
    values: bool = False,
    sanitize: bool = False,
    run_module: bool = False,
    seconds: float | None = None,
    joined: bool = False,
    step: Step | None = None,
) -> list[FunctionEvidence]:
    """Verify the functions of a generated module against its source file.

    `on` holds some of `KINDS` (by default the simulator and ptx; the emulator joins for `seconds`
    of each function with cases of its own, and with all cases for functions of narrow integers,
    and for those edited by hand whose kernels want their own block sizes);
    `gpu` raises `UsageError` where there is none, and is repeated under compute-sanitizer with
    `sanitize`; `functions` restricts to names of the header; `timeout` is in seconds, for each
    function and kind of evidence.
    Nothing of the module or its source is imported into this process.  Raises `UsageError` when
    the module or its source cannot be read, or has no header.

    `case` runs only the case of that number.  `inputs` (hypothesis strategies, run in the child)
    and `trace` (a file of `porter trace`) give further cases.  `archs` are the architectures of
    ptx, such as sm_120; none for the usual ones.  `backends` are names of `backends.BACKENDS`, or
    `all`; none for the one that the module gets when it is imported.  With `values`, a mismatch
    tells the first source line whose value differs; with `run_module`, the whole top level of the
    source runs.  `text` is verified as if it stood in the file, which need not exist.  With
    `joined`, the emulator runs the cases that join by default.  `step` is told what is being done.
    """
    if "gpu" in on:
        require_gpu()
    path = Path(path_of_generated).resolve()
    text = _read(path) if text is None else text
    header = _header(path, text)
    names = _names(path, header, functions)
    if header.run_module and not run_module:
        raise UsageError(f"{path} was converted with --run-module: verify it with --run-module")
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        job = _Job(path, Path(folder), names, cases, seed, timeout)
        job.case, job.inputs, job.trace = case, _inputs(inputs), _trace(trace)
        job.archs, job.values, job.run_module = _archs(archs), values, run_module
        job.budget, job.joined = budget(text, len(names), seconds), joined
        job.watch = Watch(step)
        job.module.write_text(text, "utf-8")
        ran, compiled = _run(job, header, text, on, chosen(backends, text) if "ptx" in on else ())
        ran |= {tool: job.sanitized(tool) for tool in TOOLS if sanitize and "gpu" in on}
    stale = text_hash(_source_text(path, header)) != header.source_hash
    return [_function(job, name, ran, compiled, stale) for name in names]


Ran = dict[str, dict[str, dict[str, Any]]]


def _run(
    job: _Job, header: Header, text: str, on: tuple[str, ...], backends: tuple[str, ...]
) -> tuple[Ran, dict[str, list[Evidence]]]:
    """What the engines and the compilers found of each function."""
    compilers = [compiler(name) for name in backends]
    beside = Beside(lambda: job.beside(header, text) if on == DEFAULT else {})
    try:
        # the compiler's child warms up while the simulator works
        ran = {kind: job.simulate(kind) for kind in on if kind != "ptx"}
        if on == DEFAULT:
            job.watch.says("more cases on the emulator")
            ran |= job.emulated(ran, header, beside.result())
        # ptx needs the argument types of real launches: a few cases tell them
        observed = next(iter(ran.values()), None) or job.simulate("simulator", observe=True)
        if compilers:
            job.watch.says("compiling to PTX")
        found = [job.compile(each, observed) for each in compilers]
    finally:
        for each in compilers:
            each.release(again=not is_edited(text))
    return ran, _compiled(job.names, found, {} if ran else observed)


def _compiled(
    names: list[str], found: list[dict[str, list[Evidence]]], observed: dict[str, dict[str, Any]]
) -> dict[str, list[Evidence]]:
    """What the compilers say of each function; `observed` are runs that only told them types."""
    compiled = {name: [e for each in found for e in each[name]] for name in names}
    return compiled | {n: _observed(proof, compiled[n]) for n, proof in observed.items()}


def needs_emulator(record: FunctionRecord, status: str, detail: dict[str, Any]) -> bool:
    """Whether what the simulator found right takes the emulator to be believed.

    Kernels that are right with their own block sizes alone need grids of many such blocks, too much
    for a simulator.  And with integers of less than 64 bits it computes with NumPy's numbers,
    which wrap around where the compiler's do not.
    """
    return status == PASSED and (_is_narrow(record) or bool(detail.get("own_blocks")))


def _is_narrow(record: FunctionRecord) -> bool:
    return any(_NARROW.search(types) for types in (record.signature, *record.also))


def budget(text: str, functions: int, seconds: float | None) -> float:
    """Seconds of each function for the cases beyond the table: more for text edited by hand."""
    if seconds is not None:
        return seconds
    each, all_ = (EDITED, EDITED_MODULE) if is_edited(text) else (FRESH, FRESH_MODULE)
    return max(each / 4, min(each, all_ / max(1, functions)))


def _read(path: Path) -> str:
    try:
        return read_regular_text(path, MOST_DATA)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file") from error


def _header(path: Path, text: str) -> Header:
    header = parse(text)
    if header is None:
        raise UsageError(f"{path}: no header written by `porter convert`, so nothing to compare")
    _check_syntax(path, text)
    return header


def _check_syntax(path: Path, text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, _ = newer.runnable(text, str(path))
            compile(tree, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{path}: not Python: {error}") from error


def _source_text(path: Path, header: Header) -> str:
    return read(os.path.normpath(path.parent / header.source)).text


def _names(path: Path, header: Header, wanted: Iterable[str]) -> list[str]:
    # an unreadable source is a usage error before any child starts
    source = Path(os.path.normpath(path.parent / header.source))
    text = _source_text(path, header)
    _check_syntax(source, text)
    read_domains(text, _shown(source))
    known = [record.name for record in header.functions]
    missing = [name for name in wanted if name not in known]
    if missing:
        have = ", ".join(known) or "none"
        hint = suggestion(missing[0], known) or f" (it has {have})"
        raise UsageError(f"{path}: no function `{missing[0]}` in this module{hint}")
    return [name for name in known if not wanted or name in set(wanted)]


def _inputs(path: Path | None) -> Path | None:
    """The file of strategies, if it can be used here."""
    if path is None:
        return None
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if find_spec("hypothesis") is None:
        raise UsageError(f"{path} needs hypothesis: pip install hypothesis")
    return path.resolve()


def _trace(path: Path | None) -> Path | None:
    if path is not None:
        read_trace(path)
    return path.resolve() if path else None


def _archs(given: tuple[str, ...]) -> tuple[str, ...]:
    """The architectures to compile for, in order; `all` are those that porter knows."""
    for arch in given:
        if arch != "all" and arch not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise UsageError(f"--arch {arch} is unknown (porter knows {known}, all)")
    wanted = ARCHITECTURES if "all" in given else given or USUAL
    return tuple(arch for arch in ARCHITECTURES if arch in wanted)


class _Job:
    """One verification: what is asked, and a folder for requests and replies."""

    def __init__(
        self, path: Path, folder: Path, names: list[str], cases: int, seed: int, timeout: float
    ) -> None:
        self.path, self.folder, self.names = path, folder, names
        self.cases, self.seed, self.timeout = cases, seed, timeout
        self.kind, self.observe = "simulator", False
        self.case: int | None = None
        self.inputs: Path | None = None
        self.trace: Path | None = None
        self.archs: tuple[str, ...] = USUAL
        self.values = self.run_module = self.joined = False
        self.budget: float | None = None
        self.before: list[str] = []
        self.label = ""
        self.watch = Watch(None)
        (folder / "module").mkdir()
        self.module = folder / "module" / path.name

    def simulate(self, kind: str, *, observe: bool = False) -> dict[str, dict[str, Any]]:
        """The `done` line of every function; a child that dies costs only its function."""
        proofs: dict[str, dict[str, Any]] = {}
        self.kind, self.observe = kind, observe
        # among them one with the module's own blocks
        count = min(self.cases, 16) if observe else self.cases
        groups, number = [list(self.names)], 0
        while groups:
            lines, fate, said = self._child(groups[0], count, number)
            number += 1
            proofs |= {line["done"]: line for line in lines if "done" in line}
            pending = [name for name in groups.pop(0) if name not in proofs]
            if not pending:
                continue
            fatal = next((line["fatal"] for line in lines if "fatal" in line), "")
            begun = not fatal and any("start" in line for line in lines)
            if not begun and len(pending) > 1:
                # what one of them needs of its module must not keep the others from being run
                groups = [[name] for name in pending] + groups
                continue
            if begun:
                proofs[pending[0]] = self._lost(pending[0], lines, fate)
            else:
                proofs[pending[0]] = _failed(
                    pending[0], "load", fatal or self._unloaded(fate, said)
                )
            groups = [pending[1:], *groups] if pending[1:] else groups
        return proofs

    def _unloaded(self, fate: tuple[str, str], said: str) -> str:
        """Why no function was begun."""
        if fate[0] == "hang":
            return (
                f"the module or one that it imports does not end: stopped after {self.timeout:g} s"
            )
        return f"the {in_words(self.kind)} cannot be used here: {said or 'no message'}"

    def beside(self, header: Header, text: str) -> dict[str, dict[str, Any]]:
        """The emulator's own cases, run while the simulator and the compiler work."""
        if self.case is not None and self.case < FIRST:
            return {}
        job = copy.copy(self)
        job.joined, job.label = True, "joined-"
        job.watch = Watch(None)  # one line shows one thing
        job.names = [
            name
            for name in self.names
            if not _is_narrow(header.function(name) or FunctionRecord(name, ""))
            and kernels_of(text, name.rsplit(".", 1)[-1])
        ]
        return job.simulate("emulator") if job.names else {}

    def emulated(
        self, ran: dict[str, Any], header: Header, joined: dict[str, dict[str, Any]]
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """The emulator's proofs: all cases of functions whose grids or numbers only it has."""
        names, proofs = self.names, ran["simulator"]
        failed = [name for name, proof in joined.items() if proof["status"] == FAILED]
        self.names = [
            record.name
            for record in header.functions
            if record.name in names
            and record.name not in failed
            and needs_emulator(record, proofs[record.name]["status"], proofs[record.name]["detail"])
        ]
        found = joined | (self.simulate("emulator") if self.names else {})
        self.names = names
        return {"emulator": found} if found else {}

    def sanitized(self, tool: str) -> dict[str, dict[str, Any]]:
        """The `done` line of every function on the GPU under a tool of compute-sanitizer."""
        names, most, self.cases = self.names, self.cases, min(self.cases, MOST_CASES)
        found: dict[str, dict[str, Any]] = {}
        for number, name in enumerate(names):
            log = self.folder / f"{tool}{number}.log"
            self.names, self.before = [name], command(tool, log)
            self.label = f"{tool}{number}-"
            done = self.simulate("gpu")[name]
            said = first_error(log.read_text("utf-8", "replace")) if log.exists() else ""
            if said:
                done |= _failed(name, "sanitizer", f"{tool}: {said}", seed=self.seed)
            found[name] = done | {"detail": done["detail"] | {"sanitizer": tool}}
        self.names, self.before, self.label, self.cases = names, [], "", most
        return found

    def _child(
        self, names: list[str], count: int, number: int
    ) -> tuple[list[dict[str, Any]], tuple[str, str], str]:
        """The reply, what became of the child that did not finish it, and its last words."""
        label = f"{self.label}{self.kind}{number}"
        reply = self.folder / f"{label}.jsonl"
        reply.touch()
        request = {
            "module": str(self.module), "place": str(self.path), "functions": names,
            "cases": count, "seed": self.seed,
            "seconds": self.timeout * _SOFT, "limit": self.timeout * (2 * len(names) + 1),
            "reply": str(reply), "observe": self.observe, "case": self.case, "values": self.values,
            "on": self.kind, "joined": self.joined, "budget": self.budget,
            "run_module": self.run_module,
            "inputs": self.inputs and str(self.inputs), "trace": self.trace and str(self.trace),
        }  # fmt: skip
        extra = {"NUMBA_CACHE_DIR": str(self.folder / "cache")}
        if self.kind != "gpu":
            extra["NUMBA_ENABLE_CUDASIM"] = "1"
        child = Child(
            "porter.verify.sim_child",
            [str(self.write(f"{label}.json", request))],
            extra,
            self.folder / f"{label}.log",
            self.before,
        )
        try:
            # the emulator compiles in many cases: each has its own time
            sign = b'"case"' if self.kind == "emulator" else b'"start"'
            life = self.watch.life(reply, self.kind, names, count, sign)
            ended = child.wait(self.timeout, life)
        finally:
            child.stop()
        return read_lines(reply), self._fate(child, ended), child.said()

    def _fate(self, child: Child, ended: bool) -> tuple[str, str]:
        if ended:
            said = f": {child.said()}" if child.said() else ""
            return "died", f"the {in_words(self.kind)}'s process ended {child.ended()}{said}"
        if child.large:
            most = f"{memory() / (1 << 30):.1f} GiB"
            return "memory", f"over {most} of memory allocated by a kernel or the host function"
        text = f"timed out after {self.timeout:g} s: a kernel or the host function does not end"
        return "hang", text

    def _lost(
        self, name: str, lines: list[dict[str, Any]], fate: tuple[str, str]
    ) -> dict[str, Any]:
        """A failed proof: which case the child was at, and how many it had finished."""
        starts = [k for k, line in enumerate(lines) if "start" in line]
        own = lines[starts[-1] :] if starts else []
        cases = [line for line in own if "case" in line]
        last: dict[str, Any] = cases[-1] if cases else {}
        finished = len({line["case"] for line in cases} - {last.get("case")})
        what, text = fate
        if finished:
            text += f"; {finished} cases passed before"
        found = next((line["found"] for line in own if "found" in line), None)
        failed = _failed(name, what, text, last, self.seed)
        if found is not None:
            failed |= {"mismatch": found, "detail": {"reason": found["message"]}}
        failed["detail"]["finished"] = finished
        return failed

    def compile(
        self, compiler: Compiler, proofs: dict[str, dict[str, Any]]
    ) -> dict[str, list[Evidence]]:
        """The ptx evidence of every function, for the launches that its proof saw."""
        request = {
            "module": str(self.module), "place": str(self.path), "archs": self.archs,
            "blocks": {name: proof.get("blocks", {}) for name, proof in proofs.items()},
        }  # fmt: skip
        launches = {name: proof["launches"] for name, proof in proofs.items()}
        return compiler.evidence(launches, request, self.timeout)

    def write(self, name: str, request: dict[str, Any]) -> Path:
        """Write a request file."""
        path = self.folder / name
        path.write_text(json.dumps(request), "utf-8")
        return path


def _failed(
    name: str, what: str, text: str, last: dict[str, Any] | None = None, seed: int = 0
) -> dict[str, Any]:
    last = last or {}
    inputs = tuple(last.get("inputs", ()))
    signature = last.get("signature", "")
    mismatch = Mismatch(what, text, last.get("case", -1), seed, inputs=inputs, signature=signature)
    return {
        "done": name, "status": FAILED, "cases": 0, "detail": {"reason": text},
        "mismatch": mismatch.to_json(), "launches": [],
    }  # fmt: skip


def _observed(proof: dict[str, Any], compiled: list[Evidence]) -> list[Evidence]:
    """The ptx evidence of a function that was run only to see its launches."""
    if not proof["mismatch"] or proof["launches"]:
        return compiled
    reason = {"reason": f"no launch could be observed: {proof['mismatch']['message']}"}
    return [Evidence("ptx", SKIPPED, 0, reason)]


def _function(
    job: _Job,
    name: str,
    ran: dict[str, dict[str, dict[str, Any]]],
    compiled: dict[str, list[Evidence]],
    stale: bool,
) -> FunctionEvidence:
    found: list[Evidence] = []
    mismatch = None
    for kind, proofs in ran.items():
        if name not in proofs:
            continue
        proof = proofs[name]
        detail = proof["detail"] | ({"source": "changed since the conversion"} if stale else {})
        on = "gpu" if kind in TOOLS else kind
        found.append(Evidence(on, proof["status"], proof["cases"], detail))
        if proof["mismatch"] and mismatch is None:
            mismatch = Mismatch.from_json(proof["mismatch"])
            mismatch = replace(mismatch, command=_command(job, name, mismatch.case, kind))
    return FunctionEvidence(name, found + compiled.get(name, []), mismatch)


def _shown(path: Path) -> str:
    """A path as short as it can be from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _command(job: _Job, name: str, case: int, kind: str) -> str:
    module = shlex.quote(_shown(job.path))
    text = f"porter verify {module} -f {name} --seed {job.seed} --cases {job.cases}"
    for option, file in (("--inputs", job.inputs), ("--trace", job.trace)):
        text += f" {option} {shlex.quote(_shown(file))}" if file else ""
    on = f" --on {'gpu --sanitize' if kind in TOOLS else kind}"
    text += "" if kind == "simulator" else on
    # wrong inputs come after a case of the whole run
    return text + (f" --case {case}" if case >= 0 else "")
