"""Random numbers: of NumPy's functions, of its generators, and of Python's `random`.

All are made of two kinds that threads draw: uniform in [0, 1), and normal.
"""

from __future__ import annotations

from porter import ir
from porter.dtypes.dtype import FLOAT32, FLOAT64, INT64, WEAK_FLOAT, WEAK_INT, DType
from porter.ir.scalars import constant_of, integer, number, on_host, operate, poly_of
from porter.lowering.arrays.calculus import (
    Operand,
    astype,
    broadcast_shape,
    elementwise,
)
from porter.lowering.draws import NORMAL, UNIFORM, drawn_array, drawn_number, generator_of, start
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Generator, Value
from porter.sizes.polynomial import Data, Poly

#: what names the functions of `np.random` and the methods of generators begin with
_NUMPY, _GENERATOR = "numpy.random", "numpy.random.Generator"
#: the largest bound that a uniform number has bits enough for
_MOST = 2**53


def _named(names: str, *, both: bool = True) -> str:
    owners = (_NUMPY, _GENERATOR) if both else (_NUMPY,)
    return " ".join(f"{owner}.{name}" for owner in owners for name in names.split())


def _drawn(call: Call, kind: str, *parameters: Operand) -> Operand:
    """As many numbers as `size` says, or else as the parameters are broadcast to."""
    size = call.arguments.get("size", NONE)
    if size is NONE:
        arrays = [p.shape for p in parameters if isinstance(p, Array)]
        if not arrays:
            return drawn_number(call.b, kind)
        return drawn_array(call.b, kind, broadcast_shape(call.b, arrays, f"`{call.name.short}`"))
    return drawn_array(call.b, kind, shape_of(call, size))


def _operand(call: Call, name: str) -> Operand:
    """An argument, or its default."""
    value = call.value(name)
    return number(value) if isinstance(value, (int, float)) else call.operand(name)


def _float(call: Call, name: str) -> Operand:
    """A parameter of a distribution: NumPy computes in float64 whatever it is given."""
    value = _operand(call, name)
    return astype(value, FLOAT64) if isinstance(value, Array) or not value.dtype.weak else value


def _not_negative(call: Call, name: str, value: Operand) -> Operand:
    """A scale: NumPy raises for one below 0."""
    short = call.name.short
    known = None if isinstance(value, Array) else constant_of(value)
    if isinstance(known, (int, float)):
        if known < 0:
            raise call.refuse("PRT903", f"`{name}` of `{short}` is negative")
        return value
    if isinstance(value, Array) or not on_host(value):
        raise call.refuse(
            "PRT903",
            f"`{name}` of `{short}` is computed from array elements",
            "draw standard numbers of the same shape, and multiply them by it",
        )
    # -0.0 counts as below, and NaN does not
    below = operate("and", operate("le", value, number(0.0)), operate("signbit", value))
    message = f"{name} < 0"
    check = ir.Check("index", Poly.of(1), Poly(), message, "ValueError", conditions=(below,))
    call.b.sizes.check(check)
    return value


def _scaled(call: Call, drawn: Operand, scale: Operand, shift: Operand) -> Value:
    """`shift + scale * drawn`."""
    if not _is(scale, 1):
        drawn = elementwise(call.b, "mul", scale, drawn)
    return drawn if _is(shift, 0) else elementwise(call.b, "add", shift, drawn)


def _is(value: Operand, wanted: int) -> bool:
    return not isinstance(value, Array) and constant_of(value) == wanted


def _in_dtype(call: Call, drawn: Operand) -> Value:
    """The numbers in the dtype that is asked for; one alone is Python's float all the same."""
    if call.arguments.get("out", NONE) is not NONE:
        raise call.refuse("PRT901", f"the keyword `out` of `{call.name.short}` is not supported")
    dtype = call.dtype() if "dtype" in call.arguments else None
    if dtype is None or dtype.name == "float64":
        return drawn
    if dtype.name != "float32":
        raise call.refuse(
            "PRT907",
            f"random numbers of {dtype.name} are not supported",
            f"draw float64 and convert: `.astype(np.{dtype.name})`",
        )
    single = astype(drawn, FLOAT32)
    return single if isinstance(single, Array) else astype(single, WEAK_FLOAT)


