"""What is asked of every file of a run, and the answer in the form that is kept and sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from porter.analysis.codec import decoder, encode
from porter.config import Config
from porter.diagnostics import Diagnostic
from porter.rules.engine import Analysis, analyze
from porter.rules.verdicts import Verdict
from porter.source.files import SourceFile
from porter.source.others import watched


@dataclass(frozen=True)
class Question:
    """The settings that an answer depends on; which codes are shown is decided afterwards."""

    signatures: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    allow_serial: bool = False
    cost: Mapping[str, float] = field(default_factory=dict)
    everything: bool = False


@dataclass(frozen=True)
class Answer:
    """What is said of a file, without its text; `others` are the files that it depends on."""

    diagnostics: tuple[Diagnostic, ...]
    functions: tuple[Verdict, ...]
    problems: tuple[str, ...]
    names: frozenset[str]
    others: frozenset[str] = frozenset()
    everything: bool = False

    def on(self, source: SourceFile) -> Analysis:
        """The analysis of the file that was asked about."""
        return Analysis(
            source, self.diagnostics, self.functions, self.problems, self.names,
            everything=self.everything,
        )  # fmt: skip

    def to_plain(self) -> Any:
        """The answer as JSON holds it."""
        return encode(self)

    @staticmethod
    def from_plain(data: Any) -> Answer:
        """The answer again; raises TypeError or ValueError when it is none."""
        answer: Answer = decoder(Answer)(data)
        return answer


def ask(source: SourceFile, question: Question) -> Answer:
    """Analyze one file."""
    with watched() as others:
        config = Config(
            signatures=question.signatures,
            allow_serial=question.allow_serial,
            cost=question.cost,
        )
        found = analyze(source, None, question.names, config, question.everything)
    return Answer(
        found.diagnostics, found.functions, found.problems, found.names, frozenset(others),
        question.everything,
    )  # fmt: skip
