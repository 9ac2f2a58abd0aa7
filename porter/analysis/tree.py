"""The files of a run: from the cache what still holds, the rest by as many processes as pay."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.analysis.cache import Cache
from porter.analysis.question import Answer, Question, ask
from porter.rules.engine import Analysis
from porter.rules.registry import all_rules
from porter.source.files import SourceFile
from porter.support.progress import Progress

#: files that it takes to make another process worth starting
FILES_PER_PROCESS = 8


def analyze_files(
    files: Sequence[SourceFile],
    question: Question,
    cache: Cache | None = None,
    processes: int | None = None,
) -> list[Analysis]:
    """The analysis of every file, in their order, however many processes made them."""
    answers: dict[int, Answer] = {}
    for n, source in enumerate(files):
        known = cache.find(source) if cache else None
        if known is not None:
            answers[n] = known
    pending = [n for n in range(len(files)) if n not in answers]
    if pending:
        answers |= _answers(_Work(files, question, cache), pending, processes)
        if cache:
            cache.sweep()
    return [(answers.get(n) or _lost(source)).on(source) for n, source in enumerate(files)]


@dataclass(frozen=True)
class _Work:
    """Answers for one file, by its number, and keeps it."""

    files: Sequence[SourceFile]
    question: Question
    cache: Cache | None

    def __call__(self, number: int) -> Answer:
        answer = ask(self.files[number], self.question)
        if self.cache:
            self.cache.store(self.files[number], answer)
        return answer


def _answers(
    work: _Work, pending: Sequence[int], processes: int | None
) -> Iterator[tuple[int, Answer]]:
    count = processes or process_count(len(pending))
    if count > 1:
        _prepare()
    with Progress("analyzing") as progress:
        done = len(work.files) - len(pending)
        progress.step(f"{done} of {len(work.files)} files")
        several = _shared_out(work, pending, count) if count > 1 else None
        for n, answer in several or ((n, work(n)) for n in pending):
            yield n, answer
            done += 1
            progress.step(f"{done} of {len(work.files)} files")


def _prepare() -> None:
    """Import what most files need before there are children: they share it, and start at once."""

    all_rules()
    gc.collect()
    gc.freeze()  # what is there stays: a collection in a child would copy it


def _shared_out(
    work: _Work, pending: Sequence[int], processes: int
) -> Iterator[tuple[int, Answer]]:
    # start-up: few files are analysed without other processes
    from porter.analysis.workers import shared_out

    try:
        yield from shared_out(work, pending, processes)
    finally:
        gc.unfreeze()


def process_count(files: int) -> int:
    """How many processes serve so many files: as many as may run at once, if there is enough."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return max(1, min(cores, files // FILES_PER_PROCESS))


def _lost(source: SourceFile) -> Answer:
    problem = f"{source.path}: the process that analyzed it was killed"
    return Answer((), (), (problem,), frozenset())
