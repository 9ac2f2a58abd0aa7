"""`porter convert PATH...`: write a CUDA module for each file, verified before it is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jinja2 import TemplateError

from porter.bounded import end_all
from porter.codegen.module.header import parse
from porter.commands.ahead import in_order
from porter.commands.writing import Output, choose_output, is_stale, print_diff, write_module
from porter.config import Config, load_config
from porter.convert.files import FunctionOutcome, ModuleOutcome, convert_file, emit_stage
from porter.diagnostics import UsageError
from porter.options import ConvertOptions
from porter.output.color import paint, wants_color
from porter.output.frames import concise_line, frame
from porter.output.records import diagnostic_record, to_json
from porter.output.wrapping import wrapped
from porter.source.files import SourceFile, load
from porter.support.nearest import suggestion
from porter.support.progress import Progress, wipe
from porter.target.registry import target_named
from porter.verify import report
from porter.verify.compile import compilers
from porter.verify.evidence import FunctionEvidence
from porter.verify.fork import servers

FINE, REFUSED, FAILED = 0, 1, 2


@compilers.kept()
@servers.kept()
def run(options: ConvertOptions) -> int:
    """Convert every path; returns the exit code.

    Raises `UsageError` for arguments that cannot be served, among them a module that
    porter did not write, or that was edited since, without `--force`.
    """
    config = load_config(options.paths[0])
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError("--timeout must be more than 0 seconds")
    options = replace(options, timeout=options.timeout or config.timeout)
    sources = load(options.paths, options.stdin_filename, config.exclude)
    files = [f for f in sources.files if not _is_generated(f)]
    _check(options, files)
    outcomes: list[ModuleOutcome] = []
    problems = list(sources.problems)

    def convert(file: SourceFile) -> tuple[ModuleOutcome, Output]:
        return _converted(file, options, config, len(files) > 1)

    for file, made in zip(files, in_order(convert, files), strict=True):
        try:
            outcomes.append(_finished(file, *made.result(), options))
        except (KeyboardInterrupt, SystemExit):
            # threads that wait for children would keep the command from ending
            end_all()
            raise
        except UsageError as error:
            problems.append(str(error))
        except TemplateError as error:
            problems.append(f"--templates {options.templates}: {_place(error)}: {error}")
    _check_names(options, outcomes, problems)
    if options.output_format == "json":
        print(to_json({"modules": [_record(o) for o in outcomes]}), end="")
    for path in sources.skipped:
        print(f"skipped: {path}", file=sys.stderr)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        return FAILED
    return REFUSED if any(o.bad or o.stale for o in outcomes) else FINE


def _place(error: TemplateError) -> str:
    where = getattr(error, "filename", None) or getattr(error, "name", None) or "a template"
    line = getattr(error, "lineno", None)
    return f"{where}:{line}" if line else str(where)


def _is_generated(file: SourceFile) -> bool:
    return parse(file.text) is not None


def _check(options: ConvertOptions, files: Sequence[SourceFile]) -> None:
    target = target_named(options.target, options.kind)
    if not target.elements and options.ufunc_target != "cuda":
        raise UsageError(f"--ufunc-target {options.ufunc_target} is for ufuncs, "
                         f"not for {options.target}")  # fmt: skip
    if not target.chunked and options.dask_blocks != "cpu":
        raise UsageError(f"--dask-blocks {options.dask_blocks} is for Dask, "
                         f"not for {options.target}")  # fmt: skip
    if not target.device or target.elements:
        for option, value in (("--library", options.library), ("--backend", options.backend)):
            if value not in ("", "numba"):
                raise UsageError(f"{option} {value} is for kernels, not for {options.target}")
    extras = options.extras
    for option, asked in (
        ("--timing", extras.timing), ("--launch forall", extras.forall),
        ("--on-device", extras.on_device), (f"--pipeline {extras.pipeline}", extras.pipeline),
    ):  # fmt: skip
        if asked and options.target != "cuda":
            raise UsageError(f"{option} is for kernels, not for {options.target}")
    if options.templates is not None and not Path(options.templates).is_dir():
        raise UsageError(f"--templates {options.templates}: no such directory")
    is_file = options.output is not None and options.output.endswith(".py")
    if is_file and len(files) > 1:
        raise UsageError(f"-o {options.output} names one file for {len(files)} sources: "
                         "give a directory")  # fmt: skip
    if options.output is not None and options.output != "-":
        folder = Path(options.output).parent if is_file else Path(options.output)
        if not folder.exists() and not folder.parent.exists():
            raise UsageError(f"-o {options.output}: no such directory: {folder.parent}")


def _check_names(
    options: ConvertOptions, outcomes: Sequence[ModuleOutcome], problems: Sequence[str]
) -> None:
    known = {n for o in outcomes for n in o.known}
    broken = any(o.unparsed for o in outcomes)
    for name in options.functions:
        if name not in known and not problems and not broken:
            hint = suggestion(name, sorted(known))
            raise UsageError(f"no function `{name}` in {', '.join(options.paths)}{hint}")


def _converted(
    file: SourceFile, options: ConvertOptions, config: Config, several: bool
) -> tuple[ModuleOutcome, Output]:
    """What becomes of a file, and where its module goes; nothing is written or printed yet."""
    from_stdin = options.paths == ("-",) and options.output is None
    output = choose_output(file.path, "-" if from_stdin else options.output, several,
                           options.target)  # fmt: skip
    if output.path is not None and output.path.resolve() == Path(file.path).resolve():
        raise UsageError(f"-o {output.path} is the source itself: give another file")
    if options.emit is not None:
        text, outcome = emit_stage(file, options, config)
        return replace(outcome, text=text), output
    with Progress(f"converting {file.path}") as progress:
        outcome = convert_file(file, options, config, output.path, progress.step)
    return outcome, output


def _finished(
    file: SourceFile, outcome: ModuleOutcome, output: Output, options: ConvertOptions
) -> ModuleOutcome:
    """Print an inner stage, or write the module; then say what became of the file."""
    if options.emit is not None:
        sys.stdout.write(outcome.text or "")
        outcome = replace(outcome, text=None)
    elif outcome.text is not None:
        outcome = _deliver(outcome, output, options)
    _report(outcome, file, options)
    return outcome


def _deliver(outcome: ModuleOutcome, output: Output, options: ConvertOptions) -> ModuleOutcome:
    """Print, compare or write the module."""
    assert outcome.text is not None
    if options.diff:
        print_diff(output, outcome.text)
        return outcome.delivered("", stale=False)
    if options.check:
        return outcome.delivered(str(output.path), stale=is_stale(output, outcome.text))
    if output.path is None:
        sys.stdout.write(outcome.text)
        return outcome.delivered("-", stale=False)
    write_module(output.path, outcome.text, options.force)
    return outcome.delivered(str(output.path), stale=False)


# -- what is printed ---------------------------------------------------------------------


def _report(outcome: ModuleOutcome, file: SourceFile, options: ConvertOptions) -> None:
    if options.output_format == "json":
        for d in outcome.diagnostics:
            if not d.function:
                print(concise_line(d, file), file=sys.stderr)
        return
    # the module itself goes to stdout: then everything else is on stderr
    to_stdout = outcome.output != "-" and not options.diff and options.emit is None
    stream = sys.stdout if to_stdout else sys.stderr
    color = wants_color(stream)
    wipe()  # another file may be under way
    for d in outcome.diagnostics:
        text = (
            concise_line(d, file) if options.output_format == "concise" else frame(d, file, color)
        )
        print(text, file=stream)
    # --check compares, and says what it compared only if something is wrong with it
    for f in (f for f in outcome.functions if not options.check or f.status != "converted"):
        for line in _lines(f, color, options.verbose):
            print(line, file=stream)
    for note in outcome.notes:
        print(f"note: {note}", file=stream)
    if outcome.stale:
        print(f"{outcome.output}: {'missing' if not Path(outcome.output).exists() else 'stale'}, "
              f"run `porter convert {file.path}`", file=stream)  # fmt: skip
    elif outcome.output and outcome.output != "-" and outcome.text is not None:
        verb = "is current" if options.check else "written"
        print(paint(f"{outcome.output} {verb}", "good", color), file=stream)


def _lines(f: FunctionOutcome, color: bool, verbose: bool) -> list[str]:
    mark = {"converted": "good", "refused": "error", "failed": "error"}[f.status]
    types = f"({f.signature})" if f.status != "refused" else ""
    text = f"{paint(f.status, mark, color)} {f.name}{types}"
    if f.status == "converted":
        text += f": {_made(f)}"
        text += ", partly on the host" if any(d.code != "PRT904" for d in f.diagnostics) else ""
    lines = [text]
    said = [*_others(f), *(f"assumed: {a}" for a in f.assumed)]
    said += _verdict(f, verbose)
    said += [*(f"note: {note}" for note in f.notes), *f.problems]
    lines += [f"  {part}" for line in said for part in wrapped(line)]
    return lines


def _made(f: FunctionOutcome) -> str:
    """What a converted function consists of."""
    kernels = f"{len(f.kernels)} kernel{'s' if len(f.kernels) != 1 else ''}"
    if not f.rewritten:
        return kernels
    return f"CuPy, and {kernels} for loops" if f.kernels else "CuPy"


def _verdict(f: FunctionOutcome, verbose: bool) -> list[str]:
    """How a converted function was verified."""
    if f.status != "converted":
        return []
    if not f.evidence:
        return ["not verified: --no-verify was given"]
    return list(report.lines(FunctionEvidence(f.name, list(f.evidence)), verbose))


def _others(f: FunctionOutcome) -> list[str]:
    """The types of the function's other forms."""
    return [f"also for: ({types})" for types in f.forms]


def _record(outcome: ModuleOutcome) -> dict[str, object]:
    return {
        "source": outcome.source,
        "output": outcome.output or None,
        "functions": [
            {
                "name": f.name,
                "status": f.status,
                "signature": f.signature,
                "assumed": [*_others(f), *f.assumed],
                "kernels": list(f.kernels),
                "diagnostics": [diagnostic_record(d) for d in f.diagnostics],
                "evidence": [e.to_json() for e in f.evidence],
            }
            for f in outcome.functions
        ],
    }
