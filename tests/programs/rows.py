"""Random loops over rows: arrays of an iteration, and what a loop leaves to what follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.programs.loops import holds
from tests.programs.statements import arrays_of, augment, define, mark, nested, store

if TYPE_CHECKING:
    from tests.programs.strategy import Writer

_FOLDS = ["({0} * {0}).sum()", "({0} ** 2).sum()", "np.sum({0} * {1})", "{0}.max()",
          "np.abs({0}).sum()", "{0}.mean()", "np.sqrt(np.sum({0} * {0}))", "({0} > {1}).sum()",
          "{0}.min()", "np.linalg.norm({0} - {1})", "({0}.sum(axis=-1) ** 2).sum()",
          "({0} * ({1} * {0}).sum(axis=-1, keepdims=True)).sum()"]  # fmt: skip
_ROWS = ["{0} - {1}", "{0} + {1}", "{0} * {1}", "{0} - {1}.mean()", "np.maximum({0}, {1})",
         "2 * {0} - {1}", "np.where({0} > {1}, {0}, 0)", "{1} - {0}.min()", "{0} / 2",
         "np.abs({0} - {1})", "{0}[::-1] - {1}", "{0} * {1}.sum()", "{0} - {1}.max(axis=0)",
         "{0} * ({1} * {0}).sum(axis=-1, keepdims=True)"]  # fmt: skip


def pairs(w: Writer) -> None:
    """A loop over rows, or pairs of rows, that makes arrays of its own and folds them."""
    if w.scope.special:
        return  # sums of the extremes of int64 in floats depend on their order
    name = w.choice.pick(arrays_of(w, 2, 3) or [""])
    outs = [n for n in arrays_of(w, 1, 1) if w.scope.values[n].dtype.kind in "fc"]
    if not name or not outs:
        return
    others = [n for n in arrays_of(w, 2, 3)
              if w.scope.values[n].shape[1:] == w.scope.values[name].shape[1:]]  # fmt: skip
    other, out = w.choice.pick(others), w.choice.pick(outs)
    exact = not {name, other} & w.scope.inexact
    made = _Row(w, name, other, exact)
    lines = [f"for i in range(min({name}.shape[0], {out}.shape[0])):"]
    if w.choice.chance(70):
        first = w.choice.pick(["0", "0", "i + 1"])
        lines += [f"    for j in range({first}, {other}.shape[0]):"]
        made.second = f"{other}[j]"
    pad = "    " * len(lines)
    if w.choice.chance(40):
        test = w.choice.pick(["i != j", "j < i"]) if len(lines) == 2 else "i != 1"
        lines += [f"{pad}if not ({test}):", f"{pad}    continue"]
    lines += [pad + line for line in made.lines(out)]
    if w.run(lines):
        for gone in ("i", "j", *made.names):
            w.scope.values.pop(gone, None)
        mark(w, out, False, keep=True)
        mark(w, name, False, keep=True)


class _Row:
    """The statements of an iteration over rows."""

    def __init__(self, w: Writer, name: str, other: str, exact: bool) -> None:
        self.w, self.exact, self.names = w, exact, [w.fresh(), w.fresh(), w.fresh()]
        self.name, self.second = name, f"{other}[0]"

    def lines(self, out: str) -> list[str]:
        """One or two arrays, a number made of them, and a store."""
        c, (d, e, s) = self.w.choice, self.names
        lines = [f"{d} = {self._row(f'{self.name}[i]', self.second)}"]
        last = d
        if c.chance(40):
            kind = c.pick(["{1} = {0}", "{0} -= {2}", "{1} = {0}"])
            made = self._row(d, self.second)
            lines += [kind.format(made if "=" in kind[:5] else d, e, self.second)]
            last = e if kind.startswith("{1}") else d
        fold = c.pick(_FOLDS).format(last, d)
        if c.chance(50):
            lines += [f"{s} = {fold}"]
            fold = c.pick(["{0}", "{0} * 2", "1 / (1 + {0} * {0})"]).format(s)
            if self.exact and "mean" not in "".join(lines) and c.chance(50):
                return [*lines, f"if {holds(self.w, s)}:", f"    {self._store(out, fold, last)}"]
        return [*lines, self._store(out, fold, last)]

    def _row(self, first: str, second: str) -> str:
        return str(self.w.choice.pick(_ROWS).format(first, second))

    def _store(self, out: str, fold: str, row: str) -> str:
        if self.w.choice.chance(20):
            return f"{self.name}[i] = {row} * {fold}"
        return f"{out}[i] {self.w.choice.pick(['+=', '+=', '=', '-='])} {fold}"


def left_behind(w: Writer) -> None:
    """A loop or a branch that binds names first, which what follows may read."""
    before = set(w.scope.values)
    lines = nested(w, define, define, store, augment)
    heads = ["for _ in range(steps):", "for s in range(2):", "if steps > 1:", "for _ in range(3):"]
    if lines and w.run([w.choice.pick(heads), *lines]):
        _marked(w, before, lines)


def last_row(w: Writer) -> None:
    """A loop over rows that names each one, and a statement that reads the last one."""
    before = set(w.scope.values)
    name = w.choice.pick(arrays_of(w, 2, 3) or [""])
    if not name:
        return
    t = w.fresh()
    made = w.choice.pick(_ROWS).format(f"{name}[i]", f"{name}[0]")
    lines = [f"    {t} = {made}", f"    {name}[i] = {t} * 2" if w.choice.chance(50)
             else f"    {name}[i] += {t}"]  # fmt: skip
    if w.run([f"for i in range({name}.shape[0]):", *lines]):
        w.scope.values.pop("i", None)
        _marked(w, before, lines)


def _marked(w: Writer, before: set[str], lines: list[str]) -> None:
    for index in ("s", "_"):
        w.scope.values.pop(index, None)
    touched = [n for n in w.scope.arrays() if any(n in line for line in lines)]
    for n in {*touched, *(set(w.scope.values) - before)}:
        if isinstance(w.scope.values[n], (np.ndarray, np.generic)):
            mark(w, n, False)


#: each kind of loop and how often it is tried
ROWS: list[tuple[Callable[[Any], None], int]] = [(pairs, 3), (left_behind, 2), (last_row, 1)]
