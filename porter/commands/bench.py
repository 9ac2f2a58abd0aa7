"""`porter bench MODULE...`: what a module's kernels execute, and what that takes on a GPU."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from porter.bench.counting import Counting, counting, unknown_size
from porter.bench.gpus import GPUS, Gpu
from porter.bench.model import Modelled, modelled
from porter.bench.on_gpu import LIBRARIES, has_driver
from porter.bench.recording import recorded
from porter.bench.records import FunctionCounts
from porter.bench.sizes import parse_sizes
from porter.codegen.module.header import parse
from porter.commands.verify import modules_in
from porter.config import load_config
from porter.convert.files import convert_file
from porter.diagnostics import UsageError
from porter.options import BenchOptions, ConvertOptions
from porter.output.bench import Row, lines, record
from porter.output.color import wants_color
from porter.output.records import to_json
from porter.output.roofline_svg import roofline
from porter.source.files import read
from porter.support.progress import Progress
from porter.target.registry import TARGETS
from porter.trace.counts import keep
from porter.trace.place import counts_file
from porter.verify.compile import compilers
from porter.verify.compile.occupancy import ARCHITECTURES

FINE, FAILED = 0, 1
_INSTEAD = (
    "counted are the kernels that --target cuda makes of the source; operation by operation is"
    " what this module does"
)
#: what can be timed beside the module
AGAINST = ("numpy", "numba", *LIBRARIES)


@dataclass(frozen=True)
class _Target:
    """What kernels are compiled for, and the GPU whose time is modelled."""

    arch: str
    gpu: Gpu


@compilers.kept()
def run(options: BenchOptions) -> int:
    """Count every function of the modules and print what was found.

    Returns 0 when all were counted, 1 otherwise.  Raises `UsageError` for arguments that cannot be
    served.
    """
    _check(options.against)
    target = _target(options)
    sizes = parse_sizes(options.sizes, "--size")
    modules = [module for path in options.paths for module in modules_in(path)]
    found = [(module, _counted(module, options, sizes, target)) for module in modules]
    names = frozenset(name for _, each in found for name in each.names)
    for name in sizes:
        if names and name not in names:
            raise UsageError(f"--size: {unknown_size(name, names)}")
    rows = [(module, [_row(f, target) for f in each.functions]) for module, each in found]
    _print(rows, options)
    if options.record:
        pairs = ((Path(module), each.functions) for module, each in found)
        kept = [c for module, each in pairs for c in recorded(module, each, target.arch)]
        keep(counts_file(Path.cwd()), kept)
    missing = [r for _, each in rows for r in each
               if r.modelled is None and not r.counts.only_measured]  # fmt: skip
    return FAILED if missing else FINE


def _check(against: Sequence[str]) -> None:
    for name in against:
        if name not in AGAINST:
            raise UsageError(f"--against {name} is unknown (porter knows {', '.join(AGAINST)})")
        if name in LIBRARIES and not has_driver():
            said = "no driver of an NVIDIA GPU is installed here"
            raise UsageError(
                f"--against {name}: {said}; help: `porter doctor` shows what is missing"
            )


def _target(options: BenchOptions) -> _Target:
    if options.arch is not None and options.arch not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise UsageError(f"--arch {options.arch} is unknown (porter knows {known})")
    alike = [gpu for gpu in GPUS.values() if gpu.arch == options.arch]
    gpu = GPUS[options.gpu] if options.gpu else next(iter(alike), GPUS["h200"])
    return _Target(options.arch or gpu.arch, gpu)


def _counted(path: str, options: BenchOptions, sizes: dict[str, int], target: _Target) -> Counting:
    try:
        with Progress(f"counting {path}"), _kernels(Path(path), options) as (module, note):
            found = counting(
                module, functions=options.functions, sizes=sizes, arch=target.arch,
                seconds=options.seconds,
                run_module=options.run_module, operations=True, against=options.against,
            )  # fmt: skip
            noted = [replace(f, notes=(*note, *f.notes)) for f in found.functions]
            return replace(found, functions=noted)
    except UsageError as error:
        # the path as the user wrote it, not as it was resolved
        raise UsageError(str(error).replace(str(Path(path).resolve()), path)) from error


@contextmanager
def _kernels(path: Path, options: BenchOptions) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The module whose kernels are counted: those of `--target cuda` for what CuPy does here."""
    text = path.read_text("utf-8") if path.is_file() else ""
    header = parse(text)
    target = None if header is None else TARGETS.get(header.target)
    if header is None or target is None or not target.rewrites:
        yield path, ()
        return
    source = read(os.path.normpath(path.resolve().parent / header.source))
    config = load_config(source.path)
    types = {record.name: record.signature for record in header.functions}
    chosen = ConvertOptions(
        (source.path,), tuple(types), verify=False, run_module=header.run_module
    )
    with tempfile.TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True) as folder:
        place = Path(folder) / path.name
        made = convert_file(source, chosen, replace(config, signatures=types), place, _silent)
        if made.text is None:
            raise UsageError(f"{path}: --target cuda makes no kernels to compare with")
        place.write_text(made.text, "utf-8")
        yield place, (_INSTEAD,)


def _silent(_: str) -> None:
    """Nothing is said of the steps."""


def _row(counts: FunctionCounts, target: _Target) -> Row:
    times: Modelled | None = None
    if not counts.reason and not counts.only_measured:
        times = modelled(counts, target.gpu, target.arch)
    return Row(counts, target.arch, times)


def _print(rows: list[tuple[str, list[Row]]], options: BenchOptions) -> None:
    if options.output_format == "json":
        data = [{"path": path, "functions": [record(r) for r in each]} for path, each in rows]
        print(to_json({"modules": data}), end="")
        return
    if options.output_format == "svg":
        print(roofline([row for _, each in rows for row in each]), end="")
        for path, each in rows:
            _complain(path, each)
        return
    color = wants_color(sys.stdout)
    for path, each in rows:
        print(*lines(path, each, color), sep="\n")


def _complain(path: str, rows: list[Row]) -> None:
    """Name what a picture does not show."""
    for row in rows:
        if row.counts.only_measured:
            print(f"{path}: {row.counts.name}: measured on this CPU: no roofline", file=sys.stderr)
        elif row.modelled is None:
            text = f"{path}: {row.counts.name}: not counted: {row.counts.reason}"
            print(text, file=sys.stderr)
