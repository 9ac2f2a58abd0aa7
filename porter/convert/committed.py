"""What the module says that is already there: `convert --check` compares with that alone.

The header of a module tells what it was made of. As long as the source is unchanged, its functions
and their types are those of the header, and what was verified then need not be verified again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.codegen.module.header import FunctionRecord, Header, parse, text_hash
from porter.convert.function import Converted
from porter.source.files import SourceFile
from porter.source.module import FunctionSource
from porter.source.regular import MOST_DATA, read_regular_text


@dataclass(frozen=True)
class Committed:
    """The functions of a module that is there; none if it is missing or of another source."""

    records: dict[str, FunctionRecord]

    @classmethod
    def at(cls, place: Path | None, file: SourceFile) -> Committed:
        """The module at a place, if it was made of this very source."""
        header = None if place is None else _header(place)
        if header is None or header.source_hash != text_hash(file.text):
            return cls({})
        return cls({r.name: r for r in header.functions})

    def chosen(
        self, functions: Sequence[FunctionSource], usual: Sequence[FunctionSource]
    ) -> Sequence[FunctionSource]:
        """The functions to compare: those of the module, else the usual ones."""
        return [f for f in functions if f.name in self.records] or usual

    def signatures(self, name: str) -> tuple[str, ...] | None:
        """The types that a function was converted for, of each of its forms."""
        record = self.records.get(name)
        if record is None:
            return None
        return (record.signature, *(f.signature for f in record.forms))

    def restored(self, converted: Sequence[Converted]) -> list[Converted]:
        """With what conversion alone does not tell: dtypes that failed, types that were assumed."""
        return [self._restored(c, self.records.get(c.name)) for c in converted]

    def _restored(self, c: Converted, record: FunctionRecord | None) -> Converted:
        if record is None or record.signature != c.signature:
            return c
        typed = tuple(a for a in record.assumed if _is_of(a, c.assumable) and a not in c.assumed)
        c = c.leaving_out(record.without)
        said = {f.signature: f.assumed for f in record.forms}
        forms = tuple(
            replace(
                v, assumed=tuple(a for a in said.get(v.signature, ()) if _is_of(a, v.assumable))
            )
            for v in c.variants
        )
        return replace(c, assumed=(*typed, *c.assumed), variants=forms)


def _of(assumed: Sequence[str], assumable: Sequence[str]) -> tuple[str, ...]:
    return tuple(a for a in assumed if _is_of(a, assumable))


def _is_of(assumed: str, assumable: Sequence[str]) -> bool:
    """Whether an assumption is about the types, whatever they were taken from."""
    return any(assumed == a or assumed.startswith(f"{a} (") for a in assumable)


def _header(place: Path) -> Header | None:
    try:
        return parse(read_regular_text(place, MOST_DATA))
    except (OSError, UnicodeDecodeError):
        return None