def _of_24_bits(call: Call, drawn: Operand) -> Operand:
    """Uniform numbers that float32 holds: 1.0 is not rounded to."""
    dtype = call.dtype() if "dtype" in call.arguments else None
    if dtype is None or dtype.name == "float64":
        return drawn
    bits = elementwise(call.b, "floor", elementwise(call.b, "mul", drawn, number(2.0**24)))
    return elementwise(call.b, "mul", bits, number(2.0**-24))


# -- what random numbers start from ----------------------------------------------------------


def _start(call: Call, name: str) -> None:
    seed = call.value(name)
    if seed is NONE:
        return
    value = call.operand(name)
    if isinstance(value, Array) or poly_of(value) is None or not on_host(value):
        raise call.refuse("PRT903", "a seed must be an integer", "pass one integer as the seed")
    start(call.b, value)


@function("numpy.random.default_rng", "seed=None")
def _default_rng(call: Call) -> Value:
    seed = call.value("seed")
    if isinstance(seed, Generator):
        return seed
    _start(call, "seed")
    return generator_of("Generator")


@function("numpy.random.RandomState", "seed=None")
def _random_state(call: Call) -> Value:
    _start(call, "seed")
    return generator_of("RandomState")


@function("numpy.random.seed", "seed=None")
def _seed(call: Call) -> Value:
    _start(call, "seed")
    return NONE


@function("random.seed", "a=None")
def _python_seed(call: Call) -> Value:
    _start(call, "a")
    return NONE


# -- distributions ---------------------------------------------------------------------------


@function(_named("random_sample ranf sample", both=False), "size=None")
@function("numpy.random.random", "size=None")
@function("numpy.random.Generator.random", "size=None dtype=None out=None")
@function("random.random", "")
def _random(call: Call) -> Value:
    return _in_dtype(call, _of_24_bits(call, _drawn(call, UNIFORM)))


@function("numpy.random.rand", "*sizes")
def _rand(call: Call) -> Value:
    return _by_sizes(call, UNIFORM)


@function("numpy.random.randn", "*sizes")
def _randn(call: Call) -> Value:
    return _by_sizes(call, NORMAL)


def _by_sizes(call: Call, kind: str) -> Value:
    sizes = call.value("sizes")
    if not sizes:
        return drawn_number(call.b, kind)
    return drawn_array(call.b, kind, shape_of(call, sizes))


@function(_named("uniform"), "low=0.0 high=1.0 size=None")
def _uniform(call: Call) -> Value:
    low, high = _float(call, "low"), _float(call, "high")
    if call.name.startswith(_GENERATOR):
        _not_negative(call, "high - low", elementwise(call.b, "sub", high, low))
    return _between(call, low, high)


@function("random.uniform", "a b")
def _python_uniform(call: Call) -> Value:
    return _between(call, _float(call, "a"), _float(call, "b"))


def _between(call: Call, low: Operand, high: Operand) -> Value:
    drawn = _drawn(call, UNIFORM, low, high)
    scale = high if _is(low, 0) else elementwise(call.b, "sub", high, low)
    return _scaled(call, drawn, scale, low)


@function(_named("normal"), "loc=0.0 scale=1.0 size=None")
def _normal(call: Call) -> Value:
    loc, scale = _float(call, "loc"), _not_negative(call, "scale", _float(call, "scale"))
    return _scaled(call, _drawn(call, NORMAL, loc, scale), scale, loc)


@function("random.gauss random.normalvariate", "mu=0.0 sigma=1.0")
def _python_normal(call: Call) -> Value:
    mu, sigma = _float(call, "mu"), _float(call, "sigma")
    return _scaled(call, _drawn(call, NORMAL, mu, sigma), sigma, mu)


@function("numpy.random.standard_normal", "size=None")
@function("numpy.random.Generator.standard_normal", "size=None dtype=None out=None")
def _standard_normal(call: Call) -> Value:
    return _in_dtype(call, _drawn(call, NORMAL))


@function(_named("exponential"), "scale=1.0 size=None")
def _exponential(call: Call) -> Value:
    scale = _not_negative(call, "scale", _float(call, "scale"))
    return _scaled(call, _waiting(call, _drawn(call, UNIFORM, scale)), scale, integer(0))


@function("numpy.random.standard_exponential", "size=None")
@function(
    "numpy.random.Generator.standard_exponential", "size=None dtype=None method='zig' out=None"
)
def _standard_exponential(call: Call) -> Value:
    return _in_dtype(call, _waiting(call, _drawn(call, UNIFORM)))


