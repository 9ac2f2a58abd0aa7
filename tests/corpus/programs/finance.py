"""Prices, returns, rates."""

import math

import numpy as np
from numpy import exp, log, sqrt, where

TRADING_DAYS = 252


def log_returns(prices):
    return np.log(prices[1:] / prices[:-1])


def simple_returns(p):
    return np.diff(p) / p[:-1]


def annualized_volatility(returns):
    return returns.std(ddof=1) * np.sqrt(TRADING_DAYS)


def sharpe(returns, rf=0.0):
    excess = returns - rf / TRADING_DAYS
    return excess.mean() / excess.std() * math.sqrt(TRADING_DAYS)


def cnd(d):
    """Cumulative normal distribution through tanh."""
    return 0.5 * (1.0 + np.tanh(0.7978845608 * (d + 0.044715 * d * d * d)))


def black_scholes_call(S, K, T, r, sigma):
    d1 = (log(S / K) + (r + sigma * sigma / 2) * T) / (sigma * sqrt(T))
    d2 = d1 - sigma * sqrt(T)
    return S * cnd(d1) - K * exp(-r * T) * cnd(d2)


def black_scholes_out(call, put, S, X, T, R, V):
    """The CUDA sample's form: results into arguments."""
    sqrt_t = np.sqrt(T)
    d1 = (np.log(S / X) + (R + 0.5 * V * V) * T) / (V * sqrt_t)
    d2 = d1 - V * sqrt_t
    c1 = cnd(d1)
    c2 = cnd(d2)
    e = np.exp(-R * T)
    call[:] = S * c1 - X * e * c2
    put[:] = X * e * (1.0 - c2) - S * (1.0 - c1)


def payoff(s, strike, call=True):
    if call:
        return np.maximum(s - strike, 0.0)
    return np.maximum(strike - s, 0.0)


def present_value(cash, rate):
    n = cash.shape[0]
    t = np.arange(n)
    return np.sum(cash / (1 + rate) ** t)


def bond_prices(coupons, yields, face, years):
    price = face * (1 + yields) ** -years
    for k in range(1, years + 1):
        price = price + coupons * (1 + yields) ** -k
    return price


def greeks(S, K, T, r, v):
    srt = v * np.sqrt(T)
    d1 = (np.log(S / K) + (r + v**2 / 2) * T) / srt
    density = np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
    delta = cnd(d1)
    gamma = density / (S * srt)
    vega = S * density * np.sqrt(T)
    return delta, gamma, vega


def drawdown_from(prices, peak):
    return where(prices < peak, prices / peak - 1.0, 0.0)


def portfolio_variance(w, cov):
    return w @ cov @ w


def paths_step(s, z, mu, sigma, dt):
    s *= np.exp((mu - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * z)


def simulate(s0, z, mu, sigma, dt):
    """Geometric Brownian motion: one column a step."""
    n, steps = z.shape
    s = np.empty((n, steps + 1))
    s[:, 0] = s0
    for t in range(steps):
        s[:, t + 1] = s[:, t] * np.exp((mu - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z[:, t])
    return s


def binomial_tree(s0, strike, u, d, p, steps):
    """European call by backward induction."""
    j = np.arange(steps + 1)
    values = np.maximum(s0 * u**j * d ** (steps - j) - strike, 0.0)
    for _ in range(steps):
        values = p * values[1:] + (1 - p) * values[:-1]
    return values[0]
