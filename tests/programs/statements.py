"""Random statements: assignments, stores through views and masks, loops, branches, joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.programs.terms import (
    LARGEST,
    PAIRS,
    VIEWS,
    Term,
    binary,
    condition,
    expression,
    fold,
    known,
    leaf,
    literal,
    rows,
)

if TYPE_CHECKING:
    from tests.programs.strategy import Writer

AUGMENTED = ["+=", "-=", "*=", "+=", "-=", "*=", "/="]
WHOLE_AUGMENTED = ["+=", "-=", "*=", "//=", "%=", "|=", "&=", "^=", "<<="]


def arrays_of(w: Writer, least: int = 1, most: int = 9) -> list[str]:
    """Arrays by number of dimensions."""
    return [n for n in w.scope.arrays() if least <= np.ndim(w.scope.values[n]) <= most]


def mark(w: Writer, name: str, exact: bool, keep: bool = False) -> None:
    """Note whether sums over an array still have one result."""
    if exact and not keep:
        w.scope.inexact.discard(name)
    if not exact:
        w.scope.inexact.add(name)
        for other, value in w.scope.values.items():
            if isinstance(value, np.ndarray) and isinstance(w.scope.values[name], np.ndarray):
                if np.shares_memory(value, w.scope.values[name]):
                    w.scope.inexact.add(other)


def define(w: Writer) -> None:
    """`t = expression`, of the shape of an array or of one of its views."""
    shape = w.choice.pick(w.scope.leaves()).shape
    made = expression(w.choice, w.scope, shape, w.choice.integer(1, 3))
    name = w.fresh()
    if w.run([f"{name} = {made.text}"]):
        mark(w, name, made.exact)


def rebind(w: Writer) -> None:
    """A name takes a new value of the same shape and dtype."""
    name = w.choice.pick(arrays_of(w) or [""])
    if not name or w.scope.shared(name):
        return
    value = w.scope.values[name]
    made = expression(w.choice, w.scope, value.shape, 2)
    same = np.shape(made.value) == value.shape and np.asarray(made.value).dtype == value.dtype
    if same and (w.choice.chance(10) or not w.scope.shares(made.value)):
        if w.run([f"{name} = {made.text}"]):
            mark(w, name, made.exact)


def target(w: Writer) -> tuple[str, Term] | None:
    """An array and a part of it that can be stored into."""
    names = arrays_of(w)
    if not names:
        return None
    name = w.choice.pick(names)
    ndim = np.ndim(w.scope.values[name])
    options = [
        v
        for v in VIEWS.get(ndim, ["{}[0]"])
        if "None" not in v and "newaxis" not in v and "." not in v[2:5]
    ]
    text = w.choice.pick(options).format(name)
    text = f"{name}[:]" if text == name else text
    value = w.scope.evaluate(text)
    return None if value is None else (name, Term(text, value, name not in w.scope.inexact))


def store(w: Writer) -> None:
    """`A[view] = expression`."""
    found = target(w)
    if found is None:
        return
    name, place = found
    made = expression(w.choice, w.scope, place.shape, w.choice.integer(1, 2))
    kinds = "biufc"
    if kinds.index(made.kind) > kinds.index(place.kind) and place.kind != "f":
        return
    if w.run([f"{place.text} = {made.text}"]):
        mark(w, name, made.exact, keep=True)


def augment(w: Writer) -> None:
    """`A[view] op= expression`."""
    found = target(w)
    if found is None:
        return
    name, place = found
    made = expression(w.choice, w.scope, place.shape, w.choice.integer(0, 2))
    op = w.choice.pick(WHOLE_AUGMENTED if place.kind in "iu" and made.kind in "iu" else AUGMENTED)
    right = w.choice.pick(["1", "2"]) if op == "<<=" else made.text
    left = name if place.text == f"{name}[:]" and w.choice.chance(70) else place.text
    if w.run([f"{left} {op} {right}"]):
        mark(w, name, made.exact and op != "/=", keep=True)


def masked(w: Writer) -> None:
    """`A[mask] = value`, `A[mask] op= value`, `A[mask] = B[mask]`, or a fold of `A[mask]`."""
    name = w.choice.pick(arrays_of(w) or [""])
    if not name:
        return
    shape = w.scope.values[name].shape
    mask = condition(w.choice, w.scope, shape)
    if mask is None or mask.shape != shape:
        return
    form = w.choice.integer(0, 4)
    value = literal(w.choice, w.scope)
    others = [o for o in arrays_of(w) if w.scope.values[o].shape == shape]
    other = w.choice.pick(others)
    exact = value.exact and other not in w.scope.inexact
    if form == 4:
        fresh = w.fresh()
        method = w.choice.pick(["sum", "mean"])
        if w.run([f"{fresh} = {name}[{mask.text}].{method}()"]):
            mark(w, fresh, name not in w.scope.inexact and method == "sum")
        return
    line = [f"{name}[{mask.text}] = {value.text}", f"{name}[{mask.text}] += {value.text}",
            f"{name}[{mask.text}] *= {value.text}",
            f"{name}[{mask.text}] = {other}[{mask.text}]"][form]  # fmt: skip
    if w.run([line]):
        mark(w, name, exact, keep=True)


def reduction(w: Writer) -> None:
    """`s = A.sum()`, `r = A.mean(axis=0)`."""
    name = w.fresh()
    source = w.choice.pick(arrays_of(w) or [""])
    if not source:
        return
    shape = w.scope.values[source].shape
    made = fold(w.choice, w.scope, shape, w.choice.integer(0, 1))
    if made is not None and w.run([f"{name} = {made.text}"]):
        mark(w, name, made.exact)


JOINS = rows("""
concatenate: np.concatenate([{0}, {1}])
concatenate: np.concatenate(({0}, {1}), axis=-1)
stack: np.stack([{0}, {1}])
stack: np.stack([{0}, {1}], axis=-1)
hstack: np.hstack([{0}, {1}])
vstack: np.vstack(({0}, {1}))
column_stack: np.column_stack([{0}, {1}])
dstack: np.dstack([{0}, {1}])
diff: np.diff({0})
diff: np.diff({0}, axis=0)
diff: np.diff({0}, n=2)
pad: np.pad({0}, 1)
pad: np.pad({0}, 1, mode='edge')
pad: np.pad({0}, 2, mode='constant')
repeat: np.repeat({0}, 2)
repeat: np.repeat({0}, 3, axis=0)
tile: np.tile({0}, 2)
ravel: {0}.ravel()
ravel: {0}.reshape(-1)
ravel: {0}.flatten()
reshape: {0}.reshape(1, -1)
reshape: {0}.reshape(-1, 1)
outer: np.outer({0}, {1})
kron: np.kron({0}, {1})
trace: np.trace({0})
diag: np.diag({0})
diagonal: np.diagonal({0})
eye: np.eye({0}.shape[0])
arange: np.arange({0}.shape[0])
arange: np.arange(1, 2 * {0}.shape[0], 2)
linspace: np.linspace(0, 1, {0}.shape[0])
zeros: np.zeros({0}.shape)
ones: np.ones({0}.shape[0])
full: np.full({0}.shape, 2.5)
zeros_like: np.zeros_like({0})
empty_like: np.ones_like({0})
identity: np.identity(3)
array: np.array([{0}[0], {1}[-1]])
squeeze: np.squeeze({0}[:, :1], axis=1)
atleast_2d: np.atleast_2d({0})
broadcast_to: np.broadcast_to({0}, {0}.shape).copy()
einsum: np.einsum('ij,ij->i', {0}, {1})
einsum: np.einsum('ij,kj->ik', {0}, {1})
tensordot: np.tensordot({0}, {1}, axes=1)
inner: np.inner({0}, {1})
vdot: np.vdot({0}, {1})
append: np.append({0}, {1})
interp: np.interp({0}, np.arange(5.0), np.ones(5))
convolve: np.convolve({0}, {1})
meshgrid: np.meshgrid({0}, {1})[0]
insert: np.insert({0}, 1, 0)
bincount: np.bincount({0} % 5)
digitize: np.digitize({0}, np.array([0.0, 1.0]))
searchsorted: np.searchsorted(np.arange(4), {0})
trapezoid: np.trapezoid({0})
add.reduce: np.add.reduce({0})
add.outer: np.add.outer({0}, {1})
subtract.outer: np.subtract.outer({0}, {1})
indices: np.indices({0}.shape)[0]
unravel_index: np.unravel_index(5, {0}.shape)[0]
cov: np.cov({0})
histogram: np.histogram({0}, bins=4, range=(-2.0, 2.0))[0]
flatnonzero: np.flatnonzero({0} > 0)
nonzero: np.nonzero({0} > 0)[0]
""")
_JOIN_ROUNDS = {"linspace", "interp", "convolve", "trapezoid", "cov", "kron"}
_JOIN_JUMPS = {"digitize", "searchsorted", "bincount", "histogram", "flatnonzero", "nonzero"}


def join(w: Writer) -> None:
    """A new array of another shape: joins, pads, repeats, fills, products."""
    leaves = [t for t in w.scope.leaves() if t.shape]
    name, template = w.choice.pick([j for j in JOINS if known(j[0])])
    if not leaves:
        return
    x = w.choice.pick(leaves)
    same = [t for t in leaves if t.shape == x.shape]
    y = w.choice.pick(same if w.choice.chance(80) else leaves)
    if name in _JOIN_JUMPS and not x.exact:
        return
    if name in PAIRS and np.size(x.value) * np.size(y.value) > LARGEST:
        return
    fresh = w.fresh()
    text = template.format(x.text, y.text)
    value = w.scope.evaluate(text)
    if value is None or np.size(value) > 200_000:
        return
    if w.run([f"{fresh} = {text}"]):
        mark(w, fresh, x.exact and y.exact and name not in _JOIN_ROUNDS)


def branch(w: Writer) -> None:
    """`if` on a scalar, with stores in its branches."""
    test = condition(w.choice, w.scope, ()) if w.choice.chance(60) else None
    text = test.text if test is not None else _known(w)
    if test is not None and test.shape != ():
        return
    lines = [f"if {text}:", *nested(w, store, augment, rebind)]
    if len(lines) > 1 and w.choice.chance(50):
        other = nested(w, store, augment, rebind)
        lines += ["else:", *other] if other else []
    if len(lines) > 1:
        w.run(lines)


def _known(w: Writer) -> str:
    """A test that needs no element: of a number, a dtype or a shape."""
    name = w.choice.pick(arrays_of(w) or [""])
    forms = ["steps > 1", "steps % 2 == 0", "steps > 1", "steps in (1, 3)", "steps not in (2, 4)",
             "steps in range(3)", "0 < steps < 3"]  # fmt: skip
    if name:
        forms += [f"{name}.dtype == np.float64", f"{name}.dtype in (np.float32, np.int64)",
                  f"{name}.dtype.kind in 'iu'", f"{name}.shape[0] in (1, 5)",
                  f"{name}.dtype != 'int32'", f"{name}.shape == (3, 4)"]  # fmt: skip
    return str(w.choice.pick(forms))


def nested(w: Writer, *kinds: Callable[[Writer], None]) -> list[str]:
    """Statements of a block, run once on their own to see that NumPy takes them."""
    outer, w.lines = w.lines, []
    before = w.scope.copied()
    inexact = set(w.scope.inexact)
    for _ in range(w.choice.integer(1, 2)):
        w.choice.pick(kinds)(w)
    lines, w.lines = w.lines, outer
    inexact |= w.scope.inexact
    w.scope = before
    w.scope.inexact |= inexact & set(w.scope.values)
    return [f"    {line}" for line in lines]


def host_loop(w: Writer) -> None:
    """A loop over time steps."""
    lines = nested(w, store, augment, rebind, masked)
    head = w.choice.pick(["for _ in range(2):", "for _ in range(steps):", "for s in range(3):"])
    if lines:
        # what is exact once need not be after two rounds
        names = [n for n in w.scope.arrays() if any(n in line for line in lines)]
        if w.run([head, *lines]):
            for n in names:
                mark(w, n, n not in w.scope.inexact)


def rows_loop(w: Writer) -> None:
    """`for i in range(A.shape[0])` with statements on rows."""
    name = w.choice.pick(arrays_of(w, 2, 4) or [""])
    if not name:
        return
    w.scope.values["i"] = 1
    w.scope.indices = ("i",)
    w.scope.forget()
    row = Term(f"{name}[i]", w.scope.evaluate(f"{name}[i]"), name not in w.scope.inexact)
    made = expression(w.choice, w.scope, row.shape, w.choice.integer(1, 2))
    op = w.choice.pick(["=", "=", "+=", "-="])
    line = f"{row.text} {op} {made.text}"
    del w.scope.values["i"]
    w.scope.indices = ()
    w.scope.forget()
    # NumPy copies a column of the array into its row in an order of its own
    if f"{name}[:" not in made.text and w.run([f"for i in range({name}.shape[0]):", f"    {line}"]):
        w.scope.values.pop("i", None)
        mark(w, name, made.exact, keep=True)


def swap(w: Writer) -> None:
    """`A, B = B, A`."""
    names = [n for n in arrays_of(w) if not w.scope.shared(n)]
    if len(names) < 2:
        return
    a, b = w.choice.pick(names), w.choice.pick(names)
    x, y = w.scope.values[a], w.scope.values[b]
    if a == b or (x.shape, x.dtype) != (y.shape, y.dtype):
        return
    exact = not {a, b} & w.scope.inexact
    line = w.choice.pick([f"{a}, {b} = {b}, {a}", f"{a}, {b} = {b}, {a} + {b}"])
    if w.run([line]):
        mark(w, a, exact)
        mark(w, b, exact)


def gather_store(w: Writer) -> None:
    """`A[idx] = value` and the histogram of a loop."""
    if "idx" not in w.scope.values:
        return
    name = w.choice.pick(arrays_of(w) or [""])
    size = w.scope.values["idx"].shape[0]
    shape = (size, *w.scope.values[name].shape[1:]) if name else ()
    made = leaf(w.choice, w.scope, shape)
    count = ["for i in range(idx.shape[0]):", f"    {name}[idx[i]] += 1"]
    lines = w.choice.pick([[f"{name}[idx] = {made.text}"], [f"np.add.at({name}, idx, 1)"], count])
    if w.run(lines):
        w.scope.values.pop("i", None)
        mark(w, name, made.exact, keep=True)


def helper_store(w: Writer) -> None:
    """A helper that changes its argument."""
    found = target(w)
    if found is None or not found[1].shape:
        return
    name, place = found
    made = expression(w.choice, w.scope, place.shape, 1)
    if w.run([f"add_into({place.text}, {made.text})"]):
        mark(w, name, made.exact, keep=True)


#: each kind of statement and how often it is tried
STATEMENTS: list[tuple[Callable[[Any], None], int]] = [
    (define, 8), (store, 5), (augment, 5), (masked, 3), (reduction, 4), (join, 4), (branch, 2),
    (host_loop, 2), (rows_loop, 2), (swap, 1), (rebind, 2), (gather_store, 1), (helper_store, 1),
]  # fmt: skip

__all__ = ["STATEMENTS", "binary"]
