"""Random terms: views of arrays, operations of porter's tables, reductions, joins, gathers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import porter.lowering.functions  # noqa: F401  (it declares the handlers)
from porter import numpy_functions
from porter.ir.ops import BINARY, COMPARE, MARKS, OPS

#: helper functions that a program may call
HELPERS = {
    "soft": "def soft(v, t):\n    return np.sign(v) * np.maximum(np.abs(v) - t, 0)",
    "mixed": "def mixed(u, v):\n    w = u + v\n    return w - u * v",
    "shifted": "def shifted(v, by=1):\n    u = np.roll(v, by, axis=0)\n    return v - u",
    "spread": "def spread(v):\n    return v.max() - v.min()",
    "add_into": "def add_into(target, v):\n    target += v",
    "either": "def either(v, s):\n    if s > 1:\n        return v * 2\n    return v",
}


def rows(text: str) -> list[tuple[str, str]]:
    """A table with the function that porter must know and the expression, a line each."""
    return [(name, rest) for name, rest in (r.split(": ", 1) for r in text.strip().splitlines())]


VIEWS = {
    0: ["{}"],
    1: ["{}", "{}[::-1]", "{}[1:]", "{}[:-1]", "{}[1:-1]", "{}[2:]", "{}[:-2]", "{}[::2]",
        "{}[1::2]", "{}[None, :]", "{}[:, None]", "{}[:, np.newaxis]", "{}[0]", "{}[-1]",
        "{}[1]", "{}[-3:]", "{}[:3]", "{}[::-2]", "{}[-2::-1]", "{}[:2]", "{}[:, None, None]"],
    2: ["{}", "{}.T", "{}[::-1]", "{}[:, ::-1]", "{}[1:]", "{}[:-1]", "{}[:, 1:]", "{}[:, :-1]",
        "{}[1:-1, 1:-1]", "{}[:-2, 1:-1]", "{}[2:, 1:-1]", "{}[1:-1, :-2]", "{}[1:-1, 2:]",
        "{}[0]", "{}[-1]", "{}[:, 0]", "{}[:, -1]", "{}[None]", "{}[..., None]", "{}[::2]",
        "{}[:, ::2]", "{}[::2, 1::2]", "{}[0, 0]", "{}[-1, 1]", "{}[:, None]", "{}[..., 0]",
        "{}[..., ::-1]", "{}[:2]", "{}[:, :1]", "{}[1, ::-1]", "{}[:, -2]", "{}[1:2]"],
    3: ["{}", "{}[0]", "{}[:, 0]", "{}[..., 0]", "{}[:, :, -1]", "{}[1:]", "{}[:, 1:]",
        "{}[..., :-1]", "{}.transpose(1, 0, 2)", "{}.swapaxes(0, 2)", "{}.T", "{}[::-1]",
        "{}[1:-1, 1:-1, 1:-1]", "{}[:-2, 1:-1, 1:-1]", "{}[1:-1, 1:-1, 2:]", "{}[0, 1]",
        "{}[0, :, 1]", "{}[:, ::2]", "{}[..., None]", "{}[-1, -1, 0]", "{}[None]"],
    4: ["{}", "{}[0]", "{}[..., 0]", "{}[:, :, 1:]", "{}[..., ::-1]", "{}[:, 0]", "{}[:, 0, 0]",
        "{}[:, 1:-1]", "{}[:, :, 0]", "{}[0, 0]", "{}[:, ::-1]"],
    5: ["{}", "{}[0]", "{}[..., 0]", "{}[:, 0]", "{}[:, :, 1:-1]", "{}[:, 0, :, 1]", "{}[..., 1]",
        "{}[::-1]", "{}[0, 0, :, 0, 0]"],
}  # fmt: skip

Value = Any
#: functions whose result has an element for each pair of elements, which may be at most so many
PAIRS = {"outer", "kron", "meshgrid", "add.outer", "subtract.outer", "tensordot", "einsum",
         "convolve", "inner", "searchsorted", "interp"}  # fmt: skip
LARGEST = 300_000


class Choice:
    """Random decisions, drawn from hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def pick(self, options: Sequence[Any]) -> Any:
        """One of them; the first is the simplest."""
        return self.draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        """A number between two, both included."""
        number: int = self.draw(st.integers(low, high))
        return number

    def chance(self, percent: int) -> bool:
        """True that often."""
        return self.integer(0, 99) >= 100 - percent


