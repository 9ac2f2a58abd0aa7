"""Counts of a module's functions as `porter analyze` reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from porter.bench.records import FunctionCounts
from porter.codegen.module.header import FunctionRecord, parse
from porter.dtypes.signatures import parse_types
from porter.trace.counts import Counted
from porter.verify.inputs.shapes import evaluate, parse_shapes


def recorded(module: Path, functions: Sequence[FunctionCounts], arch: str) -> Iterator[Counted]:
    """What was counted of compiled kernels, for the source that the header names."""
    header = parse(module.read_text("utf-8"))
    assert header is not None, "what was counted has a header"
    source = os.path.relpath((module.parent / header.source).resolve(), Path.cwd())
    for each in functions:
        record = header.function(each.name)
        arguments = None if record is None else arguments_of(record, each.size)
        if each.kernels and record is not None and arguments is not None:
            yield Counted(
                source, each.name, header.source_hash, record.signature, arch, arguments,
                each.launches, each.bytes, sum(k.instructions for k in each.kernels),
            )  # fmt: skip


def arguments_of(
    record: FunctionRecord, size: Mapping[str, int]
) -> dict[str, int | tuple[int, ...]] | None:
    """The shapes of arrays and the integers of a call of these sizes, by parameter."""
    found: dict[str, int | tuple[int, ...]] = {}
    shapes = parse_shapes(record.shapes)
    try:
        # the shapes line has all parameters in order
        for name, kind in zip(shapes, parse_types(record.signature), strict=True):
            if kind.kind == "array":
                found[name] = tuple(evaluate(e, size) for e in shapes[name])
            elif name in size:
                found[name] = size[name]
    except ValueError:
        return None
    return found
