"""A function of numbers, called for the elements of arrays as NumPy calls a ufunc.

The shape is the common one of the arguments.  The dtype is that of the signature which the
dtypes of the arguments choose: where the function returns Python's numbers on one path and NumPy's
on another, the elements that there are do not tell it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ElementTypes:
    """One signature: the dtypes of the results, and those of the arguments."""

    results: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> ElementTypes:
        """Of a line such as `float64(float64, int64)`, or `float64 float64(float64)`."""
        results, _, arguments = text.rstrip(")").partition("(")
        return cls(tuple(results.split()), tuple(a.strip() for a in arguments.split(",")))

    def takes(self, dtypes: Sequence[np.dtype[Any] | None], casting: Any) -> bool:
        """Whether arguments of these dtypes are cast to it; None stands for a Python number."""
        pairs = zip(dtypes, self.arguments, strict=False)
        return all(d is None or np.can_cast(d, np.dtype(own), casting) for d, own in pairs)


def per_element(
    function: Callable[..., Any], lines: Sequence[str], *, stated: bool = False
) -> Callable[..., Any]:
    """The function for arrays; `lines` are those of the module's header.

    Where the signatures are `stated`, arguments are cast to the first that holds them.
    """
    signatures = [ElementTypes.parse(line) for line in lines]

    @wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        given = [*map(_loose, (*args, *keywords.values()))]
        own = _stated(signatures, given) if stated else None
        if own is not None:
            given = [np.asarray(v, d) for v, d in zip(given, own.arguments, strict=True)]
        arrays = [v for v in given if isinstance(v, np.ndarray)]
        shape = np.broadcast_shapes(*(v.shape for v in arrays))
        spread = [np.broadcast_to(v, shape) if isinstance(v, np.ndarray) else v for v in given]
        rows = []
        for index in np.ndindex(shape):
            values = [v[index] if isinstance(v, np.ndarray) else v for v in spread]
            named = dict(zip(keywords, values[len(args) :], strict=True))
            rows.append(function(*values[: len(args)], **named))
        several = isinstance(rows[0], tuple) if rows else len(signatures[0].results) > 1
        columns = [*zip(*rows, strict=True)] if several and rows else [rows]
        results = (own or _chosen(signatures, given)).results
        columns = columns if rows else [[] for _ in results]
        made = [_array(c, name).reshape(shape) for c, name in zip(columns, results, strict=True)]
        made = [a if shape else a[()] for a in made]
        return tuple(made) if several else made[0]

    return called


def _loose(value: Any) -> Any:
    """An array, or a number of Python's, which takes the dtype of what it meets."""
    return value if isinstance(value, (bool, int, float, complex)) else np.asarray(value)


def _stated(signatures: Sequence[ElementTypes], given: Sequence[Any]) -> ElementTypes:
    """The first signature to which NumPy casts the arguments; else TypeError."""
    dtypes = [v.dtype if isinstance(v, np.ndarray) else None for v in given]
    kinds = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}
    own = [kinds.get(np.asarray(v).dtype.kind, 3) for v in given]
    most = max((k for k, d in zip(own, dtypes, strict=True) if d is not None), default=-1)
    if most < max((k for k, d in zip(own, dtypes, strict=True) if d is None), default=0):
        dtypes = [np.asarray(v).dtype for v in given]
    for signature in signatures:
        if signature.takes(dtypes, "safe") and all(
            d is not None or kinds[np.dtype(a).kind] >= k
            for d, a, k in zip(dtypes, signature.arguments, own, strict=True)
        ):
            return signature
    raise TypeError(f"no signature for {', '.join(str(np.asarray(v).dtype) for v in given)}")


def _chosen(signatures: Sequence[ElementTypes], given: Sequence[Any]) -> ElementTypes:
    dtypes = [v.dtype if isinstance(v, np.ndarray) else None for v in given]
    floats = [d for d in dtypes if d is not None and d.kind in "fc"]
    if floats:
        common = np.result_type(*floats)
        together = [None if d is None else common if d.kind in "fc" else d for d in dtypes]
    else:
        # integers become float64, not the least float that holds them
        together = [np.dtype(np.int64) if d is not None and d.kind in "iu" else d for d in dtypes]
    tries = ((dtypes, "no"), (together, "no"), (together, "safe"), (dtypes, "same_kind"))
    for tried, casting in tries:
        for signature in signatures:
            if signature.takes(tried, casting):
                return signature
    return signatures[-1]


def _array(values: Sequence[Any], name: str) -> np.ndarray[Any, Any]:
    """The results in the dtype of the signature, unless they are of another kind."""
    dtype = np.dtype(name)
    if not values:
        return np.empty(0, dtype)
    own = np.result_type(*{_representative(v) for v in values})
    return np.array(values, dtype if np.can_cast(own, dtype, "same_kind") else own)


def _representative(value: Any) -> Any:
    """What promotes as a result does: its dtype, or a number of Python's."""
    return type(value)(0) if isinstance(value, (bool, int, float, complex)) and not isinstance(
        value, np.generic
    ) else np.asarray(value).dtype  # fmt: skip
