"""The formats of `porter analyze` that other programs read; each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from porter.rules.engine import Analysis

#: of analyses and the signatures of the configuration
Format = Callable[[Sequence[Analysis], Mapping[str, str]], str]


def _json(analyses: Sequence[Analysis], _: Mapping[str, str]) -> str:
    from porter.output.analysis import as_json

    return as_json(analyses)


def _github(analyses: Sequence[Analysis], _: Mapping[str, str]) -> str:
    from porter.output.github import as_github

    return as_github(analyses)


def _sarif(analyses: Sequence[Analysis], _: Mapping[str, str]) -> str:
    from porter.output.sarif import as_sarif

    return as_sarif(analyses)


def _html(analyses: Sequence[Analysis], signatures: Mapping[str, str]) -> str:
    from porter.output.report.page import as_html

    return as_html(analyses, signatures)


#: what says everything, whatever else is asked for
FORMATS: dict[str, Format] = {"json": _json, "github": _github, "sarif": _sarif, "html": _html}
