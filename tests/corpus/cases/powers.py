"""Programs of `corpus/powers.py`."""

from typing import Any

import numpy as np

from tests.corpus.case import Case


def _radix(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    r = 2 + n % 2
    k = 3 if n < 20 else 4
    return rng.standard_normal(r**k), r, k


def _binary(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    k = n.bit_length()
    return rng.standard_normal(2**k), k


def _register(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    k = n.bit_length()
    state, gate = (rng.standard_normal((*s, 2)) @ (1, 1j) for s in ((2**k,), (2, 2)))
    return state, gate, k


CASES = {
    "radix_passes": Case("float64[:], int64, int64", custom=_radix),
    "walsh": Case("float64[:], int64", custom=_binary),
    "scaled_by_a_power": Case("float64[:], int64", "n =70"),
    "alternating": Case("float64[:]", "n"),
    "one_qubit_gates": Case("complex128[:], complex128[:, :], int64", custom=_register),
    "powers_in_a_list": Case("int64", "=7"),
}
