"""Calls with large arrays of the host, by chunks of rows on several streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from porter.codegen.host.head import own_keywords
from porter.codegen.host.launches import Launches
from porter.codegen.host.leading import Leading
from porter.schedule.chunked.rows import Rows, rows_of
from porter.support.reserved import OWN_KEYWORDS, given


class Pipeline(Leading, Launches):
    """Writes the call of the function itself for chunks on the device, and what is said of it."""

    @cached_property
    def rows(self) -> Rows | str:
        """The arguments that are given in chunks, or why there are none."""
        found = rows_of(self.plan)
        if isinstance(found, Rows):
            found = self._callable(found) or found
        leading = self.plan.leading
        if isinstance(found, str) or leading is None:
            return found
        results = {v for r in self._returns for v in r.values if isinstance(v, str)}
        if any(leading.position(v) not in (0, None) for v in results):
            return "the leading axes of the arguments are not axis 0 of the results"
        known = {leading.position(v) for v in results}
        return found if len(known) == 1 else "only some of the results have the leading axes"

    def _callable(self, rows: Rows) -> str:
        """Why the function cannot be called for chunks as it is called; '' if it can."""
        if self.errors:
            return "the host waits for what each launch reports"
        if any(p.attribute for p in self.plan.parameters):
            return "it is a method"
        if any(p.keyword and p.name in rows.arrays for p in self.plan.parameters):
            return "an array is passed by keyword"
        own = {given(p.name) for p in self.plan.parameters} & {*OWN_KEYWORDS}
        return f"a parameter is called `{min(own)}`" if own else ""

    def _in_chunks(self) -> None:
        """Call the function for chunks, where it can be and the arguments are large."""
        if not self.target.extras.pipeline or not isinstance(self.rows, Rows):
            return
        self._needs("_pipelined", "_blocks", "_on_device")
        self.needs.numpy = True
        chunked = self.rows.arrays
        self.emit(f"if not on_device and _in_chunks({', '.join(chunked)}):")
        for p in self.arrays:
            if p.name not in chunked and self._is_used(p.name):
                self.emit(f"    {p.name} = _whole_on_device({p.name}, stream)")
        passed = [p.name for p in self.plan.parameters if not p.keyword]
        places = [str(k) for k, name in enumerate(passed) if name in chunked]
        own = [n for n in own_keywords(self.target, draws=False) if n != "stream"]
        keywords = [p.name for p in self.plan.parameters if p.keyword]
        arguments = [
            self.plan.name, in_tuple(passed), in_tuple(places), "stream", *self._lead(),
            *(f"{name}={name}" for name in (*keywords, *own)),
        ]  # fmt: skip
        self.emit(f"    return _pipelined({', '.join(arguments)})")

    def _lead(self) -> Sequence[str]:
        """The axes in place of the rows, where there may be any number of them."""
        if self.elementwise:
            return ["shape"]
        leading = self.plan.leading
        results = {v for r in self._returns for v in r.values if isinstance(v, str)}
        with_lead = leading is not None and any(leading.position(v) == 0 for v in results)
        return ["lead"] if with_lead else []

    def _is_used(self, name: str) -> bool:
        return name in self.naming.mentioned or name in self.overlap.written

    def remarks(self) -> Iterator[str]:
        """What is said of launches and of chunks where they are asked for."""
        extras = self.target.extras
        if extras.forall:
            for free, words in ((True, "launched with forall"), (False, "launched on grids")):
                names = [given(n) for n, is_free in self.for_all.items() if is_free is free]
                if names:
                    yield f"{words}: {', '.join(names)}"
        if extras.pipeline and isinstance(self.rows, Rows):
            arrays = ", ".join(map(given, self.rows.arrays))
            yield f"large calls run in chunks of axis 0 on {extras.pipeline} streams: {arrays}"
        elif extras.pipeline:
            yield f"runs whole, not in chunks: {given(str(self.rows))}"


def in_tuple(parts: Sequence[str]) -> str:
    """A tuple of names, in the text of a call."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
