"""What is known of a parameter, and what its name says by the field's conventions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.arrays.dtypes import DType

#: a name that says that a subscript selects
MASK = re.compile(r"(^|_)(mask|keep|valid|alive|selected)s?$")
#: with `...` in its subscript, an array of rows, columns and channels
IMAGE = re.compile(r"(^|_)(img|im|image|rgb|rgba|frame|picture)s?$")
#: steps and tolerances, which are numbers even inside `np.sqrt`
STEP = re.compile(r"(d[txyzrs]|eps|epsilon|tol|atol|rtol|lr|learning_rate)$")
#: arrays of positions, and other names in the plural, where nothing else says what they are
_POSITIONS = re.compile(r"(^|_)(idx|indices|inds|perm|order|ids|src|dst|rows|cols|columns)$")
_ARRAYS = re.compile(r"(^|_)(bias|weights|values|positions|velocities|masses|labels|coeffs?)$")
#: another state of the array before it: `u_prev` beside `u`
_STATE = re.compile(r"_?(prev|previous|old|new|next|last|cur)$")


@dataclass
class Usage:
    """Evidence about one parameter; `ndim` is the least number of dimensions seen."""

    is_array: bool = False
    is_index: bool = False
    is_integer: bool = False
    in_product: bool = False
    is_vector: bool = False
    is_scalar: bool = False  # where it is used as a number, unless its dimensions are seen
    is_number: bool = False  # for certain: its truth or order is asked
    has_bits: bool = False
    is_mask: bool = False
    ndim: int = 0
    default: DType | None = None

    @property
    def is_certain(self) -> bool:
        """Whether it can only be an array: dimensions of it are used, or it is multiplied."""
        return self.is_array and (self.ndim > 0 or self.in_product)

    def array(self, ndim: int = 1) -> None:
        """Note that it is an array of at least `ndim` dimensions."""
        self.is_array = True
        self.ndim = max(self.ndim, ndim)


def settle(uses: dict[str, Usage]) -> None:
    """Draw the conclusions that need the evidence about all parameters."""
    products = {name: use for name, use in uses.items() if use.in_product}
    stacked = max((use.ndim for use in products.values()), default=0)
    for name, use in products.items():
        if use.is_vector:
            use.ndim = use.ndim or 1
        elif name[0].isupper():
            use.ndim = max(use.ndim, 2)
        else:
            # matrices, or stacks of them if one is a stack
            use.ndim = stacked if stacked > 2 else max(use.ndim, 0 if use.ndim else 2)
    for name, use in uses.items():
        base = uses.get(_STATE.sub("", name))
        if base is not None and base is not use and base.is_array and use.default is None:
            use.array(base.ndim)
        counted = use.is_number or use.is_scalar or use.default is not None
        if _POSITIONS.search(name) and use.is_index and not counted:
            use.array()
        others = any(u.is_array for u in uses.values() if u is not use)
        if _ARRAYS.search(name) and others and not (counted or use.is_integer):
            use.array()
        if use.is_number:
            use.is_array, use.is_scalar, use.ndim = False, True, 0
