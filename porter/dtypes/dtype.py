"""dtypes by name, weak Python scalars, and the dtype variables of a generic kernel.

NumPy is not imported here: static analysis must run without it.  The promotion of
strong dtypes is the generated table in `promotion.py`; the rule for weak (Python)
scalars is NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.dtypes.promotion import PROMOTION

#: kind, in the order in which a weak scalar's kind is compared with an array's
KINDS = {"bool": "b"}
KINDS |= {f"int{n}": "i" for n in (8, 16, 32, 64)} | {f"uint{n}": "u" for n in (8, 16, 32, 64)}
KINDS |= {"float16": "f", "float32": "f", "float64": "f", "complex64": "c", "complex128": "c"}
RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
ITEMSIZE = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "int32": 4,
    "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8,
    "complex128": 16,
}  # fmt: skip
#: the dtypes that one conversion may serve, by kind (float16 and complex are converted by name)
SIBLINGS = {
    "f": ("float32", "float64"),
    "i": ("int8", "int16", "int32", "int64"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "c": ("complex64", "complex128"),
    "b": ("bool",),
}


@dataclass(frozen=True)
class DType:
    """A dtype: its NumPy name; `weak` for a Python scalar's; `var` names the parameter
    whose dtype it is when the kernel is generic over that parameter's dtype."""

    name: str
    weak: bool = False
    var: str | None = None

    @property
    def kind(self) -> str:
        """`b`, `i`, `u`, `f` or `c`."""
        return KINDS[self.name]

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return ITEMSIZE[self.name]

    def plain(self) -> DType:
        """The same dtype, strong and bound to no parameter."""
        return DType(self.name)


BOOL, INT64 = DType("bool"), DType("int64")
FLOAT32, FLOAT64, COMPLEX128 = DType("float32"), DType("float64"), DType("complex128")
WEAK_BOOL, WEAK_INT = DType("bool", weak=True), DType("int64", weak=True)
WEAK_FLOAT, WEAK_COMPLEX = DType("float64", weak=True), DType("complex128", weak=True)
_WEAK_DEFAULT = {"i": INT64, "f": FLOAT64, "c": COMPLEX128, "b": BOOL}


def _strong(a: str, b: str) -> str:
    return a if a == b else PROMOTION[a, b]


def _weak_with_strong(weak: DType, strong: DType) -> str:
    """NEP 50: a Python scalar takes the array's dtype unless its kind is higher."""
    if RANK[weak.kind] <= RANK[strong.kind]:
        return strong.name
    if weak.kind == "c" and strong.kind == "f":
        return "complex64" if strong.itemsize <= 4 else "complex128"
    return _WEAK_DEFAULT[weak.kind].name


def promote(a: DType, b: DType) -> DType:
    """The dtype of an operation on `a` and `b`, as NumPy 2 decides it.

    A dtype variable survives only if it would for every dtype of its kind, so that one
    kernel text serves them all.
    """
    if a.weak and b.weak:
        return a if RANK[a.kind] >= RANK[b.kind] else b
    if a.weak or b.weak:
        weak, strong = (a, b) if a.weak else (b, a)
        name = _weak_with_strong(weak, strong)
        return strong if name == strong.name else DType(name)
    name = _strong(a.name, b.name)
    for own, other in ((a, b), (b, a)):
        if own.var and own.name == name and _keeps(own, other):
            return own
    return DType(name)


def _keeps(own: DType, other: DType) -> bool:
    if other.var is not None and other.kind == own.kind:
        return True
    others = SIBLINGS[other.kind] if other.var else (other.name,)
    return all(_strong(d, o) == d for d in SIBLINGS[own.kind] for o in others)


def limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest value of an integer dtype."""
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def strengthen(dtype: DType) -> DType:
    """The dtype that an array made from a value of this dtype has."""
    return replace(dtype, weak=False)
