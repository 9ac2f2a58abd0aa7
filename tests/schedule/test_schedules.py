"""Schedules: which one a store gets, its template, its cost, and one that is not porter's."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from porter.codegen.kernel.writer import Writer
from porter.convert.function import front_end
from porter.convert.passes import lower
from porter.cost.candidates import seconds_of_candidates, work_of_candidates
from porter.cost.machine import Machine
from porter.ir import Write
from porter.ir.walk import statements
from porter.resolve.globals import Globals
from porter.schedule.base import Kernel, KernelWriters
from porter.schedule.elementwise import is_elementwise
from porter.schedule.printer import plan_text
from porter.schedule.registry import ONE_BLOCK, SCHEDULES, TIME_TILE, registered
from porter.schedule.schedules.scans.rows import ROW_SCAN
from porter.source.module import SourceModule
from tests.schedule.recipe.warp import WarpRows
from tests.support.paths import ROOT
from tests.support.shell import Shell

HEAD = "import numpy as np\n\n"
#: a function for each schedule: its name, and its signature
FUNCTIONS = {
    "map": ("def f(x):\n    return x * 2\n", "float64[:]"),
    "rows": ("def f(x):\n    return x.sum(axis=1)\n", "float64[:, :]"),
    "columns": ("def f(x):\n    return x.sum(axis=0)\n", "float64[:, :]"),
    "total": ("def f(x):\n    return x.sum()\n", "float64[:]"),
    "strip": ("def f(x, y):\n    return x @ y\n", "float64[:, :], float64[:, :]"),
    "tile": ("def f(x, y):\n    return x @ y.T\n", "float64[:, :], float64[:, :]"),
    "large_tile": ("def f(x, y):\n    return x @ y\n", "float64[:, :], float64[:, :]"),
    "wide_tile": ("def f(x, y):\n    return x @ y\n", "complex128[:, :], complex128[:, :]"),
    "split_tile": ("def f(x, y):\n    return x @ y\n", "float64[:, :], float64[:, :]"),
    "scan": ("def f(x):\n    return np.cumsum(x, axis=1)\n", "float64[:, :]"),
    "line": ("def f(x):\n    return np.cumsum(x)\n", "float64[:]"),
    "recurrence": (
        "def f(x, a):\n    for i in range(1, x.shape[0]):\n        x[i] += a * x[i - 1]\n",
        "float64[:], float64",
    ),
    "row_scan": (
        "def f(x, a):\n    for c in range(x.shape[0]):\n        for i in range(1, x.shape[1]):\n"
        "            x[c, i] += a * x[c, i - 1]\n",
        "float64[:, :], float64",
    ),
    "coupled": (
        "def f(x, a):\n    for i in range(2, x.shape[0]):\n"
        "        x[i] += a * x[i - 1] - x[i - 2]\n",
        "float64[:], float64",
    ),
    "states": (
        "def f(x, a):\n    on, out = False, np.zeros_like(x)\n    for i in range(x.shape[0]):\n"
        "        on = x[i] > a if on else x[i] > 2\n        out[i] = on\n    return out\n",
        "float64[:], float64",
    ),
    "bounded": (
        "def f(x, a):\n    for i in range(1, x.shape[0]):\n"
        "        x[i] = max(a, x[i] + x[i - 1])\n",
        "float64[:], float64",
    ),
    "quotient": (
        "def f(x, a):\n    for i in range(1, x.shape[0]):\n"
        "        x[i] += a / x[i - 1]\n",
        "float64[:], float64",
    ),
    "panel": (
        "def f(x):\n    for k in range(x.shape[0]):\n        x[k + 1:, k] /= x[k, k]\n"
        "        x[k + 1:, k + 1:] -= np.outer(x[k + 1:, k], x[k, k + 1:])\n",
        "float64[:, :]",
    ),
    "private": ("def f(x):\n    return np.histogram(x)[0]\n", "float64[:]"),
    "draws": ("def f(x):\n    return x + np.random.rand(x.shape[0])\n", "float64[:]"),
    "block": (
        "def f(L, b):\n    x = np.zeros_like(b)\n    for i in range(b.shape[0]):\n"
        "        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]\n    return x\n",
        "float64[:, :], float64[:]",
    ),
    "time_tile": (
        "def f(x, n):\n    for _ in range(n):\n        y = x.copy()\n"
        "        x[1:-1] = y[:-2] + y[2:]\n    return x\n",
        "float64[:], int64",
    ),
}  # fmt: skip
NAMES = [s.name for s in (*SCHEDULES, ROW_SCAN, ONE_BLOCK, TIME_TILE)]


def test_each_schedule_has_a_template_of_its_own() -> None:
    texts = {p.name: p.read_text() for p in (ROOT / "templates").glob("kernel_*.py.j2")}
    assert sorted(texts) == sorted(f"kernel_{name}.py.j2" for name in NAMES)
    assert len(set(texts.values())) == len(texts)
    assert set(FUNCTIONS) == set(NAMES)
    for text in texts.values():
        assert "@cuda.jit" in text and ".lines" not in text


@pytest.mark.parametrize("name", NAMES)
def test_a_template_of_ones_own_is_seen_in_the_module(shell: Shell, name: str) -> None:
    source, signature = FUNCTIONS[name]
    shell.write("f.py", HEAD + source)
    file = f"kernel_{name}.py.j2"
    text = (ROOT / "templates" / file).read_text()
    changed = text.replace("    {{ k.types }}", "    # made for our team\n    {{ k.types }}")
    shell.write(f"mine/{file}", changed)
    mine = str(shell.folder / "mine")
    assert shell.convert("f.py", "--signature", signature, "--templates", mine, "-o", "-") == 0
    assert "# made for our team" in shell.out


def test_a_schedule_is_a_class_and_a_template(shell: Shell) -> None:
    """Nothing of porter's changes for it: it is asked first, and its kernel is verified."""
    shell.write("f.py", HEAD + "def f(x):\n    return np.sqrt((x * x).sum(axis=1))\n")
    with registered(WarpRows(), before="rows"):
        assert shell.convert("f.py", "--signature", "float32[:, :]", "--emit", "plan") == 0
        assert "a warp per row over" in shell.out
        assert shell.convert("f.py", "--signature", "float32[:, :]", verify=True) == 0
    assert "verified on the simulator" in shell.out
    text = (shell.folder / "f_cuda.py").read_text()
    assert "lanes = cuda.shared.array((8, 32), x.dtype)" in text
    assert "_blocks(x.shape[0], 8), MAX_BLOCKS), (32, 8), stream](d_x, out)" in "".join(
        line.strip() + " " for line in text.splitlines()
    )


