"""What the command line hands to each command: plain frozen data, no Typer in sight."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.diagnostics import UsageError
from porter.support.extras import Extras

#: seconds for the conversion of each function, and for each of its verifications
CONVERT_SECONDS = 300.0


@dataclass(frozen=True)
class AnalyzeOptions:
    """Arguments of `porter analyze`; `select` and `ignore` are code prefixes such as PRT4.

    `compile` and `run` ask Numba itself, for `timeout` seconds each; `script_args` go to the
    script that `run` runs; `types` prints the types under each line, `raw` Numba's own
    annotation; with `everything`, functions with nothing to convert are listed too; with `strict`,
    advice alone makes the exit code 1.
    """

    paths: tuple[str, ...]
    functions: tuple[str, ...] = ()
    output_format: str = "full"
    output_file: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    statistics: bool = False
    exit_zero: bool = False
    baseline: str | None = None
    stdin_filename: str | None = None
    no_cache: bool = False
    add_ignore: bool = False
    show_settings: bool = False
    compile: bool = False
    run: bool = False
    script_args: tuple[str, ...] = ()
    types: bool = False
    raw: bool = False
    timeout: float | None = None
    everything: bool = False
    strict: bool = False

    @property
    def asks_numba(self) -> bool:
        """Whether the user's code is imported or run."""
        return self.compile or self.run

    @property
    def changes_files(self) -> bool:
        """Whether files are changed, or would be."""
        return self.fix or self.diff or self.add_ignore

    def check(self) -> None:
        """Raises `UsageError` for options that miss another one, and for what cannot be run."""
        for option, given in (("--types", self.types), ("--raw", self.raw)):
            if given and not self.asks_numba:
                raise UsageError(f"{option} needs --compile or --run")
        if self.timeout is not None and self.timeout <= 0:
            raise UsageError("--timeout takes a number of seconds above 0")
        for path in self.paths if self.run else ():
            if not path.endswith((".py", ".ipynb")) or Path(path).is_dir():
                raise UsageError(f"--run runs scripts and notebooks, and {path} is neither")


@dataclass(frozen=True)
class ConvertOptions:
    """Arguments of `porter convert`.

    Several `signature`s make several forms of a function.
    `ufunc_target` is what Numba compiles ufuncs for: cuda, cpu or parallel; `dask_blocks` what it
    compiles functions of blocks for: cpu or cuda.
    `output` is a file, a folder, `-` or None (beside the source); `emit` is None or one of
    array, loops and plan; `output_format` is full, concise or json; `backend` is numba or
    numba-cuda-mlir; `library` is cupy or empty; with `refuse_host` no array work may stay on
    the host; `templates` is a folder with overriding templates; with `run_module` constants have
    their values after the whole module ran; `timeout` is in seconds, for the conversion of each
    function and for each of its verifications; `budget` is `seconds` of `VerifyOptions`; `extras`
    are what modules of kernels have beside their functions.
    """

    paths: tuple[str, ...]
    functions: tuple[str, ...] = ()
    signature: str | tuple[str, ...] | None = None
    target: str = "cuda"
    ufunc_target: str = "cuda"
    dask_blocks: str = "cpu"
    output: str | None = None
    diff: bool = False
    check: bool = False
    force: bool = False
    verify: bool = True
    emit: str | None = None
    output_format: str = "full"
    templates: str | None = None
    stdin_filename: str | None = None
    backend: str = "numba"
    allow_serial: bool = False
    library: str = ""
    refuse_host: bool = False
    budget: float | None = None
    run_module: bool = False
    timeout: float | None = None
    verbose: bool = False
    extras: Extras = Extras()  # noqa: RUF009 (immutable)

    @property
    def kind(self) -> str:
        """What the target's functions are compiled for, where it leaves a choice."""
        if self.target == "dask" and self.dask_blocks == "cuda":
            return "kernels"
        return self.ufunc_target

    @property
    def first_signature(self) -> str | None:
        """The types of the first form, where types are given."""
        several = isinstance(self.signature, tuple)
        return self.signature[0] if several else self.signature  # type: ignore[return-value,index]

    @property
    def seconds(self) -> float:
        """The time limit that holds."""
        return CONVERT_SECONDS if self.timeout is None else self.timeout


@dataclass(frozen=True)
class VerifyOptions:
    """Arguments of `porter verify`.

    `on` holds simulator, emulator, ptx and gpu in any combination, empty for all but gpu;
    `seed` and `cases` are None for the verifier's own choice; `timeout` is in seconds, for each
    function and kind of evidence, None for the settings' or the verifier's own limit.  `case`
    runs only the case of that number; `inputs` is a file of hypothesis strategies, `trace` one
    that `porter trace` wrote; `archs` are the architectures to compile for, empty for the usual
    ones, `backends` the packages to compile with, empty for the module's own; with
    `trace_values` a mismatch tells the first source line whose value differs; `sanitize` repeats
    the verification on a GPU under compute-sanitizer; with `run_module` the source's whole top
    level runs, as it must for modules that were converted so.
    """

    paths: tuple[str, ...]
    on: tuple[str, ...] = ()
    seed: int | None = None
    cases: int | None = None
    functions: tuple[str, ...] = ()
    output_format: str = "full"
    timeout: float | None = None
    case: int | None = None
    inputs: str | None = None
    trace: str | None = None
    archs: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    trace_values: bool = False
    sanitize: bool = False
    seconds: float | None = None
    run_module: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class BenchOptions:
    """Arguments of `porter bench`; `sizes` is text such as `n=4096,m=512`, '' for none.

    Without `arch`, kernels are compiled for `gpu`; without `gpu`, the first one of `arch` is
    modelled.  `against` are what is timed beside the module; `output_format` is table, json or svg.
    What takes more than so many `seconds` of a processor is counted for smaller sizes.
    With `record` the counts are kept for `analyze`.
    """

    paths: tuple[str, ...]
    functions: tuple[str, ...] = ()
    sizes: str = ""
    arch: str | None = None
    gpu: str | None = None
    against: tuple[str, ...] = ()
    output_format: str = "table"
    run_module: bool = False
    seconds: float = 4.0
    record: bool = False


@dataclass(frozen=True)
class TraceOptions:
    """Arguments of `porter trace`: the script with its own arguments; `timeout` in seconds.

    With `record_inputs`, values of arguments are kept too.
    """

    script: str
    args: tuple[str, ...] = ()
    timeout: float = 600.0
    output_format: str = "full"
    record_inputs: bool = False


@dataclass(frozen=True)
class DoctorOptions:
    """Arguments of `porter doctor`; `output_format` is full or json."""

    output_format: str = "full"
