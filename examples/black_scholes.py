"""European option prices after Black and Scholes."""

import numpy as np
from numpy.typing import NDArray

RSQRT_2PI = 0.3989422804014327


def normal_cdf(d):
    """Return the standard normal distribution function, good to 7 decimals.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17.
    """
    k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    tail = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = RSQRT_2PI * np.exp(-0.5 * d * d) * tail
    return np.where(d > 0, 1.0 - tail, tail)


def black_scholes(
    price: NDArray[np.float64],
    strike: NDArray[np.float64],
    years: NDArray[np.float64],
    rate: float = 0.02,
    volatility: float = 0.30,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of the call and of the put option."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread

    # what the strike, paid at the end, is worth today
    discounted = strike * np.exp(-rate * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - price * normal_cdf(-d1)
    return call, put