@dataclass(frozen=True)
class Term:
    """An expression, its value on the arrays that the program is written with."""

    text: str
    value: Value
    exact: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, () for a scalar."""
        return np.shape(self.value)

    @property
    def kind(self) -> str:
        """The dtype's kind; Python scalars count as theirs."""
        return np.asarray(self.value).dtype.kind


@dataclass
class Scope:
    """The names at hand with their values, and what is known of them."""

    values: dict[str, Value]
    special: bool
    inexact: set[str] = field(default_factory=set)
    table: dict[str, list[Term]] = field(default_factory=dict)
    indices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if "np" not in self.values:
            self.values |= {"np": np, "math": math}
            for text in HELPERS.values():
                exec(text, self.values)

    def copied(self) -> Scope:
        """The same with copies of the arrays; views keep pointing into their base."""
        arrays = {k: v for k, v in self.values.items() if isinstance(v, (np.ndarray, np.generic))}
        memo: dict[int, Any] = {}
        fresh = {k: _twin(v, memo) for k, v in arrays.items()}
        return Scope(self.values | fresh, self.special, set(self.inexact), {},
                     self.indices)  # fmt: skip

    def forget(self) -> None:
        """The values have changed."""
        self.table.clear()
        for name in self.arrays():
            value = np.asarray(self.values[name])
            if value.size and value.dtype.kind in "fc":
                with np.errstate(all="ignore"):
                    if not np.abs(value).max() < 2**16:
                        self.inexact.add(name)

    def arrays(self) -> list[str]:
        """The names of arrays (and NumPy scalars)."""
        return [n for n, v in self.values.items()
                if isinstance(v, (np.ndarray, np.generic)) and n != "idx"]  # fmt: skip

    def shares(self, value: Value, but: str = "") -> bool:
        """Whether a value is (part of) an array that has a name."""
        return isinstance(value, np.ndarray) and any(
            np.may_share_memory(value, self.values[n]) for n in self.arrays() if n != but
        )

    def shared(self, name: str) -> bool:
        """Whether a name is a view of another array, or another one of it."""
        return self.shares(self.values[name], name)

    def evaluate(self, text: str) -> Value | None:
        """The value of an expression, None if NumPy rejects it."""
        try:
            with np.errstate(all="ignore"):
                value = eval(text, self.values)
        except Exception:
            return None
        return None if np.asarray(value).dtype.kind not in "biufc" else value

    def leaves(self) -> list[Term]:
        """Every view of every array."""
        if "" not in self.table:
            self.table[""] = list(self._leaves())
        return self.table[""]

    def _leaves(self) -> list[Term]:
        found = []
        for name in self.arrays():
            exact = name not in self.inexact
            value = self.values[name]
            templates = list(VIEWS.get(np.ndim(value), ["{}"]))
            for index in self.indices:
                templates += ["{}[" + index + "]", "{}[:, " + index + "]"]
            for template in templates:
                text = template.format(name)
                seen = self.evaluate(text)
                if seen is not None:
                    found.append(Term(text, seen, exact))
        return found


def _twin(value: Any, memo: dict[int, Any]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    base = value if value.base is None else value.base
    if not isinstance(base, np.ndarray):
        return copy.deepcopy(value)
    if id(base) not in memo:
        memo[id(base)] = base.copy(order="K")
    twin = memo[id(base)]
    if value is base:
        return twin
    start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    # only memory in C order can be shared, and the copy may have its axes in any order
    order = np.argsort([-s for s in twin.strides], kind="stable")
    return np.ndarray(value.shape, value.dtype, twin.transpose(order).data, start, value.strides)


def fits(shape: tuple[int, ...], want: tuple[int, ...]) -> bool:
    """Whether an operand of that shape may stand where `want` is wanted."""
    if len(shape) > len(want):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], want[::-1], strict=False))