class Careless(WarpRows):
    """It writes a line that is in no slot."""

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """Those of the warps."""
        slots = super().slots(kernel, writers)
        writer = slots["k"]
        assert isinstance(writer, Writer)
        writer.emit("lost = 1")
        return slots


def test_a_line_outside_of_the_slots_is_not_lost_in_silence(shell: Shell) -> None:
    shell.write("f.py", HEAD + "def f(x):\n    return x.sum(axis=1)\n")
    with registered(Careless(), before="rows"):
        assert shell.convert("f.py", "--signature", "float64[:, :]", "-o", "-") == 1
    assert "`warp` wrote outside of its slots: ['lost = 1']" in shell.out


@pytest.mark.parametrize(
    "other",
    ["x.ravel().reshape(x.shape).sum(axis=1)", "x.reshape(-1, x.shape[1]).sum(axis=1)"],
)
def test_a_schedule_is_chosen_for_simplified_subscripts(other: str) -> None:
    """What the last plan prints alike has one schedule."""
    plain, same = (
        front_end(f, "float64[:, :]", Globals(m))[2]
        for m in (SourceModule(f"{HEAD}def f(x):\n    return {e}\n", "f.py")
                  for e in ("x.sum(axis=1)", other))
        for f in m.functions
    )  # fmt: skip
    assert "a block per row" in plan_text(plain)
    assert plan_text(plain) == plan_text(same)


@pytest.mark.parametrize(
    ("value", "elementwise"),
    [
        ("n", True),
        ("n_terms", True),
        ("x.shape[0]", False),
        ("np.arange(x.shape[0])", False),
        ("np.vander(x, 3) @ np.array([1.0, 2.0, 3.0])", False),
    ],
)
def test_a_name_does_not_decide_how_many_dimensions_are_served(
    value: str, elementwise: bool
) -> None:
    name = value if value.isidentifier() else "n"
    source = f"{HEAD}def f(x, {name}):\n    return np.sqrt(x) * {value} + {name}\n"
    module = SourceModule(source, "f.py")
    (f,) = module.functions
    assert is_elementwise(front_end(f, "float64[:], int64", Globals(module))[2]) == elementwise


def store_of(source: str, signature: str) -> tuple[Write, object]:
    module = SourceModule(HEAD + source, "f.py")
    _, program, _ = front_end(module.by_name["f"], signature, Globals(module))
    body, context = lower(program)
    return next(s for s in statements(body) if isinstance(s, Write)), context


def test_each_candidate_has_a_cost() -> None:
    """A block for each row of a few long rows; alone, a thread reads a row by itself."""
    store, context = store_of(*FUNCTIONS["rows"])
    works = {s.name: w for s, w in work_of_candidates(store, context).items()}
    assert list(works) == ["rows", "map"]
    assert works["rows"].barriers > works["map"].barriers == 0
    assert works["rows"].traffic == works["map"].traffic
    sizes = {"x.shape[0]": 10, "x.shape[1]": 10_000_000}
    seconds = seconds_of_candidates(store, context, sizes, Machine())
    few, alone = seconds.values()
    assert few < alone / 100
    assert [s.name for s in seconds] == ["rows", "map"]
