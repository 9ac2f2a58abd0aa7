"""Verifying a generated module: the simulator in one child process, the compiler in another."""

from __future__ import annotations

import os
import shlex
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from porter.codegen.module.header import Header, is_edited, parse, text_hash
from porter.diagnostics import UsageError
from porter.source import newer
from porter.source.files import read
from porter.source.regular import MOST_DATA, read_regular_text
from porter.support.nearest import suggestion
from porter.target.registry import TARGETS, target_named
from porter.trace.record import read_trace
from porter.verify.beside import Beside
from porter.verify.compile.backends import chosen
from porter.verify.compile.compilers import compiler
from porter.verify.compile.executed import execute
from porter.verify.compile.occupancy import ARCHITECTURES, USUAL
from porter.verify.engines.sanitize import TOOLS
from porter.verify.evidence import (
    FAILED,
    SKIPPED,
    Evidence,
    FunctionEvidence,
    Mismatch,
)
from porter.verify.fork import servers
from porter.verify.inputs.domains import read_domains
from porter.verify.job import SOFT, Done, Job
from porter.verify.kernels import kernels_of
from porter.verify.probe import require_gpu
from porter.verify.request import Request
from porter.verify.watching import Step, Watch

KINDS = ("simulator", "emulator", "ptx", "gpu")
#: what the evidence of compiled functions is called: their own source runs, compiled for the CPU
CALLED = "emulator"
#: what is verified when nothing is asked for; the emulator joins with larger cases of its own
DEFAULT = ("simulator", "ptx")
#: by default compiled kernels run in so many cases of a function, for so many instructions of
#: all threads; text that was edited by hand runs in all cases
EXECUTED, INSTRUCTIONS = 8, 40_000_000
#: the processor's seconds for the cases beyond the table of a function, and of a module: of text
#: as it was converted
FRESH, FRESH_MODULE = 1.5, 6.0
#: the same for text that was edited by hand
EDITED, EDITED_MODULE = 20.0, 120.0
#: so many times as long where the machine of compiled kernels is all that runs them
ALONE = 2


@servers.kept()
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
    function and kind of evidence.  Nothing of the module or its source is imported into this
    process.  Raises `UsageError` when one of them cannot be read, or there is no header.

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
    targets = _archs(archs)
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        request = Request(
            _placed(Path(folder), path.name, text), str(path), names, cases, seed, timeout * SOFT,
            case=case, values=values, joined=joined,
            budget=budget(text, len(names), seconds, alone=on == ("ptx",)), run_module=run_module,
            inputs=_inputs(inputs), trace=_trace(trace),
        )  # fmt: skip
        job = Job(request, Path(folder), timeout, Watch(step))
        ran, compiled, failed = _run(job, header, text, on, backends, targets)
        ran |= {tool: job.sanitized(tool) for tool in TOOLS if sanitize and "gpu" in ran}
    stale = text_hash(_source_text(path, header)) != header.source_hash
    return [_function(request, name, ran, compiled, stale, failed) for name in names]


def checked_module(
    path_of_generated: Path, functions: Sequence[str]
) -> tuple[Path, str, Header, list[str], Path]:
    """A module's path, text and header, the functions that are meant, and its source file.

    Raises `UsageError` as `verify_module` does.
    """
    path = Path(path_of_generated).resolve()
    text = _read(path)
    header = _header(path, text)
    names = _names(path, header, functions)
    return path, text, header, names, Path(os.path.normpath(path.parent / header.source))


