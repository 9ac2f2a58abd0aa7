"""Rows of the NumPy table: what is tried of every name, over which dtypes, how exactly.

A file `cases/<kind>.py` has `ROWS`, a dictionary from names (`numpy.sqrt`,
`ndarray.sum`) to `Row`.  A case of a row is an expression or the body of a function; the
names in it say what the arguments are, see `SHAPES`.  The rows are the test of their names
(`test_numpy_names.py`, `run.py`), and `docs/numpy-support.md` is made of them.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

#: the arguments by name, in the sizes of `sizes`: arrays of the row's dtype ...
SHAPES = {
    "v": "n", "w": "n", "r": "m", "A": "n,m", "B": "n,m", "M": "m,k", "S": "n,n", "R": "n,1",
    "C": "n,m,k", "N": "n,k,m", "D": "b,n,m,k", "F": "b,n,m,k,b", "o": "n", "O": "n,m",
}  # fmt: skip
#: ... and of other dtypes; a scalar has no shape
OTHERS = {
    "p": ("bool", "n"), "P": ("bool", "n,m"), "j": ("int64", "n"), "e": ("int32", "n"),
    "d": ("float64", "n"), "E": ("float64", "n,m"), "s": ("float64", None), "q": ("int64", None),
}  # fmt: skip
DTYPES = {
    np.dtype(t).str[1:]: np.dtype(t).name
    for t in ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "F", "D"]
}
REAL, SIGNED, UNSIGNED, COMPLEX = "f4 f8", "i1 i2 i4 i8", "u1 u2 u4 u8", "c8 c16"
INTEGER = f"{SIGNED} {UNSIGNED}"
NUMBER, ANY = f"{INTEGER} {REAL}", f"b1 {INTEGER} {REAL} {COMPLEX}"
#: nothing, one, a prime; and a block (of 32 here) and one more, less for more than two axes
SIZES = (0, 1, 7)


@dataclass(frozen=True, init=False)
class Row:
    """How one name is tried. `tolerance` is in units of the dtype's eps, 0 is exact.

    `domain` says what the arrays hold (see `_values`), `special` the kinds of dtypes for
    which NaN and Inf are tried, `least` the smallest size that NumPy accepts, `largest` one that
    is not too slow on the simulator, `refused` the dtypes for which porter must refuse.  `status`
    is "converted", "host", "library" or "refused", the last three with what becomes of it in `why`.
    """

    cases: tuple[str, ...]
    dtypes: str = REAL
    domain: str = ""
    tolerance: float = 4
    special: str = "fc"
    least: int = 0
    largest: int = 33
    refused: str = ""
    status: str = "converted"
    why: str = ""

    def __init__(self, *cases: str, **options: Any) -> None:
        object.__setattr__(self, "cases", cases)
        for name, value in options.items():
            assert name in self.__annotations__, name
            object.__setattr__(self, name, value)


def rows(prefix: str, names: str, *cases: str, **options: Any) -> dict[str, Row]:
    """The same cases for many names: `{}` in a case is the name."""
    return {
        prefix + name: Row(*(case.replace("{}", name) for case in cases), **options)
        for name in names.split()
    }


def refused(why: str, *cases: str, **options: Any) -> Row:
    """A name that porter does not convert, and why."""
    return Row(*cases, status="refused", why=why, **options)


def table() -> dict[str, Row]:
    """The rows of every file of `cases/`; `others.py` has what no other file has."""
    found: dict[str, Row] = {}
    rest: dict[str, Row] = {}
    for path in sorted((Path(__file__).parent / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"numpy_cases_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if path.stem == "others":
            rest = module.ROWS
            continue
        again = found.keys() & module.ROWS.keys()
        assert not again, f"{path.name} has rows of another file: {sorted(again)}"
        found |= module.ROWS
    return rest | found


@dataclass(frozen=True)
class Trial:
    """One case of a row for one dtype."""

    name: str
    row: Row
    case: str
    dtype: str

    @property
    def label(self) -> str:
        """What a report calls it."""
        return f"{self.name} {self.dtype}: {' '.join(self.case.split())}"

    @cached_property
    def arguments(self) -> list[str]:
        """The names of the arguments, in order of appearance."""
        tree = ast.parse(textwrap.dedent(self.case))
        names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
        names.sort(key=lambda n: (n.lineno, n.col_offset))
        return list(dict.fromkeys(n.id for n in names if n.id in SHAPES or n.id in OTHERS))

    @property
    def types(self) -> list[str]:
        """Their types as a signature has them."""
        return [
            _type(OTHERS[a] if a in OTHERS else (DTYPES[self.dtype], SHAPES[a]))
            for a in self.arguments
        ]

    @property
    def source(self) -> str:
        """A module with the function `f`."""
        body = textwrap.dedent(self.case).strip()
        with contextlib.suppress(SyntaxError):
            ast.parse(body, mode="eval")
            body = f"return {body}"
        head = f"import math\n\nimport numpy as np\n\n\ndef f({', '.join(self.arguments)}):\n"
        return head + textwrap.indent(body, "    ") + "\n"

    def make(self, size: int, special: bool = False) -> tuple[Any, ...]:
        """Arguments of one size; with NaN and Inf if `special`."""
        rng = np.random.default_rng(size)
        names = {"n": max(size, self.row.least), "m": size // 2 + 2, "k": 3, "b": 2}
        return tuple(self._argument(rng, a, names, special) for a in self.arguments)

    def _argument(
        self, rng: np.random.Generator, name: str, names: dict[str, int], special: bool
    ) -> Any:
        dtype, shape = OTHERS.get(name, (DTYPES[self.dtype], SHAPES.get(name)))
        if shape is None:
            return int(rng.integers(1, 4)) if dtype == "int64" else float(rng.uniform(0.2, 1.5))
        extent = tuple(names.get(d, 1) for d in shape.split(","))
        if name in "je":
            return rng.integers(0, max(1, names["n"]), extent, dtype=dtype)
        values = _values(rng, np.dtype(dtype), extent, self.row.domain)
        if special and values.dtype.kind in "fc":
            odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], extent)
            values = np.where(rng.random(extent) < 0.4, odd, values).astype(values.dtype)
        return values

    def variants(self, quick: bool = False) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Named argument lists: sizes, layouts, NaN and Inf, axes of size 1."""
        axes = max([0, *(SHAPES.get(a, "").count(",") + 1 for a in self.arguments)])
        largest = min(33 if axes < 3 else 9 if axes == 3 else 4, self.row.largest)
        for size in (0, 1, 5) if quick else (*SIZES, largest):
            yield f"n={size}", self.make(size)
        base = self.make(7)
        yield "strided", _each(base, _strided)
        if self.dtype[0] in self.row.special:
            yield "NaN and Inf", self.make(13, special=True)
        if quick:
            return
        yield "reversed", _each(base, lambda a: a[(slice(None, None, -1),) * a.ndim])
        arrays = [i for i, a in enumerate(base) if isinstance(a, np.ndarray)]
        for i in arrays:
            for axis in range(base[i].ndim if len(arrays) > 1 else 0):
                changed = list(self.make(7))
                changed[i] = changed[i][(slice(None),) * axis + (slice(0, 1),)].copy()
                yield f"argument {i} axis {axis} size 1", tuple(changed)


