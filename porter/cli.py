"""The command line: options in, exit code out.

Each command imports its own machinery, so that `porter --help` stays fast.  Exit codes:
0 nothing to report, 1 findings or refusals, 2 a wrong argument or an unreadable file.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer

from porter import __version__
from porter.commands import parameters as p
from porter.commands.plain import PlainCommand, PlainGroup
from porter.diagnostics import UsageError
from porter.options import (
    AnalyzeOptions,
    BenchOptions,
    ConvertOptions,
    DoctorOptions,
    TraceOptions,
    VerifyOptions,
)
from porter.support.extras import Extras

app = typer.Typer(
    name="porter",
    cls=PlainGroup,
    help="Turn NumPy functions into verified CUDA kernels.",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


#: options, commands and values of the design that this version does not have
LATER = ("--html", "--opt", "--profile")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"porter {__version__}")
        raise typer.Exit(0)


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Turn NumPy functions into verified CUDA kernels."""


def _codes(values: list[str] | None) -> tuple[str, ...]:
    """`--select A,B --select C` as ("A", "B", "C")."""
    return tuple(c.strip() for v in values or () for c in v.split(",") if c.strip())


class _WithScriptArguments(PlainCommand):
    """After `--run`, what follows `--` is for the script."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the script's arguments aside."""
        if "--" in args and "--run" in args[: args.index("--")]:
            at = args.index("--")
            ctx.meta["script"], args = tuple(args[at + 1 :]), args[:at]
        return super().parse_args(ctx, args)


@app.command(cls=_WithScriptArguments)
def analyze(
    context: typer.Context,
    paths: p.Paths,
    functions: p.Functions = None,
    output_format: p.AnalysisOutput = p.AnalysisFormat.full,
    output_file: p.OutputFile = None,
    select: p.Select = None,
    ignore: p.Ignore = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="Include unsafe fixes in --fix and --diff.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the fixes as a diff.")] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print how often each code was found.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit 0 despite findings.")
    ] = False,
    everything: p.All = False,
    strict: p.Strict = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write the cache.")
    ] = False,
    baseline: p.Baseline = None,
    add_ignore: p.AddIgnore = False,
    show_settings: Annotated[
        bool, typer.Option("--show-settings", help="Print the settings in effect and exit.")
    ] = False,
    stdin_filename: p.StdinFilename = None,
    compile_: p.Compile = False,
    run_: p.RunScript = False,
    types: p.Types = False,
    raw: p.Raw = False,
    timeout: p.Timeout = None,
) -> None:
    """Report what stands between your code and a GPU. Only --compile and --run execute it.

    Each function gets a verdict (convertible, partly, refused, kernel, ...) and a stage, which says
    how far it has come: object mode (Python runs it), nopython (Numba compiles it for the CPU),
    CUDA (a kernel), data movement (its launches use device arrays), asynchronous (on streams).
    """
    from porter.commands.analyze import run

    options = AnalyzeOptions(
        paths=tuple(paths),
        functions=tuple(functions or ()),
        output_format=output_format.value,
        output_file=output_file,
        select=_codes(select),
        ignore=_codes(ignore),
        fix=fix,
        unsafe_fixes=unsafe_fixes,
        diff=diff,
        statistics=statistics,
        exit_zero=exit_zero,
        baseline=baseline,
        stdin_filename=stdin_filename,
        no_cache=no_cache,
        add_ignore=add_ignore,
        show_settings=show_settings,
        compile=compile_,
        run=run_,
        script_args=context.meta.get("script", ()),
        types=types,
        raw=raw,
        timeout=timeout,
        everything=everything,
        strict=strict,
    )
    raise typer.Exit(run(options))


