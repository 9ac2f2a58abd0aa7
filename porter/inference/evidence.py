"""What is known of a parameter, and what its name says by the field's conventions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import libcst as cst

from porter.dtypes.dtype import DType

#: a name that says that a subscript selects
SELECTION = re.compile(r"(^|_)(mask|keep|valid|alive|selected)s?$")
#: methods of random generators that arrays have not; of the old class alone in the second row
_DRAWING = frozenset({
    "beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "gamma", "geometric",
    "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal", "logseries",
    "multinomial", "multivariate_normal", "negative_binomial", "normal", "pareto", "permutation",
    "permuted", "poisson", "random", "rayleigh", "shuffle", "standard_cauchy",
    "standard_exponential",
    "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises", "wald",
    "weibull", "zipf",
})  # fmt: skip
_OLD = frozenset(("rand", "randint", "randn", "random_sample", "tomaxint"))
#: with `...` in its subscript, an array of rows, columns and channels
IMAGE = re.compile(r"(^|_)(img|im|image|rgb|rgba|frame|picture|gr[ae]y)s?$")
#: a picture of rows and columns; whole numbers in it are bytes
PICTURE = re.compile(r"(^|_)(img|image|rgba?|frame|picture|gr[ae]y)s?$")
#: true or false for each element, where it meets others by `&` and `|`
MASK = re.compile(r"(^|_)masks?$")
_COLOURS = re.compile(r"(^|_)rgba?$")
#: the borders of bins, which may be a number of bins as well
EDGES = re.compile(r"(^|_)(bin)?(edge|border|boundar|break|limit)\w*$")
#: steps and tolerances, which are numbers even inside `np.sqrt`
STEP = re.compile(r"(d[txyzrs]|eps|epsilon|tol|atol|rtol|lr|learning_rate)$")
#: arrays of positions, and other names in the plural, where nothing else says what they are
_POSITIONS = re.compile(r"(^|_)(idx|indices|inds|perm|order|ids|src|dst|rows|cols|columns|"
                        r"targets|tokens|labels)$")  # fmt: skip
ARRAYS = re.compile(r"(^|_)(bias|weights|val(ue)?s|positions|velocities|masses|labels|coeffs?|"
                     r"grad|gradient|targets?|means|variances|stds|sigmas|prices|probs|"
                     r"samples|charges)$")  # fmt: skip
#: one of several alike: `W1` beside `W2`, `boxes_a` beside `boxes_b`
_ALIKE = re.compile(r"(\d|_[ab])$")
#: scale and shift of a normalisation
_AFFINE = re.compile(r"(gamma|beta|scale|shift|weight|g|b)$")
#: another state of the array before it: `u_prev` beside `u`
STATE = re.compile(r"_?(prev|previous|old|new|next|last|cur)$")


def is_step(value: cst.BaseExpression) -> bool:
    """A name of steps or tolerances."""
    return isinstance(value, cst.Name) and STEP.match(value.value) is not None


def generator_with(method: str, known: str = "") -> str:
    """The class of random generators that has a method, if it is one of theirs."""
    if method in _OLD:
        return "RandomState"
    return known or ("Generator" if method in _DRAWING else "")


@dataclass
class ArrayUse:
    """Where a parameter is used as an array."""

    seen: bool = False
    has_axes: bool = False  # it is indexed, iterated or asked for its shape
    in_product: bool = False
    is_vector: bool = False
    is_mask: bool = False


@dataclass
class NumberUse:
    """Where a parameter is used as a number."""

    is_index: bool = False
    is_integer: bool = False
    is_size: bool = False  # arrays are made as large as it says
    is_scalar: bool = False  # unless its dimensions are seen
    is_number: bool = False  # for certain: its truth or order is asked
    has_bits: bool = False
    is_inverted: bool = False  # `~x`: without another bit operation, of truth values


@dataclass
class Usage:
    """Evidence about one parameter; `ndim` is the least number of dimensions seen.

    `used` of these are used by the function; the name alone may suggest more.
    """

    arrays: ArrayUse = field(default_factory=ArrayUse)
    numbers: NumberUse = field(default_factory=NumberUse)
    generator: str = ""  # of the class of random generators whose methods are called
    seeds: bool = False  # a generator is made of it, or is it
    ndim: int = 0
    used: int = 0
    default: DType | None = None

    @property
    def is_certain(self) -> bool:
        """Whether it can only be an array: dimensions of it are used, or it is multiplied."""
        return self.arrays.seen and (self.ndim > 0 or self.arrays.in_product)

    def axes(self, ndim: int = 1) -> None:
        """Note that its axes are used, at least `ndim` of them."""
        self.arrays.has_axes = True
        self.array(ndim)

    def array(self, ndim: int = 1) -> None:
        """Note that it is an array of at least `ndim` dimensions."""
        self.arrays.seen = True
        self.ndim = max(self.ndim, ndim)


def settle(uses: dict[str, Usage], function: str = "") -> None:
    """Draw the conclusions that need the evidence about all parameters, and the function's name."""
    for use in uses.values():
        use.used = use.ndim
    products = {name: use for name, use in uses.items() if use.arrays.in_product}
    stacked = max((use.ndim for use in products.values()), default=0)
    for name, use in products.items():
        if use.arrays.is_vector:
            use.ndim = use.ndim or 1
        elif name[0].isupper():
            use.ndim = max(use.ndim, 2)
        else:
            # matrices, or stacks of them if one is a stack
            use.ndim = stacked if stacked > 2 else max(use.ndim, 0 if use.ndim else 2)
    for name, use in uses.items():
        _like_others(name, uses)
        if use.arrays.seen and PICTURE.search(name):
            use.array(3 if _COLOURS.search(name) else 2)
        base = uses.get(STATE.sub("", name))
        if base is not None and base is not use and base.arrays.seen and use.default is None:
            use.array(base.ndim)
        counted = use.numbers.is_number or use.numbers.is_scalar or use.default is not None
        sized = counted or use.numbers.is_size
        if _POSITIONS.search(name) and use.numbers.is_index and not sized:
            use.array()
        if not (counted or use.numbers.is_integer) and _is_named_array(name, uses, function):
            use.array()
        if use.numbers.is_number or (
            use.numbers.is_integer and not use.numbers.is_index and not use.ndim
        ):
            use.arrays.seen, use.numbers.is_scalar, use.ndim = False, True, 0


def _like_others(name: str, uses: dict[str, Usage]) -> None:
    """`b2` is an array of as many dimensions as `b1`."""
    use, stem = uses[name], _ALIKE.sub("", name)
    known = (
        use.numbers.is_number
        or use.numbers.is_scalar
        or use.numbers.is_integer
        or use.default is not None
    )
    alike = [u for n, u in uses.items() if n != name and _ALIKE.sub("", n) == stem != n]
    if stem != name and not (known or use.arrays.in_product) and any(u.arrays.seen for u in alike):
        use.array(max(u.ndim for u in alike))


def _is_named_array(name: str, uses: dict[str, Usage], function: str) -> bool:
    """Whether a name is an array's by convention, beside parameters that are arrays."""
    others = [u for n, u in uses.items() if n != name]
    if ARRAYS.search(name):
        return any(u.arrays.seen for u in others)
    pair = "xy"[name[0] == "x"] + name[1:]  # `y_rank` beside `x_rank`
    if name[:2] in ("x_", "y_") and pair in uses:
        return uses[pair].arrays.seen
    if "norm" in function and _AFFINE.match(name):
        return any(u.arrays.has_axes or u.arrays.in_product or u.ndim > 1 for u in others)
    return name == "y" and any(n in uses and uses[n].ndim > 1 for n in "xX")
