"""Products that CuPy makes with `--library cupy`: which ones, without copies, equal to NumPy's."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cli import main
from porter.codegen.module.module import module_text
from porter.convert.function import convert_function
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.verify.run import verify_module

SOURCE = """
import numpy as np


def layer(x, w, b):
    return np.maximum(x @ w + b, 0.0)


def gram(x):
    return x.T @ x


def dots(a, b):
    return np.dot(a, b[:, ::-1]) - np.inner(a, b.T)


def batched(a: "float64[:, :, :]", b: "float64[:, :, :]"):
    return np.matmul(a, b.transpose(0, 2, 1))


def rotated(a: "float64[:, :, :]", b: "float64[:, :]"):
    return np.tensordot(b, a.transpose(1, 2, 0), axes=([0, 1], [0, 1]))


def scores(q, k):
    return np.einsum("bij,bkj->bik", q, k) * 0.5


def chained(a: "float64[:, :]", b: "float64[:, :]", c: "float64[:, :]"):
    return np.linalg.multi_dot([a, b, c])


def powers(a: "float64[:, :]", x: "float64[:]", steps: int):
    for _ in range(steps):
        x = a @ x
        x = x / np.sqrt(x @ x)
    return x


def whole_numbers(a: "int64[:, :]", b: "int64[:, :]"):
    return a @ b


def one_number(a: "float64[:]", b: "float64[:]"):
    return np.dot(a * 2.0, b + 1.0)


def row_by_row(a: "float64[:, :, :]", b: "float64[:, :]"):
    c = np.zeros(a.shape[:2])
    for i in range(a.shape[0]):
        c[i] = a[i] @ b[i]
    return c


def of_two(x, flag: bool):
    return x @ x if flag else x
"""

CALLS = {
    "layer": "cp.matmul(cp.asarray(d_x), cp.asarray(d_w))",
    "gram": "cp.matmul(cp.asarray(d_x).T, cp.asarray(d_x))",
    "dots": "cp.inner(cp.asarray(d_a), cp.asarray(d_b).T)",
    "batched": "cp.matmul(cp.asarray(d_a), cp.asarray(d_b).transpose(0, 2, 1))",
    "rotated": "cp.asarray(d_a).transpose(1, 2, 0), axes=([0, 1], [0, 1])",
    "scores": "cp.einsum('bij,bkj->bik', cp.asarray(d_q), cp.asarray(d_k))",
    "chained": "cp.matmul(cp.asarray(product), cp.asarray(d_c))",
    "powers": "cp.matmul(cp.asarray(d_a), cp.asarray(x2))",
}
KERNELS = ("whole_numbers", "one_number", "row_by_row")


def written(name: str, library: str) -> str:
    module = SourceModule(SOURCE, "products.py")
    scope = Globals(module)
    scope.options.library = library
    converted = convert_function(module.by_name[name], None, scope)
    return module_text(converted.texts, "products.py")


def joined(text: str) -> str:
    """A text whose line breaks and choice of quotes do not count."""
    plain = "".join(text.replace('"', "'").split())
    return plain.replace("(cp.", "cp.").replace(",)", ")")


@pytest.mark.parametrize("name", CALLS)
def test_a_product_is_cupys(name: str) -> None:
    text = written(name, "cupy")
    assert "import cupy as cp\n" in text
    assert joined(CALLS[name]) in joined(text)
    assert "cupy" not in written(name, "")


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_keeps_what_cupy_has_no_library_for(name: str) -> None:
    assert "cp." not in written(name, "cupy")


def test_they_are_verified_with_numpys_functions_in_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "products.py", tmp_path / "out.py"
    path.write_text(SOURCE)
    names = [part for name in CALLS for part in ("-f", name)]
    with pytest.raises(SystemExit) as done:
        main(["convert", str(path), *names, "--library", "cupy", "--no-verify", "-o", str(out)])
    assert done.value.code == 0
    # no kernel of its own is not too little work
    assert "too small" not in capsys.readouterr().out
    found = {f.name: f.evidence[0] for f in verify_module(out, on=("simulator",), cases=8)}
    assert {n: e.status for n, e in found.items()} == dict.fromkeys(CALLS, "passed")
    assert all("CuPy" in str(e.detail["library"]) for e in found.values())