@app.command(cls=PlainCommand)
def convert(
    paths: p.Paths,
    functions: p.Functions = None,
    signature: p.Signature = None,
    target: p.Target = "cuda",
    ufunc_target: Annotated[
        p.UfuncTarget, typer.Option("--ufunc-target", help="What Numba compiles ufuncs for.")
    ] = p.UfuncTarget.cuda,
    dask_blocks: Annotated[
        p.DaskBlocks, typer.Option("--dask-blocks", help="What a block of Dask's arrays runs on.")
    ] = p.DaskBlocks.cpu,
    output: p.Output = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print what would change.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 if a module is missing or stale.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a module that was edited by hand.")
    ] = False,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Write the module without verifying it.")
    ] = False,
    emit: Annotated[
        p.Emit | None, typer.Option("--emit", help="Print an intermediate representation and exit.")
    ] = None,
    output_format: p.OutputFormat = p.Format.full,
    templates: p.Templates = None,
    stdin_filename: p.StdinFilename = None,
    backend: Annotated[
        p.Backend, typer.Option("--backend", help="The package that the module imports cuda from.")
    ] = p.Backend.numba,
    library: Annotated[
        p.Library | None,
        typer.Option(
            "--library", help="Library for products, linear algebra, FFTs and sorts on the device."
        ),
    ] = None,
    timing: p.Timing = False,
    launch: p.Launch = p.Launches.grid,
    on_device: p.OnDevice = False,
    pipeline: p.Pipeline = 0,
    timeout: p.ConvertTimeout = None,
    refuse_host: p.RefuseHost = False,
    allow_serial: p.AllowSerial = False,
    run_module: p.RunModule = False,
    seconds: p.Seconds = None,
    verbose: p.Verbose = False,
) -> None:
    """Write a CUDA module for each file and verify it."""
    _check_target(target)
    from porter.commands.convert import run

    options = ConvertOptions(
        paths=tuple(paths),
        functions=tuple(functions or ()),
        signature=tuple(signature) if signature else None,
        target=target,
        ufunc_target=ufunc_target.value,
        dask_blocks=dask_blocks.value,
        output=output,
        diff=diff,
        check=check,
        force=force,
        verify=not no_verify,
        emit=emit.value if emit else None,
        output_format=output_format.value,
        templates=templates,
        stdin_filename=stdin_filename,
        backend=backend.value,
        allow_serial=allow_serial,
        timeout=timeout,
        library=library.value if library else "",
        refuse_host=refuse_host,
        run_module=run_module,
        budget=seconds,
        verbose=verbose,
        extras=Extras(timing, launch.value == "forall", on_device, pipeline),
    )
    raise typer.Exit(run(options))


@app.command(cls=PlainCommand)
def verify(
    paths: Annotated[list[str], typer.Argument(metavar="MODULE", help="Generated modules.")],
    on: Annotated[
        list[p.Evidence] | None,
        typer.Option("--on", help="The engine to verify on (repeatable; default: all but gpu)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the random inputs (0).")
    ] = None,
    cases: Annotated[
        int | None, typer.Option("--cases", min=1, help="Cases for each function (24).")
    ] = None,
    functions: p.Functions = None,
    output_format: p.OutputFormat = p.Format.full,
    timeout: p.VerifyTimeout = None,
    seconds: p.Seconds = None,
    case: Annotated[
        int | None, typer.Option("--case", min=0, help="Run only the case with this number.")
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            metavar="FILE",
            help="Python file with Hypothesis strategies; it is executed.",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="FILE", help="Also try the shapes recorded in this trace."),
    ] = None,
    archs: Annotated[
        list[str] | None,
        typer.Option(
            "--arch", metavar="sm_NN", help="Architecture to compile for, or all (repeatable)."
        ),
    ] = None,
    backends: Annotated[
        list[p.Compiler] | None,
        typer.Option("--backend", help="Compiler to use, or all that are installed (repeatable)."),
    ] = None,
    trace_values: Annotated[
        bool, typer.Option("--trace-values", help="Show the first source line that differs.")
    ] = False,
    sanitize: Annotated[
        bool,
        typer.Option("--sanitize", help="With --on gpu: repeat the run under compute-sanitizer."),
    ] = False,
    run_module: p.RunModule = False,
    verbose: p.Verbose = False,
) -> None:
    """Verify generated modules against the original functions."""
    from porter.commands.verify import run

    options = VerifyOptions(
        paths=tuple(paths),
        on=tuple(e.value for e in on or ()),
        seed=seed,
        cases=cases,
        functions=tuple(functions or ()),
        output_format=output_format.value,
        timeout=timeout,
        seconds=seconds,
        case=case,
        inputs=inputs,
        trace=trace,
        archs=tuple(archs or ()),
        backends=tuple(b.value for b in backends or ()),
        trace_values=trace_values,
        sanitize=sanitize,
        run_module=run_module,
        verbose=verbose,
    )
    raise typer.Exit(run(options))


