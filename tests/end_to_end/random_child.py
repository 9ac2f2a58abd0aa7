"""What `test_random.py` runs on the emulator: kernels of `drawn_cuda`, with their own blocks."""

from __future__ import annotations

import math
import warnings

import drawn_cuda as drawn
import numpy as np
from numba.cuda.random import create_xoroshiro128p_states

from porter.verify.engines.emulation import Emulation
from porter.verify.engines.simulator import EMULATED, install

#: how many numbers of each kind, and the chance that a right generator is refused
COUNT, ALARM = 1_000_000, 1e-6


def smirnov(below: np.ndarray) -> float:
    """The chance that numbers with these values of the distribution function are its own.

    The bound 2 exp(-2 n d^2) of Dvoretzky, Kiefer, Wolfowitz and Massart.
    """
    below = np.sort(below)
    steps = np.arange(len(below) + 1) / len(below)
    apart = max((below - steps[:-1]).max(), (steps[1:] - below).max())
    return min(1.0, 2 * math.exp(-2 * len(below) * apart**2))


def deviations(values: np.ndarray, mean: float, variance: float) -> float:
    """By how many standard errors a mean is off."""
    return abs(values.mean() - mean) / math.sqrt(variance / len(values))


def distributions() -> None:
    uniform, normal, waiting, whole = drawn.numbers(COUNT, seed=5)
    assert ((uniform >= 0) & (uniform < 1)).all()
    assert set(np.unique(whole)) == set(range(7)) and (waiting >= 0).all()
    standard = (normal - 1.0) / 2.0
    erf = np.frompyfunc(math.erf, 1, 1)
    for below in (
        uniform,
        0.5 * (1 + erf(standard / math.sqrt(2)).astype(float)),
        1 - np.exp(-waiting / 3.0),
    ):
        assert smirnov(below) > ALARM, smirnov(below)
    counts = np.bincount(whole, minlength=7)
    chi = ((counts - COUNT / 7) ** 2 / (COUNT / 7)).sum()
    assert chi < 40  # of 6 degrees of freedom: 4.5e-7
    # moments: 4.9 standard errors are a chance of 1e-6
    for power, mean, square in ((1, 0, 1), (2, 1, 3), (3, 0, 15), (4, 3, 105)):
        assert deviations(standard**power, mean, square - mean**2) < 4.9
    for power in range(1, 5):
        mean, square = 1 / (power + 1), 1 / (2 * power + 1)
        assert deviations(uniform**power, mean, square - mean**2) < 4.9
    assert deviations(waiting, 3.0, 9.0) < 4.9
    # neighbouring threads, further ones, the next number of the same thread; two streams
    apart = (uniform - 0.5) * math.sqrt(12)
    for lag in (1, 2, 32, drawn.THREADS, drawn.MOST_STATES):
        for values in (apart, standard):
            assert deviations(values[lag:] * values[:-lag], 0.0, 1.0) < 4.9
    assert deviations(apart * standard, 0.0, 1.0) < 4.9


def single_precision() -> None:
    """Of float32 the uniform ones have 24 bits, as NumPy's, and are below 1."""
    uniform, normal, waiting = drawn.singles(COUNT, seed=6)
    assert {uniform.dtype, normal.dtype, waiting.dtype} == {np.dtype(np.float32)}
    assert ((uniform >= 0) & (uniform < 1)).all()
    steps = uniform.astype(np.float64) * 2**24
    assert (steps == np.floor(steps)).all() and (steps % 2 == 1).mean() > 0.49
    erf = np.frompyfunc(math.erf, 1, 1)
    for below in (
        uniform.astype(np.float64),
        0.5 * (1 + erf(normal.astype(np.float64) / math.sqrt(2)).astype(float)),
        1 - np.exp(-waiting.astype(np.float64)),
    ):
        assert smirnov(below) > ALARM, smirnov(below)