def _type(described: tuple[str, str | None]) -> str:
    dtype, shape = described
    if shape is None:
        return dtype
    return f"{dtype}[{', '.join(':' for _ in shape.split(','))}]"


def _values(rng: np.random.Generator, dtype: Any, extent: tuple[int, ...], domain: str) -> Any:
    """`pos` is 0.1 to 3, `unit` -1 to 1, `over` 1 to 3, `nonzero` has no 0, `wide` has all bits,
    `ties` repeats few values."""
    if dtype.kind == "b":
        return rng.random(extent) < 0.5
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" or domain == "pos" else -9
        if domain == "wide":
            info = np.iinfo(dtype)
            return rng.integers(info.min, info.max, extent, dtype=dtype, endpoint=True)
        values = rng.integers(low, 3 if domain in ("ties", "small") else 20, extent)
        return np.where((values == 0) & (domain == "nonzero"), 5, values).astype(dtype)
    if domain == "ties":
        return rng.choice([-1.0, 0.0, 2.0], extent).astype(dtype)
    bounds = {"pos": (0.1, 3.0), "unit": (-0.99, 0.99), "over": (1.0, 3.0)}.get(domain)
    values = rng.standard_normal(extent) * 2 if bounds is None else rng.uniform(*bounds, extent)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(extent)
    return values.astype(dtype)


def _each(arguments: tuple[Any, ...], change: Any) -> tuple[Any, ...]:
    return tuple(change(a) if isinstance(a, np.ndarray) else a for a in arguments)


def _strided(a: Any) -> Any:
    wide = np.full([2 * n for n in a.shape], 1, dtype=a.dtype)
    view = wide[(slice(None, None, 2),) * a.ndim]
    view[...] = a
    return view


def trials(rows_: dict[str, Row], dtypes: str = "") -> list[Trial]:
    """Every case of every row for every dtype that it claims to serve."""
    return [
        Trial(name, row, case, dtype)
        for name, row in rows_.items()
        if row.status != "refused"
        for case in row.cases
        for dtype in row.dtypes.split()
        if not dtypes or dtype in dtypes.split()
    ]
