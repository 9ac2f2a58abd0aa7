"""Keywords of ufuncs."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule


@pytest.mark.parametrize("where", ["", ", where=x > 0"])
@pytest.mark.parametrize("out", ["out", "np.zeros_like(y)"])
def test_a_result_with_more_axes_than_out_is_refused(out: str, where: str) -> None:
    """NumPy raises: the output is not broadcast."""
    text = (
        "import numpy as np\n\ndef f(x, y):\n    out = np.zeros_like(y)\n"
        f"    r = np.divide(y, x, out={out}{where})\n    return out + r\n"
    )
    (function,) = SourceModule(text, "a.py").functions
    with pytest.raises(Refusal) as refused:
        convert_function(function, "float64[:, :], float64[:]")
    assert refused.value.diagnostic.code in ("PRT903", "PRT905")
