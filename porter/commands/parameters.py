"""The parameters that the commands of `porter` share: their values, names and help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How results are written."""

    full = "full"
    concise = "concise"
    json = "json"


class AnalysisFormat(StrEnum):
    """How `analyze` writes what it found."""

    full = "full"
    concise = "concise"
    json = "json"
    github = "github"
    sarif = "sarif"
    html = "html"


class BenchFormat(StrEnum):
    """How `bench` writes what it counted."""

    table = "table"
    json = "json"
    svg = "svg"


class Gpu(StrEnum):
    """The GPUs that `bench` models."""

    h200 = "h200"
    h100 = "h100"
    a100 = "a100"
    rtx4090 = "rtx4090"
    t4 = "t4"


class Emit(StrEnum):
    """The inner stages that `convert --emit` prints."""

    array = "array"
    loops = "loops"
    plan = "plan"


class Library(StrEnum):
    """Libraries that array functions are handed to."""

    cupy = "cupy"


class Backend(StrEnum):
    """The package whose `cuda` a generated module imports."""

    numba = "numba"
    mlir = "numba-cuda-mlir"


class UfuncTarget(StrEnum):
    """What Numba compiles ufuncs for: a GPU, one thread of the CPU, or all of them."""

    cuda = "cuda"
    cpu = "cpu"
    parallel = "parallel"


class DaskBlocks(StrEnum):
    """What computes a block of an array of Dask: the CPU, or a GPU."""

    cpu = "cpu"
    cuda = "cuda"


class Launches(StrEnum):
    """Who chooses the grid of kernels with one axis: the module, or Numba."""

    grid = "grid"
    forall = "forall"


class Compiler(StrEnum):
    """The packages that `verify` compiles with."""

    numba = "numba"
    numba_cuda = "numba-cuda"
    mlir = "numba-cuda-mlir"
    all = "all"


class Evidence(StrEnum):
    """The engines that `verify` can run."""

    simulator = "simulator"
    emulator = "emulator"
    ptx = "ptx"
    gpu = "gpu"


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="File, directory, notebook, or - for standard input."),
]
RunModule = Annotated[
    bool,
    typer.Option("--run-module", help="Execute the whole file to evaluate its constants."),
]
Functions = Annotated[
    list[str] | None,
    typer.Option(
        "-f", "--function", metavar="NAME", help="Process only this function (repeatable)."
    ),
]
OutputFormat = Annotated[Format, typer.Option("--output-format", help="How to write results.")]
AnalysisOutput = Annotated[
    AnalysisFormat, typer.Option("--output-format", help="How to write results.")
]
StdinFilename = Annotated[
    str | None,
    typer.Option(
        "--stdin-filename", metavar="PATH", help="The file name to report for standard input."
    ),
]

OutputFile = Annotated[
    str | None,
    typer.Option("--output-file", metavar="FILE", help="Write results to this file."),
]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="CODES", help="Report only these codes or prefixes."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="CODES", help="Do not report these codes or prefixes."),
]
Compile = Annotated[
    bool, typer.Option("--compile", help="Import the file and compile its functions with Numba.")
]
RunScript = Annotated[
    bool,
    typer.Option(
        "--run",
        help="Run the script or notebook (arguments after --) and record what Numba compiles.",
    ),
]
Types = Annotated[
    bool, typer.Option("--types", help="With --compile or --run: the types under each line.")
]
Raw = Annotated[
    bool, typer.Option("--raw", help="With --compile or --run: print Numba's own annotation.")
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE|DIR|-",
        help="Where to write (default: <stem>_cuda.py beside the source).",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        min=0,
        metavar="N",
        help="Time for further sizes on the emulator (1.5 s; 20 s if edited).",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="Time limit for each script or file (60 s)."),
]
ConvertTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit to convert each function, and to verify it on each engine (300 s).",
    ),
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print the details of each verification.")
]
VerifyTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", help="Time limit for each function on each engine (300 s)."
    ),
]
Signature = Annotated[
    list[str] | None,
    typer.Option(
        "--signature",
        metavar="TYPES",
        help='Argument types in Numba\'s syntax, such as "float64[:, :], float64" (repeatable).',
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        help="What to generate: kernels (cuda), loops for the CPU (loops), ufuncs (ufunc), "
        "generalized ufuncs (gufunc), the source with CuPy (cupy), or functions of Dask's "
        "arrays (dask).",
    ),
]
Templates = Annotated[
    str | None,
    typer.Option(
        "--templates", metavar="DIR", help="Directory of templates that override the built-in ones."
    ),
]
Timing = Annotated[
    bool,
    typer.Option("--timing", help="Functions take timing=, which gets the kernels' milliseconds."),
]
Launch = Annotated[
    Launches,
    typer.Option("--launch", help="Who chooses the grid of elementwise kernels: porter or Numba."),
]
OnDevice = Annotated[
    bool,
    typer.Option("--on-device", help="Add a context manager that keeps arrays on the device."),
]
Pipeline = Annotated[
    int,
    typer.Option(
        "--pipeline", min=0, metavar="N", help="Run large calls in chunks of rows on N streams."
    ),
]
RefuseHost = Annotated[
    bool, typer.Option("--refuse-host", help="Refuse functions that need statements on the host.")
]
AllowSerial = Annotated[
    bool,
    typer.Option("--allow-serial", help="Run loops with carried dependences on one thread."),
]
All = Annotated[bool, typer.Option("--all", help="List functions with nothing to convert too.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 for advice alone too.")]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Report only what FILE does not list; write FILE if it is missing.",
    ),
]
AddIgnore = Annotated[
    bool,
    typer.Option("--add-ignore", help="Add a comment to each finding that suppresses it."),
]