def literal(choice: Choice, scope: Scope) -> Term:
    """A number, or a scalar argument."""
    options = ["2", "3", "0.5", "1", "-1", "1.5", "steps"]
    options += ["a", "a"] if "a" in scope.values else []
    if any(np.asarray(v).dtype.kind == "c" for v in map(scope.values.get, scope.arrays())):
        options += ["1j", "(0.5 - 2j)"]
    if all(np.asarray(scope.values[n]).dtype.kind in "biu" for n in scope.arrays()):
        options = ["2", "3", "1", "5", "steps", "7"]
    text = choice.pick(options)
    return Term(text, scope.evaluate(text), True)


def leaf(choice: Choice, scope: Scope, want: tuple[int, ...]) -> Term:
    """A view that fits, of the very shape more often than not."""
    all_leaves = [t for t in scope.leaves() if fits(t.shape, want)]
    same = [t for t in all_leaves if t.shape == want]
    if same and choice.chance(75):
        return choice.pick(same)  # type: ignore[no-any-return]
    if all_leaves and choice.chance(70):
        return choice.pick(all_leaves)  # type: ignore[no-any-return]
    return literal(choice, scope)


# -- operations ---------------------------------------------------------------------------

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "band": "&", "bor": "|", "bxor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=",
}  # fmt: skip
_EXACT = {"add", "sub", "mul", "neg", "pos", "abs", "maximum", "minimum", "fmax", "fmin", "real",
          "imag", "conj", "band", "bor", "bxor", "invert", "and", "or", "xor", "not"}  # fmt: skip
#: what jumps where its operand passes a bound
_JUMPS = {"floor", "ceil", "trunc", "rint", "sign", "floordiv", "mod", "fmod", "isnan", "isinf",
          "isfinite", "signbit", "heaviside", "copysign", "and", "or", "xor", "not",
          *COMPARE.values()}  # fmt: skip
_REAL_OPS = {"maximum", "minimum", "fmax", "fmin", "sign", *COMPARE.values()} - {"eq", "ne"}
_TABLE = {
    op: info.arity
    for op, info in OPS.items()
    if op not in MARKS and numpy_functions.converted(f"numpy.{info.numpy}")
}
UNARY = [op for op, arity in _TABLE.items() if arity == 1]
FUNCTION2 = [op for op, arity in _TABLE.items()
             if arity == 2 and op not in ("pow", "lshift", "rshift")]  # fmt: skip
ARITHMETIC = ["add", "sub", "mul", "add", "sub", "mul", "truediv"]
WHOLE = ["floordiv", "mod", "band", "bor", "bxor"]


def known(name: str) -> bool:
    """Whether porter's table has the function."""
    return numpy_functions.converted(f"numpy.{name}")


def plain(*terms: Term) -> bool:
    """Whether all are Python numbers: NumPy's functions make NumPy scalars of them."""
    return all(isinstance(t.value, (int, float, complex)) for t in terms)


def _made(scope: Scope, text: str, exact: bool, fallback: Term, want: tuple[int, ...]) -> Term:
    value = scope.evaluate(text)
    if value is None or not fits(np.shape(value), want):
        return fallback
    return Term(text, value, exact or np.asarray(value).dtype.kind in "biu")


def unary(choice: Choice, scope: Scope, x: Term, want: tuple[int, ...]) -> Term:
    """A function of one argument."""
    if choice.chance(30) and x.kind != "b":
        text = choice.pick(["-{}", "({} * 0.5)", "({} ** 2)", "np.square({})", "abs({})", "(-{})"])
        return _made(scope, text.format(x.text), x.exact and "0.5" not in text, x, want)
    op = choice.pick(UNARY)
    if plain(x) or (op in _JUMPS and not x.exact) or (op in _REAL_OPS and x.kind == "c"):
        return x
    text = f"np.{OPS[op].numpy}({x.text})"
    return _made(scope, text, x.exact and op in _EXACT | _JUMPS, x, want)