@app.command(cls=PlainCommand)
def bench(
    paths: Annotated[list[str], typer.Argument(metavar="MODULE", help="Generated modules.")],
    functions: p.Functions = None,
    sizes: Annotated[
        str,
        typer.Option("--size", metavar="SIZES", help='Sizes of the call, as "n=4096,m=512".'),
    ] = "",
    arch: Annotated[
        str | None, typer.Option("--arch", metavar="sm_NN", help="Architecture to compile for.")
    ] = None,
    gpu: Annotated[
        p.Gpu | None, typer.Option("--gpu", help="GPU whose time is modelled (h200).")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="LIST",
            help="Also time numpy, numba here; cupy, jax, torch on GPUs.",
        ),
    ] = None,
    output_format: Annotated[
        p.BenchFormat, typer.Option("--output-format", help="How to print the counts.")
    ] = p.BenchFormat.table,
    run_module: p.RunModule = False,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=1.0, help="Time to count a function; else smaller sizes."),
    ] = 4.0,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the counts for `porter analyze`.")
    ] = False,
) -> None:
    """Count what a module's kernels execute and model their time on a GPU."""
    from porter.commands.bench import run

    options = BenchOptions(
        paths=tuple(paths),
        functions=tuple(functions or ()),
        sizes=sizes,
        arch=arch,
        gpu=gpu.value if gpu else None,
        against=_codes(against),
        output_format=output_format.value,
        run_module=run_module,
        seconds=seconds,
        record=record,
    )
    raise typer.Exit(run(options))


# what follows the script is the script's own
@app.command(cls=PlainCommand, context_settings={"allow_interspersed_args": False})
def trace(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="The script to run.")],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="The script's own arguments.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds after which the script is stopped.")
    ] = 600.0,
    output_format: p.OutputFormat = p.Format.full,
    record_inputs: Annotated[
        bool,
        typer.Option("--record-inputs", help="Record argument values too, up to 1 MiB per call."),
    ] = False,
) -> None:
    """Run a script and record its functions: types, sizes and time."""
    from porter.commands.trace import run

    options = TraceOptions(script, tuple(args or ()), timeout, output_format.value, record_inputs)
    raise typer.Exit(run(options))


@app.command(cls=PlainCommand)
def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code such as PRT401.")],
    output_format: p.OutputFormat = p.Format.full,
) -> None:
    """Print the page of a rule."""
    from porter.commands.explain import run

    raise typer.Exit(run(code, output_format.value))


@app.command(cls=PlainCommand)
def rules(output_format: p.OutputFormat = p.Format.full) -> None:
    """List every rule."""
    from porter.commands.rules import run

    raise typer.Exit(run(output_format.value))


@app.command(cls=PlainCommand)
def doctor(output_format: p.OutputFormat = p.Format.full) -> None:
    """Report what is installed and where modules can be verified."""
    from porter.commands.doctor import run

    raise typer.Exit(run(DoctorOptions(output_format=output_format.value)))


def _check_target(target: str) -> None:
    from porter.target.registry import TARGETS

    if target not in TARGETS:
        raise UsageError(f"--target {target} is not something porter knows")


def _usage(message: str) -> str:
    """Typer's message as one plain line, saying so when a later version will have it."""
    words = {w.strip("'\".,:") for w in message.split("(")[0].split(" is not one of")[0].split()}
    for name in LATER:
        if name in words:
            return f"{name} is not in this version of porter"
    line = " ".join(message.split()).rstrip(".").replace(": Value error, ", ": ")
    return line[:1].lower() + line[1:]


def _crash(error: Exception) -> NoReturn:
    if os.environ.get("PORTER_DEBUG"):
        raise error
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    print(
        f"error: porter failed unexpectedly ({reason}); "
        "please report it with the output of PORTER_DEBUG=1",
        file=sys.stderr,
    )
    sys.exit(2)


def _leave(code: int, forced: bool) -> NoReturn:
    """End the process; when forced, without taking every object apart, which takes as long as
    a tenth of a short run."""
    if forced:
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the command line (`sys.argv` when `argv` is None) and exit with its code."""
    # imports make many objects and hardly any garbage: looking for it, on the way out too,
    # takes a quarter of the time of a short run
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    if argv is None:
        # a build machine's time limit: child processes must not outlive this one
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        code = _exit_code(argv)
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 0
    # forced: a thread that is inside of libcst when the interpreter ends aborts the process
    _leave(code, forced=argv is None)


def _exit_code(argv: list[str] | None) -> int:
    """Run the command line; 0, 1, 2, or 130 after Ctrl-C."""
    try:
        code = app(args=argv, prog_name="porter", standalone_mode=False)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
        else:
            print(f"error: {_usage(error.format_message())}", file=sys.stderr)
        return 2
    except typer.Abort:
        return 130
    except Exception as error:
        _crash(error)
    return code if isinstance(code, int) else 0
