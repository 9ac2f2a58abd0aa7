"""What is the same for all elements of a row is computed before the loop over them.

In `x - m - np.log(total)` the logarithm is that of a fold's result.  It gets a name: a step without
a fold stands before the one that needs it.  Compilers move a division out of a loop by themselves,
but not what has branches of its own, as every function of `math` has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.effects import defs_in
from porter.ir.rebuild import map_exprs
from porter.ir.walk import rewrite, scalars_of, walk
from porter.ir.weights import is_trivial, op_weight, weight
from porter.schedule.base import Around, Fold, Kernel
from porter.schedule.sharing import Step, sharers
from porter.schedule.within import members
from porter.sizes.polynomial import Symbol

#: what is lighter, a compiler does, and a name would not make clearer
_LEAST = op_weight("sqrt")
#: what a result is called
_WORDS = {"sqrt": "root", "truediv": "ratio", "pow": "power"}


def before_loops(kernel: Kernel, around: Around) -> Kernel:
    """The kernel with steps for what its loops over elements would compute again and again."""
    return _Row(kernel, around).moved()


class _Row:
    """The steps of a row, and what is known of it by now."""

    def __init__(self, kernel: Kernel, around: Around) -> None:
        self.kernel, self.around = kernel, around
        self.rows = {a.name for a in kernel.axes}
        self.results: dict[str, str] = {}  # of folds so far, with what they do
        self.known: dict[ir.Expr, ir.Local] = {}
        self.made: list[Step] = []
        self.stored = _stored(kernel, around)
        self.conditional = any(c.when or c.conditions for c in around.context.checks)

    def moved(self) -> Kernel:
        """The kernel with such steps."""
        steps, changed = list(self.kernel.parts), []
        for number, step in enumerate(steps):
            self.made = []
            if isinstance(step, ir.Stage):
                new: Step = self._stage(step)
            else:
                # a shared loop: what its folds need stands before the first of them
                group = [] if step.shared else [step, *sharers(steps[number + 1 :])]
                for k, fold in enumerate(group, number):
                    steps[k] = self._fold(fold)
                new = steps[number]
                assert isinstance(new, Fold)
                self._done(new)
            changed += [*self.made, new]
        return replace(self.kernel, steps=tuple(changed))

    def _done(self, step: Fold) -> None:
        """What the steps after a fold know."""
        self.results |= {step.name: "", **{n: r.op for n, r in step.reductions}}
        if step.store is None and isinstance(step.value, ir.Op):
            self.known.setdefault(step.value, ir.Local(step.name, step.value.dtype))

    def _fold(self, step: Fold) -> Fold:
        if step.argument:
            return step  # its element is that of the extreme
        reductions = tuple(
            (name, replace(r, body=rewrite(r.body, self._change({a.name for a in r.axes}, step))))
            for name, r in step.reductions
        )
        return replace(step, reductions=reductions)

    def _stage(self, step: ir.Stage) -> ir.Stage:
        if len(step.axes) == len(self.kernel.axes):
            return step  # one thread does it, once
        inside = {a.name for a in step.axes[len(self.kernel.axes) :]}
        change = self._change(inside | defs_in(step.body).scalars, step)
        return replace(step, body=tuple(map_exprs(s, change) for s in step.body))

    def _change(self, inside: Iterable[str], step: Step) -> Callable[[ir.Expr], ir.Expr | None]:
        names = set(inside)

        def change(e: ir.Expr) -> ir.Expr | None:
            found = isinstance(e, ir.Op) and e.dtype.kind == "f" and weight(e) >= _LEAST
            if not found or scalars_of(e) & names or not self._is_of_row(e):
                return None
            return self.known.get(e) or self._named(e, step.origin)

        return change

    def _named(self, e: ir.Expr, origin: ir.Origin) -> ir.Local:
        name = self.around.context.fresh(self._word(e))
        self.made.append(Fold(name, (), rewrite(e, self.known.get), origin))
        self.results[name] = ""
        self.known[e] = ir.Local(name, e.dtype)
        return self.known[e]

    def _word(self, e: ir.Expr) -> str:
        """What the value is called: its source has no name for it."""
        if not isinstance(e, ir.Op):
            return "row_value"
        first = e.args[0]
        if isinstance(first, ir.Local):
            count = e.op == "truediv" and not scalars_of(e.args[1]) & self.results.keys()
            if count and self.results.get(first.name) == "sum" and is_trivial(e.args[1]):
                return "mean"
            if e.op not in _WORDS and len(e.args) == 1:
                return f"{e.op}_{first.name}"
        return _WORDS.get(e.op, "row_value")

    # -- what may be computed before the loop ------------------------------------------------

    def _is_of_row(self, e: ir.Expr) -> bool:
        """Whether it is made of results of the row, and of nothing that another thread changes.

        It is computed for rows without elements, too: nothing in it may fail then.
        """
        parts = list(walk(e))
        own = any(
            isinstance(x, ir.Load) or (isinstance(x, ir.Local) and x.name in self.results)
            for x in parts
        )
        return own and all(map(self._is_safe, parts))

    def _is_safe(self, e: ir.Expr) -> bool:
        match e:
            case ir.Draw() | ir.Reduce() | ir.Object():
                return False
            case ir.Load():
                return self._is_there(e)
            case ir.Value(poly=poly):
                return all(isinstance(a, Symbol) for a in poly.atoms())
            case ir.Cast(arg=arg):
                return e.dtype.kind == "f" or arg.dtype.kind != "f"
            case ir.Op(op=op, args=args):
                floats = all(a.dtype.kind == "f" or isinstance(a, ir.Const) for a in args)
                return op_weight(op) == 1 or (e.dtype.kind == "f" and floats)
        return e.dtype.kind != "c"

    def _is_there(self, e: ir.Load) -> bool:
        """Whether this element is in memory, whatever the row has, and stays as it is."""
        buffer = self.around.context.buffers.get(e.buffer)
        if buffer is None or e.buffer in self.stored or e.dtype.kind == "c":
            return False
        if e.index and self.conditional:
            return False
        sizes = {a.name: a.hi for a in self.kernel.axes if a.lo.constant == 0}
        return all(
            p.name in sizes and sizes[p.name] == n
            for p, n in zip(e.index, buffer.shape, strict=True)
        )


def _stored(kernel: Kernel, around: Around) -> set[str]:
    """The arrays that the kernel stores into."""
    found = {a.buffer for a in accesses(members(kernel)) if a.write}
    return around.aliases.with_others(found, arguments=True)
