"""Sizes and factors that are powers of integers, known when the function is called."""

import numpy as np


def radix_passes(x, r, k):
    """The passes of a transform: the array is seen with axes of powers of its radix."""
    y = x.copy()
    for i in range(k):
        seen = np.reshape(y, (r**i, r, r ** (k - i - 1)))
        twiddled = np.cos(np.arange(r**i) / r ** (i + 1))
        y[:] = np.reshape(np.transpose(seen, (1, 0, 2)) * twiddled[None, :, None], (r**k,))
    return y


def walsh(x, k):
    n = 2**k
    y = x[:n].copy()
    for i in range(k):
        pairs = y.reshape(2 ** (k - i - 1), 2, 2**i)
        y = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(n)
    return y / n


def scaled_by_a_power(x, k):
    return x * 2**k


def alternating(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * (-1) ** i
    return y


def powers_in_a_list(k):
    return np.array([2**i for i in range(k)])


def one_qubit_gates(state, gate, qubits):
    """A gate on each qubit of a register in turn."""
    psi = state.copy()
    for q in range(qubits):
        seen = psi.reshape(1 << q, 2, 1 << (qubits - q - 1))
        low = gate[0, 0] * seen[:, 0] + gate[0, 1] * seen[:, 1]
        high = gate[1, 0] * seen[:, 0] + gate[1, 1] * seen[:, 1]
        psi = np.stack((low, high), axis=1).reshape(1 << qubits)
    return psi
