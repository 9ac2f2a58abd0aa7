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

from porter.bench.child.counted import Job
from porter.bench.child.recording import Recorder
from porter.bench.child.swap import Original
from porter.bench.request import CountRequest
from porter.codegen.module.header import parse
from porter.verify import generated
from porter.verify.checks.subject import MismatchFound, Subject, Version
from porter.verify.limits import restrict
from porter.verify.loaded import Source
from porter.verify.oracle.original import index_parameters, literals


class Session:
    """The generated module and its source, for all functions of a request."""

    def __init__(self, request: CountRequest) -> None:
        self.request = request
        path, text = Path(request.place), Path(request.module).read_text("utf-8")
        header = parse(text)
        assert header is not None, "the parent has read the header"
        self.header = header
        source = Path(os.path.normpath(path.parent / header.source))
        sys.path += [str(source.parent), str(path.parent)]
        self.recorder = Recorder()
        self.source = Source(source, request.functions, request.run_module)
        self.module = generated.load(path, text, {})

    def jobs(self) -> Iterator[tuple[str, Job | str]]:
        """The job of each function, or why there is none."""
        for name in self.request.functions:
            try:
                job: Job | str = Job(self.request, self.recorder, self._subject(name))
            except MismatchFound as found:
                job = found.mismatch.message
            except (LookupError, AttributeError, ValueError) as error:
                job = " ".join(str(e) for e in error.args)
            yield name, job

    def _subject(self, name: str) -> Subject:
        source, record = self.source, self.header.function(name)
        assert record is not None, "the parent asks only for functions in the header"
        host = getattr(self.module, name.rsplit(".", 1)[-1], None)
        if not callable(host):
            raise LookupError(f"the module defines no function `{name}`")
        original = source.plain(record, source.original.function(name))
        version = Version(source.plain(record, host), {})
        return Subject(
            record, original, original, version, version,
            index_parameters(source.text, name),
            literals(source.text, name, source.original.namespace),
            source.domain(name), None, False, source.hints(name),
        )  # fmt: skip


def answer(session: Session, reply: TextIO, go_on: Iterator[str]) -> None:
    """Write a line for every function, asking for compiled kernels in between."""

    def write(**line: Any) -> None:
        reply.write(json.dumps(line) + "\n")
        reply.flush()

    left: dict[str, Job] = {}
    for name, job in session.jobs():
        if isinstance(job, str):
            write(counted=name, failed=job)
        else:
            left[name] = job
    while left:
        wanted = {}
        for name, job in list(left.items()):
            write(start=name)
            lacking = job.step()
            if lacking:
                wanted[name] = lacking
            else:
                write(counted=name, names=job.names, **job.result())
                if session.request.operations:
                    original = Original(job.subject.original, session.source, job.arguments)
                    write(operated=name, **original.steps(job.chosen))
                del left[name]
        if wanted:
            write(wanted=wanted)
            next(go_on)


def main() -> None:
    """Answer one request."""
    request = CountRequest(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    lines = iter(os.fdopen(os.dup(0), encoding="utf-8"))
    faulthandler.dump_traceback_later(request.limit, exit=True)
    # arrays are mapped, but take memory only where they are touched
    restrict(address_space=False)
    with Path(request.reply).open("a", encoding="utf-8") as reply:
        try:
            session = Session(request)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            reply.write(json.dumps({"fatal": f"the module cannot be loaded: {reason}"}) + "\n")
            return
        answer(session, reply, lines)
        reply.write(json.dumps({"end": True}) + "\n")


if __name__ == "__main__":
    main()
