"""The child process that runs host functions without a GPU and counts what kernels execute.

`python -m porter.bench.child.count_child REQUEST` appends JSON lines to the file that the request
names: a `counted` line for each function, and a `wanted` line with the launches that have to be
compiled before it goes on.  It then reads a line from its input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from porter.bench.child.counted import Job
from porter.bench.child.host import Cupy, Host
from porter.bench.child.loading import Module
from porter.bench.child.measuring import measured
from porter.bench.child.recording import Recorder
from porter.bench.child.swap import Original
from porter.bench.request import CountRequest
from porter.verify.checks.subject import MismatchFound
from porter.verify.limits import restrict


def jobs(request: CountRequest, module: Module) -> Iterator[tuple[str, Job | str]]:
    """The job of each function, or why there is none."""
    recorder = Recorder()
    names = vars(module.module)
    if names.get("np") is np:
        names["np"] = Host(recorder.on_host)
    if "_from_cupy" in names:
        names["cp"] = Cupy(names["cp"], np, recorder.on_device)
    if "_repeat" in names:
        names["_repeat"] = recorder.repeat
    if "_workspace" in names:
        most = names.get("WORKSPACE_BYTES", 0)
        names["_workspace"] = recorder.keeping(names["_workspace"], most)
    if "_counter" in names:
        names["_counter"] = recorder.keeping(names["_counter"], 8)
    if "_new" in names:
        names["_new"] = recorder.reusing(names["_new"], names.get("RESULT_BYTES", 0))
    for name in request.functions:
        try:
            job: Job | str = Job(request, recorder, module.subject(name))
        except MismatchFound as found:
            job = found.mismatch.message
        except LookupError as error:
            job = " ".join(str(e) for e in error.args)
        except Exception as error:
            job = _lost(error)
        yield name, job


def answer(request: CountRequest, module: Module, reply: TextIO, go_on: Iterator[str]) -> None:
    """Write a line for every function, asking for compiled kernels in between."""

    def write(**line: Any) -> None:
        reply.write(json.dumps(line) + "\n")
        reply.flush()

    left: dict[str, Job] = {}
    for name, job in jobs(request, module):
        if isinstance(job, str):
            write(counted=name, failed=job)
        else:
            left[name] = job
    while left:
        wanted = {}
        for name, job in list(left.items()):
            write(start=name)
            try:
                lacking = job.step()
            except Exception as error:
                write(counted=name, names=job.names, failed=_lost(error))
                del left[name]
                continue
            if lacking:
                wanted[name] = lacking
            else:
                write(counted=name, names=job.names, **job.result())
                if request.operations:
                    original = Original(job.subject.original, module.source, job.arguments)
                    write(operated=name, **original.steps(job.chosen))
                if request.against:
                    write(measured=name, times=measured(job.measurable, request.against))
                del left[name]
        if wanted:
            write(wanted=wanted)
            next(go_on)


def _lost(error: Exception) -> str:
    return "it cannot be counted: " + " ".join(f"{type(error).__name__}: {error}".split())[:300]


def main() -> None:
    """Answer one request."""
    request = CountRequest(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    lines = iter(os.fdopen(os.dup(0), encoding="utf-8"))
    faulthandler.dump_traceback_later(request.limit, exit=True)
    # arrays are mapped, but take memory only where they are touched
    restrict(address_space=False)
    with Path(request.reply).open("a", encoding="utf-8") as reply:
        try:
            module = Module(request)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            reply.write(json.dumps({"fatal": f"the module cannot be loaded: {reason}"}) + "\n")
            return
        answer(request, module, reply, lines)
        reply.write(json.dumps({"end": True}) + "\n")


if __name__ == "__main__":
    main()