def seeds_and_states() -> None:
    pi = drawn.monte_carlo_pi(COUNT, seed=1)
    assert abs(pi - math.pi) < 4.9 * math.sqrt(math.pi * (4 - math.pi) / COUNT)
    assert drawn.monte_carlo_pi(COUNT, seed=1) == pi != drawn.monte_carlo_pi(COUNT, seed=2)
    assert drawn.monte_carlo_pi(COUNT) != drawn.monte_carlo_pi(COUNT)
    first = drawn.started(1000, 3)
    assert (drawn.started(1000, 3) == first).all()
    assert (drawn.started(1000, 4, seed=3) == first).all()
    assert not (drawn.started(1000, 4) == first).any()
    states = create_xoroshiro128p_states(drawn.THREADS, seed=3)
    several = [drawn.started(500, 0, states=states) for _ in range(3)]
    assert len(np.unique(several)) == 1500, "each call goes on"
    again = drawn.started(500, 0, states=create_xoroshiro128p_states(drawn.THREADS, seed=3))
    assert (again == several[0]).all()
    for wrong, error in (
        (create_xoroshiro128p_states(drawn.THREADS - 1, seed=3), ValueError),
        (np.zeros(1024, np.uint64), TypeError),
    ):
        try:
            drawn.started(5, 0, states=wrong)
        except error:
            continue
        raise AssertionError("states that do not suffice")


def rejection() -> None:
    """Numbers of `while` loops: those that are kept have the distribution that is asked for."""
    rng = np.random.default_rng(3)
    kept = drawn.half_normal(rng, COUNT)
    erf = np.frompyfunc(math.erf, 1, 1)
    below = erf(kept / math.sqrt(2)).astype(float) / math.erf(4.0 / math.sqrt(2))
    assert smirnov(below) > ALARM, smirnov(below)
    apart = (kept - kept.mean()) / kept.std()
    assert deviations(apart[1:] * apart[:-1], 0.0, 1.0) < 4.9
    tries = drawn.tries(COUNT, 0.3, rng)
    assert tries.dtype == np.int64
    assert deviations(tries, 1 / 0.3, 0.7 / 0.09) < 4.9
    counts = np.bincount(tries, minlength=12)[1:11]
    wanted = COUNT * 0.3 * 0.7 ** np.arange(10)
    assert ((counts - wanted) ** 2 / wanted).sum() < 52  # of 10 degrees of freedom: 1e-7


def generators() -> None:
    """One of the caller's gives the seed: equal ones equal numbers, the next call others."""
    first, again = np.random.default_rng(3), np.random.default_rng(3)
    one = drawn.tries(500, 0.01, first)
    assert (drawn.tries(500, 0.01, again) == one).all()
    assert first.bit_generator.state == again.bit_generator.state
    assert (drawn.tries(500, 0.01, again) != one).any()
    # what the caller says goes before it, and the generator stays where it is
    state = first.bit_generator.state
    drawn.tries(5, 0.5, first, seed=1)
    assert first.bit_generator.state == state
    numbers = [drawn.of_either(100, seed) for seed in (np.random.default_rng(3), 3, None)]
    assert len(np.unique(numbers)) == 300
    assert (drawn.of_either(100, np.random.default_rng(3)) == numbers[0]).all()
    assert (drawn.of_either(100, 3) == numbers[1]).all()
    assert (drawn.of_either(100, None, seed2=3) == numbers[1]).all()
    for wrong in (3, None, np.random.RandomState(3), np.random):
        try:
            drawn.tries(5, 0.5, wrong)
        except TypeError as error:
            assert "must be a numpy.random.Generator" in str(error)
            continue
        raise AssertionError("no generator")


def the_generator_is_numbas() -> None:
    """The same bits as `numba.cuda.random` draws from the same states."""
    from numba.cuda.random import xoroshiro128p_uniform_float64

    states = create_xoroshiro128p_states(drawn.THREADS, seed=9)
    found = drawn.started(drawn.THREADS, 0, states=states)
    states = create_xoroshiro128p_states(drawn.THREADS, seed=9)
    wanted = [xoroshiro128p_uniform_float64(states, k) for k in range(drawn.THREADS)]
    np.testing.assert_array_equal(found, wanted)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    install()
    EMULATED.append(Emulation().run)
    distributions()
    single_precision()
    seeds_and_states()
    rejection()
    generators()
    the_generator_is_numbas()