def binary(choice: Choice, scope: Scope, x: Term, y: Term, want: tuple[int, ...]) -> Term:
    """An operation or function of two arguments."""
    whole = x.kind in "biu" and y.kind in "biu"
    r = choice.integer(0, 9)
    pool = WHOLE if whole and r > 6 else FUNCTION2 if r > 7 else ARITHMETIC
    op = choice.pick(pool)
    exact = x.exact and y.exact
    if (op in _JUMPS and not exact) or (op in _REAL_OPS and "c" in (x.kind, y.kind)):
        return x
    if op not in _SYMBOLS and plain(x, y):
        return x
    if op in _SYMBOLS and (r < 9 or plain(x, y)):
        text = f"({x.text} {_SYMBOLS[op]} {y.text})"
    else:
        text = f"np.{OPS[op].numpy}({x.text}, {y.text})"
    return _made(scope, text, exact and op in _EXACT | _JUMPS, x, want)


def condition(choice: Choice, scope: Scope, want: tuple[int, ...], depth: int = 0) -> Term | None:
    """A boolean term over exact operands."""
    x = expression(choice, scope, want, depth)
    y = leaf(choice, scope, want)
    if not (x.exact and y.exact) or "c" in (x.kind, y.kind):
        return None
    if x.kind == "b" and choice.chance(50):
        return x
    found = Term(f"({x.text} {choice.pick(['>', '<', '>=', '==', '!='])} {y.text})", None, True)
    if not want and choice.chance(20):
        arrays = [z.text for z in scope.leaves() if z.shape and z.exact and z.kind != "c"]
        group = choice.pick([f"({y.text}, 1, 2)", "range(5)", *arrays[:2]])
        found = Term(f"({x.text} {choice.pick(['in', 'not in'])} {group})", None, True)
    if choice.chance(15):
        z = leaf(choice, scope, want)
        if z.exact and z.kind != "c":
            found = Term(f"({found.text} {choice.pick(['&', '|'])} ({z.text} > 0))", None, True)
    value = scope.evaluate(found.text)
    return None if value is None else Term(found.text, value, True)


FOLDS = ["sum", "sum", "max", "min", "mean", "prod", "any", "all", "std", "var", "argmax",
         "argmin", "ptp", "count_nonzero", "nansum", "nanmax", "nanmin", "nanmean", "median",
         "average", "cumsum", "cumprod", "linalg.norm"]  # fmt: skip
_FOLD_EXACT = {"sum", "max", "min", "any", "all", "argmax", "argmin", "ptp", "count_nonzero",
               "nansum", "cumsum", "nanmax", "nanmin"}  # fmt: skip
#: folds that tell large from small
_ORDERED = {*FOLDS} - {"sum", "mean", "prod", "linalg.norm", "cumsum", "average", "std", "var"}


def fold(choice: Choice, scope: Scope, want: tuple[int, ...], depth: int) -> Term | None:
    """A reduction of something larger whose result fits."""
    larger = [
        t
        for t in scope.leaves()
        if len(t.shape) > len(want) or (t.shape != want and len(t.shape) == len(want))
    ]
    whole = [t for t in scope.leaves() if t.shape]
    if not whole:
        return None
    x = choice.pick(larger if larger and choice.chance(70) else whole)
    if depth > 0 and choice.chance(60):
        x = expression(choice, scope, x.shape, depth - 1)
    if not x.shape:
        return None
    name = choice.pick([f for f in FOLDS if known(f)])
    if name in _ORDERED and (not x.exact or x.kind == "c"):
        return None
    axes = [None, *range(len(x.shape)), -1]
    if len(x.shape) > 2:
        axes += [(0, 1), (0, -1), (1, 2)]
    axis = choice.pick(axes)
    words = [] if axis is None else [f"axis={axis}"]
    if axis is not None and choice.chance(40):
        words.append("keepdims=True")
    if name in ("sum", "prod", "mean") and choice.chance(8):
        words.append(f"dtype=np.{choice.pick(['float64', 'float32', 'int64'])}")
    if numpy_functions.known(f"numpy.{name}").method is not None and choice.chance(60):
        text = f"{x.text}.{name}({', '.join(words)})"
    else:
        text = f"np.{name}({', '.join([x.text, *words])})"
    value = scope.evaluate(text)
    if value is None or not fits(np.shape(value), want):
        return None
    return Term(text, value, x.exact and name in _FOLD_EXACT)


