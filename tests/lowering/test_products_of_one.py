"""An axis of size 1 is repeated by `einsum` alone: `dot` and its like raise."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.shell import Shell

PRODUCTS = ("np.vdot(one, x)", "np.tensordot(one, x, 1)", "np.einsum('k,k->', one, x)")
CHILD = """
import json
import numpy as np
import a, a_cuda
vars(a_cuda).update(THREADS=32)

def of(call, *given):
    try:
        return float(call(*given))
    except ValueError:
        return "ValueError"

print(json.dumps([
    [of(getattr(m, f"f{k}"), np.arange(n) + 1.0, np.ones(4)) for m in (a, a_cuda)]
    for k in range(3) for n in (0, 1, 3)
]))
"""


@pytest.mark.long
def test_products_of_one_element(shell: Shell) -> None:
    functions = (
        f"def f{k}(x, y):\n    one = np.mean(y, keepdims=True)\n    return {product}\n"
        for k, product in enumerate(PRODUCTS)
    )
    shell.write("a.py", "import numpy as np\n\n\n" + "\n\n".join(functions))
    signature = "float64[:], float64[:]"
    assert shell.convert("a.py", "--no-verify", "--signature", signature) == 0, shell.out
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True,
        cwd=shell.folder, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert [own for _, own in found] == [original for original, _ in found]
    assert found[-1] == [6.0, 6.0] and found[0] == ["ValueError", "ValueError"]
