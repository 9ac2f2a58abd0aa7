"""What is verified: a function in two forms, and how a verification ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from porter.codegen.module.header import FunctionRecord
from porter.verify.evidence import Mismatch
from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.domains import Domain


class MismatchFound(Exception):
    """Ends a verification: the functions differ."""

    def __init__(
        self, mismatch: Mismatch, spec: CaseSpec | None = None, inputs: Inputs | None = None
    ) -> None:
        super().__init__(mismatch.message)
        self.mismatch, self.spec, self.inputs = mismatch, spec, inputs


@dataclass(frozen=True)
class Version:
    """The generated function with one choice of block sizes; those in `large` take the kernels for
    large arrays for all, where there are such."""

    function: Callable[..., Any]
    blocks: dict[str, int]
    large: Sequence[Version] = ()


@dataclass(frozen=True)
class Subject:
    """What is verified; `small` has small blocks, `own` those of the module; `rough` is the
    original with random roundings; `domain` is what the source says of the arguments; `many` has
    grids of more blocks than threads (None: as `small`); `typed` if it asks for dtypes; `hints` is
    what its checks and its docstring say of the arguments."""

    record: FunctionRecord
    original: Callable[..., Any]
    rough: Callable[..., Any]
    small: Version
    own: Version
    indices: frozenset[str] = frozenset()
    marks: tuple[float, ...] = ()
    domain: Domain = Domain()  # noqa: RUF009 (immutable)
    many: Version | None = None
    typed: bool = False
    hints: Domain = Domain()  # noqa: RUF009 (immutable)
