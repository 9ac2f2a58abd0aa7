"""Random loops over elements: stores, folds, flags, and bodies with branches of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.programs.statements import arrays_of, mark

if TYPE_CHECKING:
    from tests.programs.strategy import Writer


class Elements:
    """Scalar terms inside a loop nest over indices whose ranges leave a margin."""

    def __init__(self, w: Writer, axes: dict[str, int], margin: dict[str, tuple[int, int]]) -> None:
        self.w, self.axes, self.margin = w, axes, margin
        self.exact = True

    def subscript(self, size: int, shift: bool = True) -> str | None:
        """An index expression that stays inside a dimension of that size."""
        c = self.w.choice
        fitting = [i for i, n in self.axes.items() if n == size]
        if not fitting:
            return c.pick(["0", "-1", "1"]) if c.chance(25) else None
        index = c.pick(fitting)
        low, high = self.margin[index]
        offset = c.integer(-low, high) if shift and c.chance(50) else 0
        return index if not offset else f"{index} {'+' if offset > 0 else '-'} {abs(offset)}"

    def element(self, name: str, shift: bool = True) -> str | None:
        """One element of an array, or None if its dimensions do not fit the loops."""
        parts = [self.subscript(n, shift) for n in self.w.scope.values[name].shape]
        return None if None in parts else f"{name}[{', '.join(map(str, parts))}]"

    def term(self, depth: int) -> str:
        """A scalar expression."""
        c, scope = self.w.choice, self.w.scope
        if depth <= 0 or c.chance(20):
            name = c.pick(arrays_of(self.w))
            found = self.element(name)
            if found is None or c.chance(15):
                return c.pick(["2", "steps", *self.axes])  # type: ignore[no-any-return]
            self.exact = self.exact and name not in scope.inexact
            return found
        x, y = self.term(depth - 1), self.term(depth - 1)
        form = c.pick(["({0} + {1})", "({0} - {1})", "{0} * {1}", "({0} * 2 - {1})", "abs({0})",
                       "max({0}, {1})", "min({0}, {1})", "np.sqrt(abs({0}))", "({0} / 2)",
                       "({0} if {1} > 0 else {1})", "np.maximum({0}, 0)", "-{0}"])  # fmt: skip
        if "sqrt" in form:
            self.exact = False
        return form.format(x, y)  # type: ignore[no-any-return]


def holds(w: Writer, term: str) -> str:
    """A test of a number."""
    if w.choice.chance(70):
        return f"{term} > 0"
    form = w.choice.pick(["{0} in (0, 1, 2, 5)", "{0} not in (-1, 0, 3)", "{0} in range(4)",
                          "{0} in range(9, -9, -3)", "0 <= {0} < 7", "not {0} > 0",
                          "{0} in (steps, 1)"])  # fmt: skip
    return str(form.format(term))


def _loop_heads(w: Writer, name: str) -> tuple[list[str], Elements]:
    axes: dict[str, int] = {}
    margin: dict[str, tuple[int, int]] = {}
    heads = []
    for d, (index, size) in enumerate(zip("ijl", w.scope.values[name].shape, strict=False)):
        low, high = w.choice.pick([(0, 0), (0, 0), (1, 1), (1, 0), (0, 1)])
        axes[index], margin[index] = size, (low, high)
        stop = f"{name}.shape[{d}]" + (f" - {high}" if high else "")
        heads.append(f"for {index} in range({f'{low}, ' if low else ''}{stop}):")
    return heads, Elements(w, axes, margin)


def element_loop(w: Writer) -> None:
    """A loop nest that stores one element per iteration."""
    name = w.choice.pick(arrays_of(w, 1, 2) or [""])
    if not name:
        return
    heads, elements = _loop_heads(w, name)
    value = elements.term(2)
    place = f"{name}[{', '.join(elements.axes)}]"
    op = w.choice.pick(["=", "=", "+=", "-="])
    body = [f"{place} {op} {value}"]
    if w.choice.chance(25) and elements.exact:
        body = [f"if {holds(w, elements.term(1))}:", f"    {body[0]}"]
    elif w.choice.chance(20):
        body = [f"v = {value}", f"{place} {op} v * 2"]
    _run_loop(w, heads, body, name, elements.exact)


def _cuts(w: Writer, elements: Elements, out: str) -> bool:
    """Whether a store would cut off a fraction that rounding decides."""
    return not elements.exact and w.scope.values[out].dtype.kind in "biu"


def fold_loop(w: Writer) -> None:
    """A loop that folds into a scalar, stored per row or used afterwards."""
    name = w.choice.pick(arrays_of(w, 1, 2) or [""])
    if not name:
        return
    heads, elements = _loop_heads(w, name)
    value = elements.term(1)
    acc = w.fresh()
    start = w.choice.pick(["0.0", "0.0", "0", "1.0"])
    fold_ = w.choice.pick(
        [f"{acc} += {value}", f"{acc} += {value}", f"{acc} = max({acc}, {value})"]
    )
    if len(heads) == 1:
        lines = [f"{acc} = {start}", heads[0], f"    {fold_}"]
        if w.run(lines):
            w.scope.values.pop(acc, None)
            out = w.choice.pick(arrays_of(w))
            w.run([f"{out}[0] = {acc}"]) if acc in w.scope.values else None
        return
    rows = [n for n in arrays_of(w, 1, 1) if w.scope.values[n].shape[0] == elements.axes["i"]]
    if not rows:
        return
    out = w.choice.pick(rows)
    lines = [heads[0], f"    {acc} = {start}", f"    {heads[1]}", f"        {fold_}",
             f"    {out}[i] = {acc}"]  # fmt: skip
    if not _cuts(w, elements, out) and w.run(lines):
        for index in "ij":
            w.scope.values.pop(index, None)
        w.scope.values.pop(acc, None)
        mark(w, out, elements.exact, keep=True)


def nested_fold(w: Writer) -> None:
    """A fold whose terms are made of an inner fold, started anew for each row."""
    if w.scope.special:
        return  # sums of the extremes of int64 in floats depend on their order
    name, out = w.choice.pick(arrays_of(w, 2, 2) or [""]), w.choice.pick(arrays_of(w, 1, 1) or [""])
    if not name or not out:
        return
    heads, elements = _loop_heads(w, name)
    acc, row = w.fresh(), w.fresh()
    inner = w.choice.pick(
        [f"{row} += {elements.term(1)}", f"{row} = max({row}, {elements.term(1)})"]
    )
    whole = w.choice.pick([f"{row}", f"{row} * 2 - {row}", f"({row} - 1) * {row}"])
    lines = [f"{acc} = {w.choice.pick(['0.0', '0', '1.0'])}", heads[0],
             f"    {row} = {w.choice.pick(['0.0', '1.0', '0.5'])}", f"    {heads[1]}",
             f"        {inner}"]  # fmt: skip
    if w.choice.chance(30) and elements.exact:
        lines += [f"    if {row} > 2:", f"        {row} = {row} + 1"]
    lines += [f"    {acc} += {whole}", f"{out}[0] = {acc}"]
    if not _cuts(w, elements, out) and w.run(lines):
        for gone in ("i", "j", acc, row):
            w.scope.values.pop(gone, None)
        mark(w, out, False, keep=True)


def flag_loop(w: Writer) -> None:
    """A loop that sets a variable to one value, and may store beside."""
    name, out = w.choice.pick(arrays_of(w, 1, 2) or [""]), w.choice.pick(arrays_of(w, 1, 1) or [""])
    if not name or not out:
        return
    heads, elements = _loop_heads(w, name)
    test, value, flag = holds(w, elements.term(1)), elements.term(1), w.fresh()
    if not elements.exact:
        return
    start, after = w.choice.pick([("0", "1"), ("1", "0"), ("False", "True"), ("2", "5")])
    pad = "    " * len(heads)
    lines = [f"{flag} = {start}", *(f"{'    ' * d}{h}" for d, h in enumerate(heads))]
    lines += [f"{pad}if {test}:"]
    if w.choice.chance(40):
        lines += [f"{pad}    {name}[{', '.join(elements.axes)}] = {value}"]
    lines += [f"{pad}    {flag} = {after}", f"{out}[0] = {flag}"]
    if w.run(lines):
        for gone in ("i", "j", flag):
            w.scope.values.pop(gone, None)
        mark(w, name, elements.exact, keep=True)
        mark(w, out, elements.exact, keep=True)


def busy_loop(w: Writer) -> None:
    """A loop with variables of an iteration, two accumulators, alternatives and `continue`."""
    if w.scope.special:
        return
    name, out = w.choice.pick(arrays_of(w, 1, 2) or [""]), w.choice.pick(arrays_of(w, 1, 1) or [""])
    if not name or not out:
        return
    heads, elements = _loop_heads(w, name)
    first, second, value = w.fresh(), w.fresh(), w.fresh()
    body = _Iteration(w, elements, (first, second), value)
    lines = [f"{first} = {w.choice.pick(['0.0', '0', '1.0'])}", f"{second} = 0.0"]
    lines += [f"{value} = 1.0"] if w.choice.chance(15) else []
    lines += [f"{'    ' * d}{h}" for d, h in enumerate(heads)]
    inside = [f"{value} = {body.term()}", *body.block(2), *body.block(2), *body.block(1)]
    lines += ["    " * len(heads) + line for line in inside]
    lines += [f"{out}[0] = {first}", f"{out}[-1] = {second}"]
    if not _cuts(w, elements, out) and w.run(lines):
        for gone in ("i", "j", first, second, value):
            w.scope.values.pop(gone, None)
        mark(w, out, False, keep=True)


@dataclass
class _Iteration:
    """Statements of one iteration, which may assign `value` and add to the accumulators."""

    w: Writer
    elements: Elements
    accumulators: tuple[str, str]
    value: str

    def term(self) -> str:
        """A scalar, of this iteration's variable or not."""
        return self.elements.term(1)

    def read(self) -> str:
        """A term that reads the variable, usually."""
        form = self.w.choice.pick(["{0}", "{0} * 2", "{0} + {1}", "{1} - {0}", "{1}"])
        return str(form.format(self.value, self.term()))

    def block(self, depth: int) -> list[str]:
        """A statement, with others in its branches."""
        c = self.w.choice
        kind = c.pick(["add", "add", "set", "branch", "branch", "continue", "extreme"])
        acc = c.pick(self.accumulators)
        if kind in ("branch", "continue"):
            test = self.term()
            if depth and self.elements.exact:
                if kind == "continue":
                    return [f"if {test} {c.pick(['> 0', '== 1', '!= 0'])}:", "    continue"]
                return self._branch(test, depth)
        if kind == "set":
            return [f"{self.value} = {self.read()}"]
        if kind == "extreme" and c.chance(50):
            return [f"{acc} = max({acc}, {self.read()})"]
        return [f"{acc} {c.pick(['+=', '+=', '-='])} {self.read()}"]

    def _branch(self, test: str, depth: int) -> list[str]:
        c = self.w.choice
        lines = [f"if {holds(self.w, test)}:", *self._indented(depth)]
        if c.chance(30) and self.elements.exact:
            lines += [f"elif {self.term()} > 1:", *self._indented(depth)]
        return [*lines, "else:", *self._indented(depth)] if c.chance(40) else lines

    def _indented(self, depth: int) -> list[str]:
        lines = [x for _ in range(self.w.choice.integer(1, 2)) for x in self.block(depth - 1)]
        return [f"    {line}" for line in lines]


def _run_loop(w: Writer, heads: list[str], body: list[str], name: str, exact: bool) -> None:
    lines = [f"{'    ' * d}{head}" for d, head in enumerate(heads)]
    lines += [f"{'    ' * len(heads)}{line}" for line in body]
    if w.run(lines):
        for index in ("i", "j", "l", "v"):
            w.scope.values.pop(index, None)
        mark(w, name, exact, keep=True)


#: each kind of loop and how often it is tried
LOOPS: list[tuple[Callable[[Any], None], int]] = [
    (element_loop, 3), (fold_loop, 2), (nested_fold, 1), (flag_loop, 1), (busy_loop, 2),
]  # fmt: skip
