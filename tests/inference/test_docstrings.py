"""The types that docstrings of research code give."""

from __future__ import annotations

import pytest

from porter.inference.docstrings import Documented, documented, read_type

TYPES = {
    "(n, 3) array_like of float": Documented("array", "float64", 2),
    "numeric": Documented("any"),
    "ndarray, shape (M, N)": Documented("array", "", 2),
    "float": Documented("number", "float64"),
    "float, optional": Documented("number", "float64"),
    "int, optional": Documented("number", "int64"),
    "array_like": Documented("array"),
    "array-like": Documented("array"),
    "float or ndarray": Documented("any"),
    "np.ndarray [shape=(d, t)]": Documented("array", "", 2),
    "np.ndarray [shape=(..., n)]": Documented("array", "", 1),
    "number > 0 [scalar]": Documented("number", "float64"),
    "int > 0 [scalar]": Documented("number", "int64"),
    "1d array": Documented("array", "", 1),
    "2-D ndarray": Documented("array", "", 2),
    "ndarray(float, ndim=2)": Documented("array", "float64", 2),
    "array_like(int, ndim=1)": Documented("array", "int64", 1),
    "scalar(int)": Documented("number", "int64"),
    "scalar(float), optional(default=0.5)": Documented("number", "float64"),
    "(4, 4) float": Documented("array", "float64", 2),
    "(m,) int": Documented("array", "int64", 1),
    "array of float32": Documented("array", "float32"),
    "(4,) array": Documented("array", "", 1),
    "float, array, or Series": Documented("any"),
    "str": None,
    "callable": None,
    "list of arrays": None,
}


@pytest.mark.parametrize("text", TYPES)
def test_type(text):
    assert read_type(text) == TYPES[text]


def test_numpy_style():
    found = documented(
        "Sum.\n\nParameters\n----------\nx, y : (n, 3) ndarray\n    Points\n"
        "k : float\n    Factor\n\n"
        "Returns\n-------\nz : (n, 3) ndarray\n"
    )
    array = Documented("array", "", 2)
    assert found == {"x": array, "y": array, "k": Documented("number", "float64")}


def test_google_style():
    found = documented(
        "Sum.\n\nArgs:\n    x (np.ndarray): points of shape (N, 3)\n    k (float): factor\n\n"
        "Returns:\n    z (np.ndarray): sums\n"
    )
    assert found == {"x": Documented("array", "", 2), "k": Documented("number", "float64")}