def _run(
    job: Job,
    header: Header,
    text: str,
    on: tuple[str, ...],
    backends: tuple[str, ...],
    archs: Sequence[str],
) -> tuple[dict[str, Done], dict[str, list[Evidence]], Done]:
    """What the engines and the compilers found of each function, and compiled kernels that fail."""
    target = target_named(*header.target.split())
    engines = target.engines
    if target.rewrites and not any(kernels_of(text, n) for n in job.request.functions):
        return _without_kernels(job, on)
    if engines == ("cpu",):
        return _on_cpu(job, on)
    if "cpu" in engines:
        return _on_both(job, text, on, backends, archs)
    compilers = [*map(compiler, chosen(backends, text) if "ptx" in on else ())]
    job.keeps = "ptx" in on
    job.alone = on == ("ptx",)
    if on == DEFAULT and not is_edited(text) and job.request.case is None:
        job.executed, job.most = EXECUTED, INSTRUCTIONS
    joined = Beside(lambda: job.beside(header, text) if on == DEFAULT else {})
    try:
        # the compiler's child warms up while the simulator works
        ran = {kind: job.simulate(kind) for kind in on if kind != "ptx"}
        # ptx needs the argument types of real launches: a few cases tell them
        observed = next(iter(ran.values()), None) or job.observed()
        found = Beside(lambda: [job.compile(each, observed, archs) for each in compilers])
        if on == DEFAULT:
            job.watch.says("more cases on the emulator")
            ran |= job.emulated(ran["simulator"], header, joined.result())
        if compilers:
            job.watch.says("compiling to PTX")
        compiled = _compiled(job.request.functions, found.result(), {} if ran else observed)
    except BaseException:
        job.close()
        raise
    finally:
        for each in compilers:
            each.release(again=not is_edited(text))
    if target.rewrites:
        compiled |= {n: [] for n in compiled if not kernels_of(text, n)}
    wrong = {name for done in ran.values() for name in done if done[name]["status"] == FAILED}
    try:
        return ran, *execute(job, [each.backend for each in compilers], compiled, wrong)
    finally:
        job.close()


def _without_kernels(
    job: Job, on: tuple[str, ...]
) -> tuple[dict[str, Done], dict[str, list[Evidence]], Done]:
    """What a module does that leaves all work to a library, as `_run` has it."""
    ran = {kind: job.simulate(kind) for kind in on if kind in ("simulator", "gpu")}
    others = [kind for kind in on if kind not in ran] if on != DEFAULT else []
    reason = {"reason": "it has no kernels of its own"}
    skipped = [Evidence(kind, SKIPPED, 0, reason) for kind in others]
    return ran, {name: skipped for name in job.request.functions}, {}


def _on_cpu(
    job: Job, on: tuple[str, ...]
) -> tuple[dict[str, Done], dict[str, list[Evidence]], Done]:
    """What a module of compiled functions does, as `_run` has it: they are called as they are."""
    ran = {"cpu": job.simulate("cpu")} if on == DEFAULT or CALLED in on else {}
    others = [kind for kind in on if kind != CALLED] if on != DEFAULT else []
    reason = {"reason": "it runs on the CPU, where `--on emulator` verifies it"}
    skipped = [Evidence(kind, SKIPPED, 0, reason) for kind in others]
    return ran, {name: skipped for name in job.request.functions}, {}


def _on_both(
    job: Job, text: str, on: tuple[str, ...], backends: tuple[str, ...], archs: Sequence[str]
) -> tuple[dict[str, Done], dict[str, list[Evidence]], Done]:
    """What ufuncs for CUDA do, as `_run` has it: compiled for the CPU, and as kernels in PTX."""
    compilers = [*map(compiler, chosen(backends, text) if "ptx" in on else ())]
    job.keeps, job.alone = "ptx" in on, on == ("ptx",)
    if on == DEFAULT and not is_edited(text) and job.request.case is None:
        job.executed, job.most = EXECUTED, INSTRUCTIONS
    try:
        ran = {"cpu": job.simulate("cpu")} if on == DEFAULT or CALLED in on else {}
        observed = next(iter(ran.values()), None) or job.simulate("cpu", observe=True)
        if compilers:
            job.watch.says("compiling to PTX")
        found = [job.compile(each, observed, archs) for each in compilers]
    finally:
        for each in compilers:
            each.release(again=not is_edited(text))
    compiled = _compiled(job.request.functions, found, {} if ran else observed)
    reasons = {
        "simulator": "Numba's simulator has no ufuncs, `--on emulator` calls them on the CPU",
        "gpu": "ufuncs are not called on a GPU, `--on ptx` runs their kernels",
    }
    for kind in on if on != DEFAULT else ():
        if kind in reasons:
            for every in compiled.values():
                every.append(Evidence(kind, SKIPPED, 0, {"reason": reasons[kind]}))
    wrong = {name for done in ran.values() for name in done if done[name]["status"] == FAILED}
    return ran, *execute(job, [each.backend for each in compilers], compiled, wrong)


def _placed(folder: Path, name: str, text: str) -> str:
    """A file of the module's name with the text that is verified."""
    file = folder / "module" / name
    file.parent.mkdir()
    file.write_text(text, "utf-8")
    return str(file)


