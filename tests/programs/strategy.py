"""A hypothesis strategy of well-typed NumPy programs in what porter converts.

A program is written and run statement by statement: every expression is evaluated on arrays
of unlikely sizes as soon as it is written, so that two shapes that agree there agree always,
and what NumPy itself rejects is dropped.  Operations come from porter's own tables; a function
that porter does not know yet takes no part until it does.

Where rounding would decide (`x > 0.5` after a division), programs would differ for a reason
that is nobody's fault: a term is `exact` while sums in any order give the same bits, and only
exact terms are compared, rounded to integers or searched for an extreme's place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import strategies as st

from tests.programs.terms import HELPERS, Choice, Scope, Term, expression, leaf

#: sizes while a program is written: no two dimensions that slicing makes of them are equal
SIZES = {"n": 8, "m": 19, "k": 23, "p": 5}
SHAPES = ("n", "n", "m", "n m", "n m", "n m", "n n", "m k", "k n", "n m k", "n m k", "p n m",
          "p n 2 m", "p 2 n 2 3", "", "n 1", "1 m")  # fmt: skip
FAMILIES = {
    "float": ("float64", "float64", "float32"),
    "single": ("float32",),
    "integer": ("int64", "int64", "int32", "int8", "int16", "uint8", "uint16", "uint32", "uint64"),
    "mixed": ("float64", "float32", "int64", "int32", "bool", "uint8"),
    "complex": ("complex128", "complex128", "float64"),
    "single complex": ("complex64", "complex64", "float32"),
}


@dataclass(frozen=True)
class Parameter:
    """An array (dtype, dimensions by size name) or, without a dtype, a Python scalar."""

    name: str
    dtype: str
    dims: tuple[str, ...] | None
    indexes: str = ""

    @property
    def type(self) -> str:
        """Its type as Numba writes it."""
        if self.dims is None:
            return self.dtype
        inner = ", ".join(":" * len(self.dims)) if self.dims else "()"
        return f"{self.dtype}[{inner}]"

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """The shape for given sizes."""
        return tuple(int(d) if d.isdigit() else sizes[d] for d in self.dims or ())


@dataclass(frozen=True)
class Program:
    """A function `f` as text, and what it takes."""

    source: str
    parameters: tuple[Parameter, ...]
    calls: tuple[tuple[Any, ...], ...] = field(repr=False)

    @property
    def signature(self) -> str:
        """The argument types."""
        return ", ".join(p.type for p in self.parameters)

    def function(self) -> Callable[..., Any]:
        """The function itself."""
        scope: dict[str, Any] = {}
        exec(compile(self.source, "<program>", "exec"), scope)
        found: Callable[..., Any] = scope["f"]
        return found

    def __repr__(self) -> str:
        calls = "\n".join(f"# f({', '.join(map(repr, c))})" for c in self.calls)
        return f"# {self.signature}\n{self.source}\n{calls}"


# -- arguments ------------------------------------------------------------------------------

_NICE = st.sampled_from([k / 4 for k in range(-9, 10)])
_ODD = st.sampled_from([math.nan, math.inf, -math.inf, -0.0])


def elements(dtype: np.dtype[Any], special: bool) -> st.SearchStrategy[Any]:
    """Values whose sums and products are exact; on demand NaN, infinities and extremes."""
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = st.integers(0 if dtype.kind == "u" else -9, 20)
        return small | st.sampled_from([info.min, info.max]) if special else small
    if dtype.kind == "c":
        return st.builds(complex, _NICE, _NICE)
    return st.one_of(_NICE, _NICE, _NICE, _ODD) if special else _NICE


def argument(choice: Choice, p: Parameter, sizes: dict[str, int], special: bool) -> Any:
    """A random argument for a parameter."""
    if p.dims is None:
        if p.dtype == "int64":
            return choice.pick([1, 2, 3, 1, 2, 3, 0])
        value = choice.integer(-6, 8) / 4
        return complex(value, 0.5) if p.dtype == "complex128" else value
    dtype, shape = np.dtype(p.dtype), p.shape(sizes)
    if p.indexes:
        size = max(1, sizes[p.indexes])
        return choice.draw(hnp.arrays(dtype, shape, elements=st.integers(-size, size - 1)))
    # no fill: every element is drawn, or most of them would be equal
    return choice.draw(
        hnp.arrays(dtype, shape, elements=elements(dtype, special), fill=st.nothing())
    )


def thinned(choice: Choice, taken: Sequence[Parameter], call: list[Any]) -> list[Any]:
    """The arguments with one axis of one array cut to length 1, which NumPy may broadcast."""
    axes = [
        (k, axis)
        for k, (p, value) in enumerate(zip(taken, call, strict=True))
        for axis in range(np.ndim(value))
        if not p.indexes and value.shape[axis] > 1
    ]
    if not axes:
        return call
    k, axis = choice.pick(axes)
    return [*call[:k], call[k].take([0], axis), *call[k + 1 :]]


def sample(p: Parameter, rng: np.random.Generator) -> Any:
    """An argument to write the program with."""
    if p.dims is None:
        return {"int64": 2, "float64": 0.75, "complex128": 0.5 + 0.25j}[p.dtype]
    shape = p.shape(SIZES)
    if p.indexes:
        return rng.integers(-SIZES[p.indexes], SIZES[p.indexes], shape).astype(p.dtype)
    dtype = np.dtype(p.dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 20, shape).astype(dtype)
    values = rng.integers(-9, 10, shape) / 4
    if dtype.kind == "c":
        values = values + 1j * (rng.integers(-9, 10, shape) / 4)
    return np.asarray(values).astype(dtype)


# -- programs -------------------------------------------------------------------------------


def parameters(choice: Choice) -> tuple[Parameter, ...]:
    """Two to four arrays of one family of dtypes, then scalars and perhaps an index array."""
    family = choice.pick(list(FAMILIES))
    found = []
    shapes = [choice.pick(SHAPES) for _ in range(choice.integer(1, 2))]
    for name in "xyzw"[: choice.integer(2, 4)]:
        shape = choice.pick(shapes) if choice.chance(60) else choice.pick(SHAPES)
        found.append(Parameter(name, choice.pick(FAMILIES[family]), tuple(shape.split())))
    if choice.chance(20):
        found.append(Parameter("idx", choice.pick(["int64", "int32"]), ("p",), choice.pick("nm")))
    found.append(Parameter("steps", "int64", None))
    if "integer" not in family:
        found.append(Parameter("a", "complex128" if family == "complex" and choice.chance(30)
                               else "float64", None))  # fmt: skip
    return tuple(found)


class Writer:
    """Writes the statements of one program, running each one as it goes."""

    def __init__(self, choice: Choice, taken: Sequence[Parameter], special: bool) -> None:
        rng = np.random.default_rng(0)
        values = {p.name: sample(p, rng) for p in taken}
        self.choice = choice
        self.scope = Scope(values, special)
        self.lines: list[str] = []
        self.helpers: set[str] = set()
        self.count = 0

    def fresh(self) -> str:
        """A name that is not in use."""
        self.count += 1
        return f"t{self.count}"

    def run(self, lines: Sequence[str]) -> bool:
        """Keep the lines if NumPy runs them on the arrays at hand."""
        trial = self.scope.copied()
        code = "\n".join(lines)
        try:
            with np.errstate(all="ignore"):
                exec(code, trial.values)
        except Exception:
            return False
        if any(isinstance(v, np.ndarray) and v.dtype == object for v in trial.values.values()):
            return False
        self.scope = trial
        self.scope.forget()
        self.lines += lines
        return True

    def statement(self) -> None:
        """One statement of a random kind; nothing if it came to nothing."""
        from tests.programs.loops import LOOPS
        from tests.programs.rows import ROWS
        from tests.programs.statements import STATEMENTS

        weights = [kind for kind, weight in STATEMENTS + LOOPS + ROWS for _ in range(weight)]
        self.choice.pick(weights)(self)

    def result(self) -> str:
        """The returned expression: made arrays, results of folds, arguments."""
        made = [n for n in self.scope.arrays() if n.startswith("t")]
        pool = [*made[-3:], *[n for n in self.scope.arrays() if not n.startswith("t")]]
        chosen: list[str] = []
        for _ in range(self.choice.integer(1, 3)):
            name = self.choice.pick(made[-3:] if made and self.choice.chance(80) else pool)
            text = name
            if self.choice.chance(25):
                shape = np.shape(self.scope.values[name])
                text = expression(self.choice, self.scope, shape, 1).text
            # a view of an argument cannot be returned
            value = self.scope.evaluate(text)
            if isinstance(value, np.ndarray) and self.scope.shares(value, text):
                text = f"{text}.copy()"
            chosen.append(text)
        return ", ".join(dict.fromkeys(chosen))


@st.composite
def programs(draw: Any) -> Program:
    """Programs of one to six statements with three sets of arguments each."""
    choice = Choice(draw)
    taken = parameters(choice)
    special = choice.chance(15)
    writer = Writer(choice, taken, special)
    for _ in range(choice.integer(1, 6)):
        writer.statement()
    head = f"def f({', '.join(p.name for p in taken)}):"
    body = [f"    {line}" for line in [*writer.lines, f"return {writer.result()}"]]
    text = "\n".join([head, *body])
    used = [h for name, h in HELPERS.items() if f"{name}(" in text]
    source = "\n\n\n".join(["import math\n\nimport numpy as np", *used, text]) + "\n"
    calls = []
    for number in range(2):
        small = {"n": 4, "m": 3, "k": 5, "p": 2}
        if number and choice.chance(50):
            small = {name: choice.pick([1, 2, 6, 3, 0, 7]) for name in small}
        call = [argument(choice, p, small, special) for p in taken]
        if number and choice.chance(30):
            call = thinned(choice, taken, call)
        calls.append(tuple(call))
    return Program(source, taken, tuple(calls))


__all__ = ["Parameter", "Program", "Term", "Writer", "leaf", "programs"]
