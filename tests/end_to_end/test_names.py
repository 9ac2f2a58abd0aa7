"""Any name that Python allows may be the user's: parameter, local, helper, constant, function."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from porter.support import reserved
from tests.support.names_child import convert
from tests.support.paths import ROOT

TEMPLATES = ROOT / "templates"
NAMES = [
    "stream", "cuda", "math", "range", "len", "max", "min", "int", "T", "I", "THREADS", "TILE",
    "blocks", "partial", "on_device", "d_x", "scratch", "maximum", "block_sum", "_result",
    "_array", "operator", "config", "SimpleNamespace", "shape", "error", "errors", "total",
    "float", "isinstance", "ValueError", "i", "row", "f_kernel", "_math", "builtins", "numpy",
    "match", "_", "host_value_0_",
]  # fmt: skip
X = [1.0, 2.0, 3.0, 4.0]
Y = [[1.5, 2.0, -3.0], [4.0, 0.5, 6.0]]
ROWS = "y = x - x.max(axis=1, keepdims=True)"
#: sources with the name in one place each, and a call
PLACES = {
    "parameter": "def f(a, {n}: float):\n    y = a * m.cos({n})\n"
                 "    return N.cumsum(y) - y.sum() + {n}\n",
    "array": "def f(a, {n}):\n    {n}[:] = (a - a.max(axis=1, keepdims=True)).sum(axis=1)\n"
             "    return N.floor({n} * 2.0) + {n}.max()\n",
    "local": "def f(a, c: float):\n    {n} = a * 2.0\n    t = {n}.sum()\n"
             "    {n} = {n} + t * c\n    return N.cumsum({n})\n",
    "helper": "def {n}(a, b=1.0):\n    return a * b + m.pi\n\n\n"
              "def f(a):\n    return {n}(a, b=3.0) + {n}(2.0)\n",
    "constant": "{n} = 2.5\n\n\ndef f(x):\n    " + ROWS + "\n    return N.sqrt(N.abs(y)) * {n}\n",
    "function": "def {n}(x, w: float):\n    " + ROWS + "\n"
                "    return N.sqrt(N.abs(y)) / w, y.sum(axis=0)\n\n\n"
                "def f(x):\n    return N.cumsum(x)\n",
}  # fmt: skip
CALLS: dict[str, list[object]] = {
    "parameter": [X, 2.5], "array": [Y, [0.0, 0.0]], "local": [X, 1.5], "helper": [X],
    "constant": [Y], "function": [Y, 2.0],
}  # fmt: skip


def faults(cases: list[tuple[str, str, str, list[object]]]) -> dict[str, str]:
    """What is wrong with each case, found on the simulator."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.names_child"], input=json.dumps(cases),
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: why for name, why in found.items() if why}


def case(place: str, name: str) -> tuple[str, str, str, list[object]]:
    source = "import math as m\nimport numpy as N\n\n\n" + PLACES[place].replace("{n}", name)
    return f"{place} {name}", source, name if place == "function" else "f", CALLS[place]


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_a_name_may_be_anything(place: str) -> None:
    names = [n for n in NAMES if not (place == "function" and n in ("f_kernel", "_"))]
    assert faults([case(place, n) for n in names]) == {}


SHADOWS = {
    "constant by parameter": "K = 2.0\n\ndef g(x):\n    return x * K\n\n"
                             "def f(x, K: float):\n    return g(x) + K\n",
    "constant by local": "K = 2.0\n\ndef g(x):\n    return x * K\n\n"
                         "def f(x, c: float):\n    K = x.sum() + c\n    return g(x) + K\n",
    "import": "from math import e\n\ndef f(x, e: float):\n    return x * e\n",
    "helper": "def scale(x):\n    return x * 2\n\ndef f(x, scale: float):\n    return x * scale\n",
    "lambda": "def f(x, c: float):\n    g = lambda max: max * c\n"
              "    return g(x) + max(x.shape[0], 2)\n",
    "nested": "def f(x, c: float):\n    def sum(a, stream):\n        return a * stream\n"
              "    return sum(x, c)\n",
    "comprehension": "def f(x, c: float):\n    s = tuple(len * c for len in (1, 2, 3))\n"
                     "    return x * s[1] + len(x)\n",
    "builtin": "def max(a, b):\n    return a * b\n\ndef f(x, c: float):\n    return max(x, c)\n",
    "builtin assigned": "sum = np.sum\n\ndef f(x, c: float):\n    return sum(x) + x * c\n",
    "normal form": "def f(x, \ufb01x: float):\n    return x * fix\n",
    "keyword in disguise": "def f(x, \U0001d422f: float):\n    return x * \U0001d422f\n",
    "another np": "import numpy as onp\nnp = 3.0\n\n"
                  "def f(x, c: float):\n    return onp.sqrt(x) * np * c\n",
    "text": "def f(x, stream: float):\n    if stream > 0:\n"
            "        raise ValueError(f\"'{stream!r}' \\\"stream\\\" @@x@@ _math.x {{}}\")\n"
            "    return x * stream\n",
    "default by name": "from math import pi\nK = 2.5\n\ndef f(x, c: float, w=K, a=pi, b=-K):\n"
                       "    return x * w * c + a * b\n",
    "default tuple": "def f(x, c: float, w=(1.0, 2.0)):\n"
                     "    return np.cumsum(x) * w[0] * c + w[1]\n",
    "default number of NumPy": "def f(x, c: float, w=np.float32(0.5)):\n    return x * w + c\n",
    "constant by another alias": "import numpy\nK = numpy.pi * 2\n\n"
                                 "def f(x, c: float):\n    return x * K * c\n",
}  # fmt: skip