def _compiled(
    names: Sequence[str], found: list[dict[str, list[Evidence]]], observed: Done
) -> dict[str, list[Evidence]]:
    """What the compilers say of each function; `observed` are runs that only told them types."""
    compiled = {name: [e for each in found for e in each[name]] for name in names}
    return compiled | {n: _observed(done, compiled[n]) for n, done in observed.items()}


def budget(text: str, functions: int, seconds: float | None, *, alone: bool = False) -> float:
    """Seconds of each function for the cases beyond the table: more for text edited by hand, and
    for the machine `alone`."""
    if seconds is not None:
        return seconds
    each, all_ = (EDITED, EDITED_MODULE) if is_edited(text) else (FRESH, FRESH_MODULE)
    return max(each / 4, min(each, all_ / max(1, functions))) * (ALONE if alone else 1)


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
    if header.target.split()[0] not in TARGETS:
        raise UsageError(f"{path}: its header tells a target `{header.target}` that porter has not")
    if target_named(*header.target.split()).chunked and find_spec("dask") is None:
        raise UsageError(f"{path} runs with Dask: pip install 'dask[array]'")
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


def _inputs(path: Path | None) -> str | None:
    """The file of strategies, if it can be used here."""
    if path is None:
        return None
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if find_spec("hypothesis") is None:
        raise UsageError(f"{path} needs hypothesis: pip install hypothesis")
    return str(path.resolve())


def _trace(path: Path | None) -> str | None:
    if path is not None:
        read_trace(path)
    return str(path.resolve()) if path else None


def _archs(given: tuple[str, ...]) -> tuple[str, ...]:
    """The architectures to compile for, in order; `all` are those that porter knows."""
    for arch in given:
        if arch != "all" and arch not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise UsageError(f"--arch {arch} is unknown (porter knows {known}, all)")
    wanted = ARCHITECTURES if "all" in given else given or USUAL
    return tuple(arch for arch in ARCHITECTURES if arch in wanted)


def _observed(done: dict[str, Any], compiled: list[Evidence]) -> list[Evidence]:
    """The ptx evidence of a function that was run only to see its launches."""
    if not done["mismatch"] or done["launches"]:
        return compiled
    reason = {"reason": f"no launch could be observed: {done['mismatch']['message']}"}
    # what does not end there does not end anywhere
    status = FAILED if done["mismatch"]["what"] == "hang" else SKIPPED
    return [Evidence("ptx", status, 0, reason)]


def _function(
    request: Request,
    name: str,
    ran: dict[str, Done],
    compiled: dict[str, list[Evidence]],
    stale: bool,
    failed: Done,
) -> FunctionEvidence:
    found: list[Evidence] = []
    mismatch = None
    for kind, done in ran.items():
        if name not in done:
            continue
        one = done[name]
        detail = one["detail"] | ({"source": "changed since the conversion"} if stale else {})
        on = "gpu" if kind in TOOLS else CALLED if kind == "cpu" else kind
        found.append(Evidence(on, one["status"], one["cases"], detail))
        if one["mismatch"] and mismatch is None:
            mismatch = Mismatch.from_json(one["mismatch"])
            mismatch = replace(mismatch, command=_command(request, name, mismatch.case, kind))
    if name in failed and mismatch is None:
        mismatch = Mismatch.from_json(failed[name]["mismatch"])
        mismatch = replace(mismatch, command=_command(request, name, mismatch.case, "ptx"))
    return FunctionEvidence(name, found + compiled.get(name, []), mismatch)


def _shown(path: Path) -> str:
    """A path as short as it can be from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _command(request: Request, name: str, case: int, kind: str) -> str:
    module = shlex.quote(_shown(Path(request.place)))
    text = f"porter verify {module} -f {name} --seed {request.seed} --cases {request.cases}"
    for option, file in (("--inputs", request.inputs), ("--trace", request.trace)):
        text += f" {option} {shlex.quote(_shown(Path(file)))}" if file else ""
    on = f" --on {'gpu --sanitize' if kind in TOOLS else kind}"
    text += "" if kind in ("simulator", "cpu") else on
    # wrong inputs come after a case of the whole run
    return text + (f" --case {case}" if case >= 0 else "")