@function("random.expovariate", "lambd=1.0")
def _python_exponential(call: Call) -> Value:
    waiting = _waiting(call, _drawn(call, UNIFORM))
    return elementwise(call.b, "truediv", waiting, _float(call, "lambd"))


def _waiting(call: Call, drawn: Operand) -> Operand:
    """Exponential numbers of uniform ones: 1 - u is never 0."""
    return elementwise(call.b, "neg", elementwise(
        call.b, "log1p", elementwise(call.b, "neg", drawn)
    ))  # fmt: skip


# -- integers --------------------------------------------------------------------------------


@function("numpy.random.randint", "low high=None size=None dtype=int")
@function("numpy.random.Generator.integers", "low high=None size=None dtype=int endpoint=False")
def _integers(call: Call) -> Value:
    low, high = _bound(call, "low"), None
    if call.value("high") is not NONE:
        high = _bound(call, "high")
    if high is None:
        low, high = Poly(), low
    if "endpoint" in call.arguments and call.constant("endpoint"):
        high += 1
    found = _whole(call, low, high)
    if call.value("dtype") != "int":
        return astype(found, _integer_dtype(call))
    of_python = call.name.short == "randint" and not isinstance(found, Array)
    return found if of_python else astype(found, INT64)


def _integer_dtype(call: Call) -> DType:
    dtype = call.dtype() or INT64
    if dtype.kind not in "iu":
        raise call.refuse("PRT907", f"random integers of {dtype.name} are not supported")
    return dtype


@function("random.randint", "a b")
def _python_integer(call: Call) -> Value:
    return _whole(call, _bound(call, "a"), _bound(call, "b") + 1)


@function("random.randrange", "start stop=None")
def _python_range(call: Call) -> Value:
    start = _bound(call, "start")
    if call.value("stop") is NONE:
        return _whole(call, Poly(), start)
    return _whole(call, start, _bound(call, "stop"))


def _bound(call: Call, name: str) -> Poly:
    value = call.operand(name)
    poly = None if isinstance(value, Array) else poly_of(value)
    if poly is None or any(isinstance(a, Data) for a in poly.atoms()):
        raise call.refuse(
            "PRT903",
            f"`{name}` of `{call.name.short}` must be an integer that is no array element",
            "draw uniform numbers and round them down",
        )
    return poly


def _whole(call: Call, low: Poly, high: Poly) -> Operand:
    """Whole numbers from low to below high, over which the 53 bits of a uniform one are spread."""
    count = call.b.sizes.resolve(high - low)
    if count.constant is not None and count.constant > _MOST:
        raise call.refuse("PRT903", "random integers of over 53 bits are not supported")
    drawn = _drawn(call, UNIFORM)
    sizes = drawn.shape if isinstance(drawn, Array) else ()
    check = ir.Check("index", Poly.of(1), count, "low >= high", "ValueError", when=sizes)
    call.b.sizes.check(check)
    spread = elementwise(call.b, "mul", drawn, integer(count))
    whole = astype(
        elementwise(call.b, "floor", spread), INT64 if isinstance(spread, Array) else WEAK_INT
    )
    return whole if low.constant == 0 else elementwise(call.b, "add", whole, integer(low))


@function(_named("choice"), "a size=None replace=True p=None axis=0 shuffle=True")
@function("random.choice", "seq")
def _choice(call: Call) -> Value:
    if call.arguments.get("p", NONE) is not NONE:
        raise call.refuse("PRT901", "`choice` with weights `p` cannot be converted",
                          "draw uniform numbers and search in the cumulated weights")  # fmt: skip
    if "replace" in call.arguments and not call.constant("replace"):
        raise call.refuse("PRT901", "`choice` without replacement cannot be converted",
                          "choose outside this function")  # fmt: skip
    name = "a" if "a" in call.arguments else "seq"
    among = call.operand(name)
    if not isinstance(among, Array):
        return _strong(_whole(call, Poly(), _bound(call, name)))
    if among.ndim != 1:
        raise call.refuse("PRT903", f"`choice` of a {among.ndim}-D array is not supported")
    places = _whole(call, Poly(), among.shape[0])

    def at(place: ir.Expr) -> ir.Expr:
        return among.at([Poly.atom(Data(place, nonneg=True, inside=True))])

    if not isinstance(places, Array):
        return at(places)
    return Array(places.shape, among.dtype, lambda idx: at(places.at(idx)))


def _strong(value: Operand) -> Operand:
    return astype(value, INT64)
