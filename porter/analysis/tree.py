"""The files of a run: from the cache what still holds, the rest by as many processes as pay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.analysis.cache import Cache
from porter.analysis.question import Answer, Question, ask
from porter.output.progress import Progress
from porter.rules.engine import Analysis
from porter.source.files import SourceFile


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
    from porter.analysis.workers import process_count, shared_out

    count = processes or process_count(len(pending))
    with Progress("analyzing") as progress:
        done = len(work.files) - len(pending)
        progress.step(f"{done} of {len(work.files)} files")
        several = shared_out(work, pending, count) if count > 1 else None
        for n, answer in several or ((n, work(n)) for n in pending):
            yield n, answer
            done += 1
            progress.step(f"{done} of {len(work.files)} files")


def _lost(source: SourceFile) -> Answer:
    problem = f"{source.path}: the process that analyzed it was ended"
    return Answer((), (), (problem,), frozenset())
