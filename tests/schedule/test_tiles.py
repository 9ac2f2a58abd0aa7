"""Contractions: which of them are tiled, and by which tiles."""

from __future__ import annotations

import pytest

from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"
DISTANCES = "def f(x, y):\n    return (x[:, None, :] * y[None]).max(axis=2)\n"


@pytest.mark.parametrize("product", ["x @ y", "x @ y.conj().T", "np.einsum('ij,kj->ik', x, y)"])
def test_products_of_complex_numbers_are_tiled(shell: Shell, product: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return {product}\n")
    assert shell.convert("f.py", "--signature", "complex64[:, :], complex64[:, :]", "-o", "-") == 0
    assert "_tile = cuda.shared.array((TILE, PADDED), complex64)" in shell.out


def test_an_extreme_of_integers_has_no_element_to_start_from_in_a_tile(shell: Shell) -> None:
    """A thread behind the last row has none; infinity is where floats start."""
    shell.write("f.py", HEAD + DISTANCES)
    for dtype, tiled in (("float32", True), ("int64", False)):
        signature = f"{dtype}[:, :], {dtype}[:, :]"
        assert shell.convert("f.py", "--signature", signature, "--force", verify=True) == 0
        text = (shell.folder / "f_cuda.py").read_text()
        assert ("f_tiled" in text) == tiled