#: functions of whole arrays; `{0}`, `{1}` are terms of one shape, those with `idx` gather
WHOLE_ARRAY = rows("""
where: np.where({c}, {0}, {1})
where: np.where({c}, {0}, 0)
clip: np.clip({0}, -1, 2)
clip: {0}.clip(0, 1)
roll: np.roll({0}, 1, axis=0)
roll: np.roll({0}, -2, axis=-1)
flip: np.flip({0})
flip: np.flip({0}, axis=0)
fliplr: np.fliplr({0})
transpose: np.transpose({0})
copy: {0}.copy()
triu: np.triu({0})
tril: np.tril({0}, -1)
zeros_like: np.zeros_like({0})
ones_like: np.ones_like({0})
full_like: np.full_like({0}, 2)
nan_to_num: np.nan_to_num({0}, nan=0.0, posinf=1.0, neginf=-1.0)
maximum: np.maximum({0}, {1})
isclose: np.isclose({0}, {1})
round: np.round({0})
around: np.around({0}, 1)
reshape: {0}.reshape({0}.shape)
ravel: {0}.ravel().reshape({0}.shape)
cumsum: np.cumsum({0}, axis=0)
cumsum: np.cumsum({0}, axis=-1)
cumprod: np.cumprod({0}, axis=-1)
rot90: np.rot90({0}, 2)
sort: np.sort({0}, axis=-1)
gradient: np.gradient({0}, axis=0)
square: np.square({0})
reciprocal: np.reciprocal({0})
minimum.accumulate: np.minimum.accumulate({0}, axis=0)
select: np.select([{c}], [{0}], 0)
logaddexp: np.logaddexp({0}, {1})
hypot: np.hypot({0}, {1})
array: np.array({0})
asarray: np.asarray({0})
angle: np.angle({0})
outer: np.outer({0}, {1})
sinc: np.sinc({0})
multiply: np.multiply({0}, {1})
roll: shifted({0})
sign: soft({0}, 1)
where: mixed({0}, {1})
where: either({0}, steps)
where: ({0} if steps > 1 else {1})
where: spread({0})
take: np.take({0}, idx, axis=0)
swapaxes: np.swapaxes({0}, 0, 1)
moveaxis: np.moveaxis({0}, 0, -1)
expand_dims: np.expand_dims({0}, 0)
""")
_NO_ROUNDING = {"where", "clip", "roll", "flip", "fliplr", "transpose", "copy", "triu", "tril",
                "zeros_like", "ones_like", "full_like", "maximum", "reshape", "ravel", "sort",
                "square", "array", "asarray", "select", "rot90", "swapaxes", "moveaxis",
                "expand_dims", "take", "cumsum", "multiply", "minimum.accumulate"}  # fmt: skip
_REAL = {"clip", "maximum", "sort", "round", "around", "sign", "isclose", "minimum.accumulate"}
_NEEDS_EXACT = {"isclose", "round", "around", "sort", "sign", "minimum.accumulate"}