@pytest.mark.long
def test_what_a_name_hides() -> None:
    own = [(n, "import numpy as np\n" + s, "f", [X, 2.5]) for n, s in SHADOWS.items()]
    assert faults(own) == {}


#: numba where it is wanted and there, and a decorator of the file's own in its place
CHOSEN = """import os
def own(*args, **kwargs):
    return {other}

if os.getenv("FAST"):
    try:
        from numba import jit
    except ImportError:
        chosen = own
    else:
        chosen = jit
else:
    chosen = own
@chosen()
def f(x):
    return x * 2.0
"""
REFUSED = {
    "decorator": ("def d(f):\n    return lambda x: f(x) + 1.0\n\n@d\ndef f(x):\n"
                  "    return x * 2.0\n", 5),
    "cache": ("import functools\n@functools.cache\ndef f(x):\n    return x * 2.0\n", 3),
    "of a helper": ("import functools\n@functools.cache\ndef h(x):\n    return x * 2.0\n\n"
                    "def f(x):\n    return h(x)\n", 3),
    "own njit": ("def njit(f):\n    return lambda x: f(x) + 1.0\n\n@njit\ndef f(x):\n"
                 "    return x * 2.0\n", 5),
    "twice": ("def f(x):\n    return x * 2.0\n\ndef f(x):\n    return x * 3.0\n", 2),
    "wrapped later": ("def d(g):\n    return lambda x: g(x) + 1.0\n\ndef f(x):\n"
                      "    return x * 2.0\n\nf = d(f)\n", 5),
    "in a branch": ("import sys\nif sys.argv:\n    def h(x):\n        return x * 2.0\nelse:\n"
                    "    def h(x):\n        return x * 3.0\n\ndef f(x):\n    return h(x)\n", 11),
    "in a try": ("try:\n    import foo\n    def h(x):\n        return x * 2.0\n"
                 "except ImportError:\n    def h(x):\n"
                 "        return x * 3.0\n\ndef f(x):\n    return h(x)\n", 11),
    "global": ("def h(x):\n    return x\n\ndef s():\n    global h\n    h = np.sqrt\n\ndef f(x):\n"
               "    return h(x)\n", 10),
    "deleted": ("def f(x):\n    return x * 2.0\n\ndel f\n", 2),
    "star": ("from numpy import *\n\ndef f(x):\n    return sum(x, axis=0) + any(x > 2)\n", 5),
    "star behind": ("def sum(x):\n    return x * 2.0\n\nfrom numpy import *\n\ndef f(x):\n"
                    "    return sum(x)\n", 8),
    "late": ("def f(x):\n    g = [lambda a: a + k for k in range(3)]\n    return g[0](x)\n", 3),
    "class": ("def f(x):\n    return x\n\nclass f:\n    pass\n", 2),
    "one of two decorators": (CHOSEN.format(other="lambda g: lambda x: g(x) + 1.0"), 15),
    "no decorator by itself": (CHOSEN.format(other="same").replace("@chosen()", "@chosen"), 15),
    "a decorator or another": ("def d(g):\n    return lambda x: g(x)\n\nsame = lambda g: g\n"
                               "c = d if d.__name__ else same\n\n@c\ndef f(x):\n    return x\n", 8),
    "a decorator of itself": ("def d(g):\n    return d(g)\n\n@d\ndef f(x):\n    return x\n", 5),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_is_refused_at_its_line(name: str) -> None:
    source, line = REFUSED[name]
    outcome = convert("import numpy as np\n" + source)
    first = next(f for f in outcome.functions if f.name == "f")
    assert first.status == "refused", outcome.text
    assert first.diagnostics[-1].span.line == line, first.diagnostics


FOLLOWED = (
    "import numba\n\n@numba.njit(fastmath=True)\ndef f(x):\n    return x * 2.0\n",
    "from numba import njit\n\n@njit\ndef f(x):\n    return x * 2.0\n",
    "def same(g):\n    return g\n\n@same\ndef f(x):\n    return x * 2.0\n",
    "import numba\n\ndef f(x):\n    return x * 2.0\n\nf = numba.njit(f)\n",
    "try:\n    from numba import njit\nexcept ImportError:\n    def njit(g):\n        return g\n\n"
    "@njit\ndef f(x):\n    return x * 2.0\n",
    CHOSEN.format(other="lambda g: g"),
    "def own(*args):\n    def same(g):\n        return g\n    return same\n\n"
    "@own(1)\ndef f(x):\n    return x * 2.0\n",
    "import numba\nfast = numba.njit(fastmath=True)\n\n@fast\ndef f(x):\n    return x * 2.0\n",
    "import sys\nimport numba\nfast = numba.njit if sys.argv else lambda g: g\n\n"
    "@fast\ndef f(x):\n    return x * 2.0\n",
)  # fmt: skip


@pytest.mark.parametrize("source", FOLLOWED)
def test_what_means_the_same_is_followed(source: str) -> None:
    outcome = convert(source)
    assert [f.status for f in outcome.functions if f.name == "f"] == ["converted"]


def test_a_parameter_called_stream_moves_our_own() -> None:
    text = convert("def f(x, stream: float):\n    return x * stream\n").text
    assert "# porter: stream f: stream2\n" in text
    assert "def f(x, stream, *, stream2=None):" in text


def test_names_without_collision_stay() -> None:
    text = convert(
        "def f(x, max: float, len: float):\n    sum = x * max\n    return sum + len\n"
    ).text
    assert not re.search(r"max2|len2|sum2|\ua66e", text) and "def f(x, max, len, *," in text


def test_the_table_has_every_name_of_the_templates() -> None:
    defined = {
        name
        for file in TEMPLATES.glob("helpers_*.py.j2")
        for name in re.findall(r"^def (\w+)\(", file.read_text("utf-8"), re.MULTILINE)
    }
    assert defined <= reserved.HELPERS
