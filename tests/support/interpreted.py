"""Programs of the corpus on the reference interpreter, before and after each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from porter import ir
from porter.convert.passes import steps
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import FunctionSource, SourceModule
from tests.corpus.inputs import CASES
from tests.corpus.sources import source_of


@cache
def _functions(path: Any) -> tuple[dict[str, FunctionSource], Globals]:
    module = SourceModule(path.read_text(encoding="utf-8"), str(path))
    return {f.name: f for f in module.functions}, Globals(module)


def program_of(key: str) -> ir.Program:
    """The array program of a case, for its own signature."""
    functions, scope = _functions(source_of(key))
    function = functions[key.partition(":")[2]]
    program = build(function, next(candidates(function, CASES[key].signature)), scope)
    return replace(program, allow_serial=CASES[key].serial)


Version = tuple[str, tuple[ir.Stmt, ...], dict[str, ir.Buffer]]


def versions(program: ir.Program) -> Iterator[Version]:
    """The statements at the start and after each pass that changes them."""
    before = None
    for name, body, context in steps(program):
        if body != before:
            yield name, body, dict(context.buffers)
        before = body


def run_with(
    program: ir.Program, body: tuple[ir.Stmt, ...], buffers: dict[str, ir.Buffer], *args: Any
) -> Any:
    return run(program, args, body, buffers)
