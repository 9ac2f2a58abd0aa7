"""The host function: its head and its statements, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

from porter import ir
from porter.codegen.host.calls import HostCalls, size_test
from porter.codegen.host.head import head
from porter.codegen.host.outline import Known
from porter.codegen.host.pipeline import Pipeline
from porter.codegen.host.prologue import Prologue
from porter.codegen.host.results import Results
from porter.codegen.host.workspaces import unseen
from porter.codegen.module.docstrings import placeholder
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch
from porter.schedule.turns.replays import Replay, replay


class HostFunction(Prologue, Pipeline, HostCalls, Results):
    """Writes one host function; the kernels are written when their launch is reached."""

    #: the tests of sizes that have been made wherever the current line is reached
    tested: frozenset[tuple[str, tuple[ir.Expr, ...]]] = frozenset()

    @cached_property
    def unseen(self) -> frozenset[str]:
        """The arrays that are the next call's again."""
        return unseen(self.plan)

    # -- the function ----------------------------------------------------------------

    def write(self) -> str:
        """The text of the host function."""
        early = [c for c in self.pending if self._ready(c)]
        self.pending = [c for c in self.pending if c not in early]
        asserted = [i for i in self.plan.items if isinstance(i, ir.Host) and i.first]
        self._body([i for i in self.plan.items if i not in asserted])
        assert not self.pending, "the plan has been tested for checks that never can be made"
        self.pending = early
        body, self.out.lines = self.out.lines, []
        for statement in asserted:
            self.host_statement(statement)
        tests, self.out.lines = self.out.lines, []
        self._prologue(tests)
        head = self._head()
        if not any(isinstance(i, ir.Return) for i in self.plan.items):
            body += self._epilogue_lines()
        return "\n".join([*head, *self.out.lines, *body])

    def known(self, kernels: Sequence[str]) -> Known:
        """The names of the function that has been written, by what they are."""
        arrays = {*map(self.buffer, self.plan.buffers), "error"}
        each = [q for p in self.plan.parameters for q in (p, *p.items)]
        integers = {q.name for q in each if q.ndim is None and q.dtype.kind in "iu" and not q.items}
        types = frozenset(self.naming.types.values())
        return Known(frozenset(kernels), frozenset(arrays), frozenset(integers), types)

    def _head(self) -> list[str]:
        positional, keywords = (
            [p.name if p.default is None else f"{p.name}={p.default}"
             for p in self.plan.parameters if p.keyword == keyword and not p.attribute]
            for keyword in (False, True)
        )  # fmt: skip
        if any(p.attribute for p in self.plan.parameters):
            positional = ["self", *positional]
        draws = bool(self.plan.states)
        lines = [head(self.plan.name, positional, keywords, self.target, draws)]
        if self.plan.docstring is not None:
            lines.append(f'    """{placeholder(self.plan.name)}"""')
        return lines

    # -- statements ------------------------------------------------------------------

    def _body(self, items: Sequence[object]) -> None:
        if not items and self.out.indent > 1:
            self.emit("pass")
        before = self.tested
        for item in items:
            if (test := size_test(item)) is not None:
                if test in self.tested:
                    continue
                self.tested |= {test}
            self._item(item)
        self.tested = before

    def _item(self, item: object) -> None:
        match item:
            case ir.Alloc(buffer, _):
                text = self._shape(buffer.shape)
                dtype = self._dtype_value(buffer.dtype)
                if buffer.name in self.unseen:
                    made = self.target.workspace(buffer.name, text, dtype)
                else:
                    made = self.target.new(text, dtype)
                self.emit(f"{buffer.name} = {self.spelled(made)}")
            case ir.Let(name, value, origin):
                self.comment(origin)
                self.emit(f"{name} = {self.host.text(value)}")
                self._known(name)
            case Launch():
                self._launch(item)
            case ir.Fetch(name, buffer, origin):
                self.comment(origin)
                fetched = self.spelled(self.target.fetched(self.buffer(buffer)))
                self.emit(f"{name} = int({fetched}[()])")
                self._known(name)
            case ir.Bind(names, buffers, _):
                left = ", ".join(self.buffer(n) for n in names)
                self.emit(f"{left} = {', '.join(self.buffer(b) for b in buffers)}")
            case ir.Host():
                self.host_statement(item)
            case ir.Jump(kind, _):
                self.emit(kind)
            case ir.Return():
                self._return(item)
            case HostLoop() | HostWhile() | HostIf():
                self._nested(item)
            case _:
                raise AssertionError(type(item).__name__)

    def _known(self, name: str) -> None:
        """A name that the host has a value for by now: checks that waited for it follow."""
        self.naming.used.add(name)
        for c in [c for c in self.pending if self._ready(c)]:
            self._check(c)
            self.pending.remove(c)

    def _nested(self, item: HostLoop | HostWhile | HostIf) -> None:
        match item:
            case HostLoop() if self._replayed(item):
                pass
            case HostLoop(index, lo, hi, step, body, origin):
                if origin.construct is not ir.Construct.FOR:
                    self.comment(origin)  # no loop of the user's
                start, stop = self.host.poly(lo), self.host.poly(hi)
                parts = [stop] if start == "0" and step == 1 else [start, stop]
                parts += [str(step)] if step != 1 else []
                with self.loops.inside(item, self.out):
                    self._block(f"for {index} in range({', '.join(parts)}):", body)
            case HostWhile(cond, body, _):
                with self.loops.inside(item, self.out):
                    self._block(f"while {self.host.text(cond)}:", body)
            case HostIf(cond, body, orelse, _):
                self._block(f"if {self.host.text(cond)}:", body)
                if orelse:
                    self._block("else:", orelse)

    def _replayed(self, loop: HostLoop) -> bool:
        """Write a loop as a turn and its repetition, if a graph can replay that."""
        found = replay(loop) if self.target.replays() else None
        if found is None:
            return False
        turn = self.naming.take("turn")
        with self.loops.inside(loop, self.out) as written:
            if loop.origin.construct is not ir.Construct.FOR:
                self.comment(loop.origin)
            self.emit(f"def {turn}(stream):")
            self.out.indent += 1
            if found.moved:
                self.emit(f"nonlocal {', '.join(map(self.buffer, found.moved))}")
            self._body(loop.body)
            self.out.indent -= 1
        self._apart_from_statements(written.line)
        self._apart_from_statements(len(self.out.lines))
        given = [turn, self.host.poly(loop.hi - loop.lo), "stream"]
        given += [f"period={found.period}"] if found.period > 1 else []
        given += [f"settled={found.settled}"] if found.settled else []
        alike = list(dict.fromkeys(self._copied_in_turn(found)))
        if alike:
            self._needs("_same_memory")
            either = " or ".join(alike)
            given.append(f"graph=not {either if len(alike) == 1 else f'({either})'}")
        self._needs("_repeat")
        self.emit(f"_repeat({', '.join(given)})")
        return True

    def _copied_in_turn(self, found: Replay) -> Iterator[str]:
        """Questions whether a turn has to copy arrays, which no graph can."""
        for kernel in found.kernels:
            for read, stored in self.overlap.crossing.get(kernel.name, ()):
                others = [x for w in stored for x in sorted(found.among(w))]
                for r, w in product(sorted(found.among(read)), others):
                    if r != w:
                        one, other = sorted((self.buffer(r), self.buffer(w)))
                        yield f"_same_memory({one}, {other})"

    def _apart_from_statements(self, line: int) -> None:
        """A blank line beside a function, but not where a block begins."""
        if not line or not self.out.lines[line - 1].endswith(":"):
            self.out.lines.insert(line, "")

    def _block(self, head: str, body: Sequence[object]) -> None:
        self.emit(head)
        self.out.indent += 1
        self._body(body)
        self.out.indent -= 1
