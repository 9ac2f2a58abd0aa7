"""PRT913 for `# porter: domain` comments that cannot be served."""

from __future__ import annotations

from collections.abc import Iterator

from porter.diagnostics import Diagnostic, Span
from porter.rules.converter.domain_comment import DomainComment


def domain_comments(text: str, path: str) -> Iterator[Diagnostic]:
    """One finding for each such comment of a source file that `ast` can parse."""
    if "porter:" not in text.lower():
        return
    # most files have no such comments and need not wait for the import
    from porter.verify.inputs.domains import problems

    help = "write conditions of parameters, such as `x > 0` or `0 <= k < len(x)`"
    for comment, function, problem in problems(text):
        span = Span(comment.line, comment.start + 1, comment.line, comment.end + 1)
        yield DomainComment.at(path, span, problem, help, function)
