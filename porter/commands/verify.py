"""`porter verify MODULE...`: verify generated modules again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from porter.codegen.module.header import parse
from porter.config import load_config
from porter.diagnostics import UsageError
from porter.options import VerifyOptions
from porter.output.color import paint, wants_color
from porter.output.records import to_json
from porter.output.wrapping import wrapped
from porter.source.files import find
from porter.source.regular import MOST_DATA, read_regular_text
from porter.support.progress import Progress
from porter.verify import report
from porter.verify.compile import compilers
from porter.verify.engines.sanitize import program
from porter.verify.evidence import FunctionEvidence
from porter.verify.fork import servers
from porter.verify.probe import require_gpu
from porter.verify.run import DEFAULT, KINDS, verify_module

CASES, SEED, TIMEOUT = 24, 0, 300.0


@compilers.kept()
@servers.kept()
def run(options: VerifyOptions) -> int:
    """Verify every module and print what was found.

    Returns 0 when every function was verified and none failed, 1 otherwise, and 2 when a
    module could not be read.  Raises `UsageError` for arguments that cannot be served.
    """
    _check(options)
    results: list[tuple[str, list[FunctionEvidence]]] = []
    unreadable = False
    for path in options.paths:
        try:
            modules = modules_in(path)
        except UsageError as error:
            _complain(error)
            unreadable = True
            continue
        for module in modules:
            try:
                found = _verify(module, options)
            except UsageError as error:
                _complain(error)
                unreadable = True
                continue
            results.append((module, found))
            if options.output_format != "json":
                _print(module, found, options.output_format, options.verbose)
    if options.output_format == "json":
        print(to_json({"modules": [_record(p, found) for p, found in results]}), end="")
    if unreadable:
        return 2
    return 0 if all(f.verified for _, found in results for f in found) else 1


def _check(options: VerifyOptions) -> None:
    for on in options.on:
        if on not in KINDS:
            raise UsageError(
                f"--on {on} is not in this version of porter (it has {', '.join(KINDS)})"
            )
    if options.sanitize and "gpu" not in options.on:
        raise UsageError("--sanitize is for a GPU: add --on gpu")
    if "gpu" in options.on:
        require_gpu()
    if options.sanitize:
        program()
    if options.timeout is not None and options.timeout <= 0:
        raise UsageError("--timeout must be more than 0 seconds")
    if options.seed is not None and options.seed < 0:
        raise UsageError("--seed must not be negative")


def modules_in(path: str) -> list[str]:
    """The module itself or, for a folder, the files in it that porter wrote."""
    if not Path(path).is_dir():
        return [path]
    found = [name for name in find(path) if name.endswith(".py") and _is_generated(name)]
    if not found:
        raise UsageError(f"{path}: no module written by `porter convert` in this directory")
    return found


def _is_generated(path: str) -> bool:
    try:
        return parse(read_regular_text(path, MOST_DATA)) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _verify(path: str, options: VerifyOptions) -> list[FunctionEvidence]:
    config = load_config(path)
    inputs = Path(options.inputs) if options.inputs else None
    if inputs is None and config.inputs:
        inputs = config.folder / config.inputs
    try:
        with Progress(f"verifying {path}") as progress:
            return verify_module(
                Path(path),
                step=progress.told,
                on=options.on or DEFAULT,
                cases=options.cases or CASES,
                seed=SEED if options.seed is None else options.seed,
                functions=options.functions,
                timeout=options.timeout or config.timeout or TIMEOUT,
                case=options.case,
                inputs=inputs,
                trace=Path(options.trace) if options.trace else None,
                archs=options.archs,
                backends=options.backends,
                values=options.trace_values,
                sanitize=options.sanitize,
                seconds=options.seconds,
                run_module=options.run_module,
            )
    except UsageError as error:
        # the path as the user wrote it, not as it was resolved
        shown = str(error).replace(str(Path(path).resolve()), path)
        raise UsageError(shown) from error


def _complain(error: UsageError) -> None:
    print(f"error: {error}", file=sys.stderr)


def _print(path: str, found: Iterable[FunctionEvidence], output_format: str, verbose: bool) -> None:
    color = wants_color(sys.stdout)
    if output_format == "concise":
        for function in found:
            print(f"{path}: {report.brief(function)}")
        return
    print(paint(path, "bold", color))
    for function in found:
        print(f"  {function.name}")
        for line in report.lines(function, verbose):
            print(*(f"    {part}" for part in wrapped(line)), sep="\n")
        if function.mismatch is not None:
            for line in report.mismatch_lines(path, function.name, function.mismatch):
                head, mark, rest = line.partition("]: ")
                print(paint(head + mark, "error", color) + rest if mark else line)


def _record(path: str, found: list[FunctionEvidence]) -> dict[str, Any]:
    return {"path": path, "functions": [f.to_json() for f in found]}
