"""`porter trace SCRIPT [ARGS...]`: one run of the user's script, recorded."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from porter.diagnostics import UsageError
from porter.options import TraceOptions
from porter.output.records import to_json
from porter.trace.place import trace_file
from porter.trace.process import Ran, run_child
from porter.trace.record import Trace, TracedFunction, read_trace

FINE, FAILED = 0, 1
#: how many functions are listed
_ROWS = 20


def run(options: TraceOptions) -> int:
    """Run the script and record it; 1 if it did not end well. Raises UsageError without one."""
    if not Path(options.script).is_file():
        raise UsageError(f"{options.script}: no such file")
    folder = Path.cwd()
    file = trace_file(folder)
    before = _stamp(file)
    keep = "1" if options.record_inputs else "0"
    args = [str(folder), str(options.timeout), keep, options.script, *options.args]
    ran = run_child(args, options.timeout)
    if ran.hidden:
        print(f"note: {ran.hidden:,} more bytes of output are not shown", file=sys.stderr)
    if _stamp(file) == before:
        print(f"error: {options.script} {_killed(ran, options)}: nothing was recorded",
              file=sys.stderr)  # fmt: skip
        return FAILED
    trace = read_trace(file)
    if options.output_format == "json":
        print(to_json(asdict(trace)), end="")
    else:
        print(_text(trace), end="")
    if trace.ended != "finished":
        limit = f" after {options.timeout:g} s (--timeout)" if trace.ended == "timed out" else ""
        print(f"error: {options.script}: {trace.ended}{limit}", file=sys.stderr)
        return FAILED
    return FINE


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _killed(ran: Ran, options: TraceOptions) -> str:
    if ran.code is None:
        return f"did not end within {options.timeout:g} s (--timeout)"
    if ran.code < 0:
        return f"was killed by signal {-ran.code}"
    return f"ended with exit code {ran.code} before Python could finish"


def _text(trace: Trace) -> str:
    functions = [f for f in trace.functions if f.name != "<module>"]
    rows = [("seconds", "own", "calls", "function", "types"), *(_row(f) for f in functions[:_ROWS])]
    widths = [max(len(r[k]) for r in rows) for k in range(4)]
    lines = []
    if functions:
        for r in rows:
            numbers = "  ".join(f"{c:>{w}}" for c, w in zip(r[:3], widths, strict=False))
            lines.append(f"{numbers}  {r[3]:<{widths[3]}}  {r[4]}".rstrip())
    if len(functions) > _ROWS:
        lines.append(f"... and {len(functions) - _ROWS} more")
    calls = sum(f.calls for f in functions)
    cost = 100 * trace.overhead / trace.seconds if trace.seconds else 0.0
    lines.append(
        f"{trace_file(Path())} written: {_count(len(functions), 'function')}, "
        f"{_count(calls, 'call')}, {trace.seconds:.2f} s, "
        f"of which the recording took about {cost:.0f} %"
    )
    return "".join(f"{line}\n" for line in lines)


def _row(f: TracedFunction) -> tuple[str, str, str, str, str]:
    first = f.signatures[0].types if f.signatures else ""
    more = f" and {len(f.signatures) - 1} more" if len(f.signatures) > 1 else ""
    place = f"{f.path}:{f.line} {f.name}"
    return f"{f.seconds:.4f}", f"{f.own_seconds:.4f}", f"{f.calls:,}", place, f"{first}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