def whole_array(choice: Choice, scope: Scope, want: tuple[int, ...], depth: int) -> Term | None:
    """A function of whole arrays."""
    name, template = choice.pick(WHOLE_ARRAY)
    if not known(name):
        return None
    x, y = expression(choice, scope, want, depth - 1), leaf(choice, scope, want)
    if (name in _REAL and "c" in (x.kind, y.kind)) or not x.shape:
        return None
    if "(" in x.text and template.startswith("{0}.") and x.text[0] in "-(":
        return None
    words = {"c": ""}
    if "{c}" in template:
        cond = condition(choice, scope, want)
        if cond is None:
            return None
        words["c"] = cond.text
    if name in _NEEDS_EXACT and not (x.exact and y.exact):
        return None
    if np.size(x.value) * np.size(y.value) > LARGEST and name in PAIRS:
        return None
    text = template.format(x.text, y.text, **words)
    value = scope.evaluate(text)
    if value is None or not fits(np.shape(value), want):
        return None
    return Term(text, value, x.exact and y.exact and name in _NO_ROUNDING)


def product(choice: Choice, scope: Scope, want: tuple[int, ...]) -> Term | None:
    """A matrix product of the wanted shape."""
    if not 1 <= len(want) <= 2:
        return None
    leaves = scope.leaves()
    left = [t for t in leaves if 1 <= len(t.shape) <= 2 and t.shape[0] == want[0]] or leaves
    x = choice.pick(left)
    right = [t for t in leaves if x.shape and t.shape and 1 <= len(t.shape) <= 2
             and x.shape[-1] == t.shape[0]]  # fmt: skip
    if not right:
        return None
    y = choice.pick(right)
    text = choice.pick(["({} @ {})", "np.dot({}, {})", "{}.dot({})", "np.matmul({}, {})"])
    text = text.format(x.text, y.text)
    value = scope.evaluate(text)
    if value is None or not fits(np.shape(value), want):
        return None
    return Term(text, value, x.exact and y.exact)


def converted(choice: Choice, scope: Scope, x: Term, want: tuple[int, ...]) -> Term:
    """`astype`: to integers only what is exact and surely finite."""
    pool = ["float64", "float32", "complex128"] if choice.chance(70) else ["int64", "int32", "bool"]
    dtype = choice.pick(pool)
    if x.kind == "c" and not dtype.startswith("complex"):
        return x
    if dtype in ("int64", "int32", "bool") and (
        not x.exact or (scope.special and x.kind == "f") or "(" in x.text
    ):
        return x
    text = f"{x.text}.astype(np.{dtype})"
    if x.text[0] in "-0123456789" or not isinstance(x.value, np.ndarray):
        return x
    return _made(scope, text, x.exact, x, want)


def gathered(choice: Choice, scope: Scope, want: tuple[int, ...]) -> Term | None:
    """`x[idx]`."""
    if "idx" not in scope.values:
        return None
    found = []
    for name in scope.arrays():
        for template in ("{}[idx]", "{}[:, idx]", "{}[idx, 0]", "{}[idx][:, 1]"):
            text = template.format(name)
            value = scope.evaluate(text)
            if value is not None and fits(np.shape(value), want):
                found.append(Term(text, value, name not in scope.inexact))
    return choice.pick(found) if found else None


def expression(choice: Choice, scope: Scope, want: tuple[int, ...], depth: int) -> Term:
    """A term whose shape broadcasts to the wanted one."""
    if depth <= 0:
        return leaf(choice, scope, want)
    kind = choice.integer(0, 99)
    x: Term | None
    if kind < 45:
        x, y = (expression(choice, scope, want, depth - 1) for _ in range(2))
        return binary(choice, scope, x, y, want)
    if kind < 60:
        return unary(choice, scope, expression(choice, scope, want, depth - 1), want)
    if kind < 72:
        x = fold(choice, scope, want, depth - 1)
    elif kind < 88:
        x = whole_array(choice, scope, want, depth)
    elif kind < 92:
        x = product(choice, scope, want)
    elif kind < 95:
        x = gathered(choice, scope, want)
    else:
        x = converted(choice, scope, leaf(choice, scope, want), want)
    return leaf(choice, scope, want) if x is None else x


__all__ = ["BINARY", "HELPERS", "Choice", "Scope", "Term", "expression", "leaf"]
