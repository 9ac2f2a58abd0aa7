"""Times many programs on the GPU of this machine: porter's kernels beside CuPy and the model.

    python benchmarks/performance.py --keep DIR [--npbench DIR]      # on any machine
    python benchmarks/gpu_speed.py DIR [--only NAME ...] [--jobs N] [--results FILE]
    python benchmarks/gpu_speed.py DIR --results FILE --page docs/performance.md

The first command leaves modules and what is counted of them in a folder; the second one times
each of them, with arrays on the device, and writes a line of JSON for each; the third one makes the
tables of the page from these lines, without a GPU.  Compilation runs in parallel, what is timed
has the GPU for itself.  Exit code 1 where a module has no time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from statistics import median
from typing import Any

from porter.verify.compile.backends import version

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.pages import put

CHILD = Path(__file__).with_name("gpu_speed_child.py")
#: where the tables begin and end in the page
MARK, END = "<!-- measured on a GPU -->", "<!-- end of measured on a GPU -->"
#: milliseconds by the model beyond which CuPy is not run
MOST_CUPY = 500.0
#: launches that wait for a busy GPU; more than these wait for the host
QUEUE = 1000
PACKAGES = ("numba", "numba-cuda", "numpy", "cupy-cuda13x")


def asked(what: str) -> str:
    """What nvidia-smi says of the GPU: its name, its driver's version."""
    command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader"]
    if shutil.which(command[0]) is None:
        return "unknown"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def measured(module: Path, lock: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The line of one module."""
    figures = json.loads(module.with_suffix(".json").read_text("utf-8"))
    function = figures["modules"][0]["functions"][0]
    line = {"name": module.stem.removesuffix("_cuda"), "function": function["name"]}
    modelled = function.get("modelled")
    if modelled is None:
        return line | {"error": "not counted"}
    cupy = modelled["cupy_ms"]
    against = options.against if cupy is not None and cupy < MOST_CUPY else ""
    line |= {k: function[k] for k in ("size", "launches", "bytes", "least_bytes")}
    line |= {"modelled": {k: modelled[k] for k in ("ms", "cupy_ms", "least_ms", "bound_by")}}
    line["modelled"]["kernels_ms"] = sum(k["ms"] for k in modelled["kernels"])
    command = [sys.executable, str(CHILD), str(module.resolve()), function["name"]]
    command += [json.dumps(function["size"]), str(lock), against]
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=options.seconds
        )
        line |= json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        line |= {"error": f"no result in {options.seconds:g} s"}
    except (ValueError, LookupError):
        line |= {"error": (done.stderr.strip().splitlines() or ["no output"])[-1][:200]}
    return line | {"seconds": round(time.perf_counter() - began, 1)}


def shown(line: dict[str, Any]) -> str:
    """A line for the terminal."""
    ours, theirs = line.get("gpu", {}), line.get("cupy", {})
    texts = [f"{line['name']:32}"]
    for found in (ours, theirs):
        error = found.get("error", line.get("error"))
        known = f"{found['ms']:10.4g} {found['call_ms']:10.4g}" if "ms" in found else "-"
        texts.append(f"{known:21}" if error is None else error[:100])
    compared = line.get("compared", {})
    modelled = line.get("modelled", {}).get("ms", math.nan)
    return f"{'  '.join(texts)}  model {modelled:.4g}  {compared}"


def ratio(line: dict[str, Any], key: str) -> float | None:
    """How many times faster than CuPy."""
    ours, theirs = line.get("gpu", {}).get(key), line.get("cupy", {}).get(key)
    return theirs / ours if ours and theirs else None


def expected(line: dict[str, Any]) -> float | None:
    """The modelled time: that of the kernels, or with the launches where they are too many.

    A GPU that is kept busy takes so many launches before it has to wait for the host.
    """
    found = line.get("modelled", {})
    many = line.get("launches", 0) >= QUEUE
    return found.get("ms" if many else "kernels_ms")


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def summary(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What the lines come to."""
    for key, what in (("ms", "The kernels"), ("call_ms", "Whole calls, until results are there,")):
        found = [r for line in lines if (r := ratio(line, key))]
        if found:
            slower = sum(r < 1 for r in found)
            yield (
                f"{what} have {mean(found):.2f} times the speed of CuPy's in the geometric mean of"
                f" {len(found)} programs, {median(found):.2f} in the median; {slower} are slower."
            )
    errors = [
        modelled / line["gpu"]["ms"]
        for line in lines
        if line.get("gpu", {}).get("ms") and (modelled := expected(line))
    ]
    if errors:
        off = median(max(e, 1 / e) for e in errors)
        near = sum(0.5 <= e <= 2 for e in errors)
        yield (
            f"The model has {mean(errors):.2f} times the measured time of porter's kernels in the"
            f" geometric mean, is off by a factor of {off:.2f} in the median, and by no more than 2"
            f" for {near} of {len(errors)}."
        )


def cell(found: dict[str, Any], key: str) -> str:
    """A time in a table."""
    return f"{found[key]:.3g}" if key in found else ""


def row(line: dict[str, Any]) -> str:
    """The row of one program."""
    ours, theirs = line.get("gpu", {}), line.get("cupy", {})
    size = ", ".join(f"{k}={v:,}" for k, v in line.get("size", {}).items())
    why = line.get("error") or ours.get("error")
    name = line["name"] + ("" if line.get("alone", True) else "*")
    if why:
        return f"| {name} | {size} | | | | | | | {why} |"
    faster = f"{r:.2f}" if (r := ratio(line, "ms")) else ""
    apart = line.get("compared", {}).get("difference", "")
    note = f"CuPy: {theirs['error']}"[:80].replace("|", "\\|") if "error" in theirs else apart
    modelled = expected(line)
    times = [cell(ours, "ms"), f"{modelled:.3g}" if modelled else "", cell(theirs, "ms"), faster]
    times += [cell(ours, "call_ms"), cell(theirs, "call_ms")]
    return f"| {' | '.join([name, size, *times, note])} |"


def page(lines: Sequence[dict[str, Any]]) -> str:
    """The table as a part of a page."""
    head = next(line for line in lines if line.get("machine"))
    machine, others = head["machine"], [line for line in lines if not line.get("machine")]
    text = [
        f"Measured on {machine['date']} on one {machine['gpu']} (driver {machine['driver']}),",
        f"Python {machine['python']}, {machine['packages']}. Times are in milliseconds: the median",
        "of warm calls with arrays on the device, by CUDA events, while the GPU is kept busy until",
        "the host has launched all. *Apart* is the largest difference of the results from CuPy's,",
        "relative to the largest element.",
        "",
    ]
    if not all(line.get("alone", True) for line in others):
        text += ["\\* Other programs started on the same GPU meanwhile: at most this long.", ""]
    text += [
        *(x for line in summary(others) for x in (line, "")),
        "| program | sizes | porter | modelled | CuPy | times faster | porter's call | CuPy's call "
        "| apart |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|",
        *map(row, sorted(others, key=lambda line: ratio(line, "ms") or math.inf)),
    ]
    return "\n".join(text)


def modelled(module: Path) -> float:
    """Milliseconds of a module and of CuPy: what is quick comes first."""
    found = json.loads(module.with_suffix(".json").read_text("utf-8"))
    times = found["modules"][0]["functions"][0].get("modelled") or {}
    return float(times.get("ms") or 0.0) + min(float(times.get("cupy_ms") or 0.0), MOST_CUPY)


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure all modules of the folder."""
    modules = [
        m for m in sorted(options.folder.glob("*_cuda.py")) if m.with_suffix(".json").exists()
    ]
    chosen = [m for m in modules if not options.only or any(n in m.name for n in options.only)]
    lines: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(options.jobs) as pool,
        (options.results or Path(os.devnull)).open("a", encoding="utf-8") as file,
    ):
        lock = Path(folder) / "lock"
        machine = {
            "gpu": asked("name"),
            "driver": asked("driver_version"),
            "python": platform.python_version(),
            "packages": ", ".join(f"{p} {v}" for p in PACKAGES if (v := version(p))),
            "date": time.strftime("%Y-%m-%d"),
        }
        file.write(json.dumps({"machine": machine}) + "\n")
        tasks = [pool.submit(measured, m, lock, options) for m in chosen]
        for task in as_completed(tasks):
            line = task.result()
            print(shown(line), flush=True)
            file.write(json.dumps(line) + "\n")
            file.flush()
            lines.append(line)
    return lines


def main() -> int:
    """Measure, or make the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit of a module")
    parser.add_argument("--against", default="cupy")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page:
        lines = [json.loads(x) for x in options.results.read_text("utf-8").splitlines()]
        put(options.page, MARK, END, page(lines))
        return 0
    lines = run(options)
    print("\n".join(summary(lines)))
    return int(any("ms" not in line.get("gpu", {}) for line in lines))


if __name__ == "__main__":
    sys.exit(main())
