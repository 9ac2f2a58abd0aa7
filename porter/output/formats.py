"""The formats of `porter analyze` that other programs read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from porter.output.analysis import as_json
from porter.output.github import as_github
from porter.output.sarif import as_sarif
from porter.rules.engine import Analysis

#: of analyses and the signatures of the configuration
Format = Callable[[Sequence[Analysis], Mapping[str, str]], str]


def _html(analyses: Sequence[Analysis], signatures: Mapping[str, str]) -> str:
    # start-up: the report needs Jinja2, libcst and a highlighter
    from porter.output.report.page import as_html

    return as_html(analyses, signatures)


#: what says everything, whatever else is asked for
FORMATS: dict[str, Format] = {
    "json": lambda analyses, _: as_json(analyses),
    "github": lambda analyses, _: as_github(analyses),
    "sarif": lambda analyses, _: as_sarif(analyses),
    "html": _html,
}
