"""Random functions of several reductions of one array: totals, rows and columns.

    python -m tests.schedule.random_folds --seed 3 --count 20

converts them, with the evidence of all engines, and says which ones failed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from porter.cli import main

_VIEWS = {
    1: ["x", "x[::-1]", "x[1:]", "x[::3]", "x[:-1]"],
    2: ["x", "x", "x[::-1]", "x[:, ::-1]", "x[1:, :-1]", "x[:-1, 1:]", "x.T", "x[::2]"],
    3: ["x", "x", "x[::-1]", "x[:, :, ::-1]", "x[1:, :-1]", "x[:, 1:, 1:]", "x[::2, :, ::2]"],
    4: ["x", "x[:, ::-1]", "x[:, 1:, :, :-1]"],
}  # fmt: skip
_MAPS = ["{0}", "{0}", "{0} * {0}", "np.abs({0})", "{0} - 1", "np.where({0} > 1, {0}, -{0})"]
_STORED = ["x = x * 2", "x = np.where(x > 1, x, 3)", "x += 1", "x = x[::-1] - 1", "x[1:] *= 2",
           "x = (x + 1) ** 2", "y = np.abs(x)"]  # fmt: skip
_FOLDS = ["{0}.sum({1})", "{0}.max({1})", "{0}.min({1})", "{0}.mean({1})", "{0}.argmax({1})",
          "{0}.argmin({1})", "({0} > 1).sum({1})", "({0} > 1).any({1})", "({0} < 1).all({1})",
          "{0}.var({1})"]  # fmt: skip


def function(number: int, seed: int) -> str:
    """One function, the same for the same numbers."""
    stored = random.Random(f"stored {seed} {number}")
    text = _function(number, seed)
    if stored.random() < 0.6:
        return text
    head, body = text.split("\n", 1)
    first = stored.choice(_STORED)
    return f"{head}\n    {first}\n{body.rstrip()}, {first[0]}\n"


def _function(number: int, seed: int) -> str:
    r = random.Random(f"{seed} {number}")
    rank = r.choice([1, 2, 2, 2, 3, 3, 4])
    dtype = r.choice(["float32", "float64", "float64", "int32"])
    axes = [""] if rank == 1 else ["", "", "axis=-1", "axis=-1", "axis=0", "axis=1"]
    axis, same = r.choice(axes), r.random() < 0.7
    body, names, views = [], [], []
    for k in range(r.randint(2, 4)):
        view = r.choice(_VIEWS[rank])
        views.append(view)
        operand = "(" + r.choice(_MAPS).format(view) + ")"
        along = axis if same else r.choice(axes)
        if names and r.random() < 0.2 and along == axis and "sum" in body[0] and views[0] == "x":
            operand = f"(x - np.expand_dims(v0, {axis[5:]}))" if axis else "(x - v0)"
        body.append(f"    v{k} = {r.choice(_FOLDS).format(operand, along)}")
        names.append(f"v{k}")
    if r.random() < 0.3 and axis == "axis=-1" and views[0] == "x":
        body.append("    x -= np.expand_dims(v0, -1)" if dtype != "int32" else "    x += 1")
    array = f"{dtype}[{', '.join(':' * rank)}]"
    head = f'def f{number}(x: "{array}"):'
    return "\n".join([head, *body, f"    return {', '.join(names)}\n"])


def source(seed: int, count: int) -> str:
    """A module of such functions."""
    return "\n\n".join(["import numpy as np\n", *(function(k, seed) for k in range(count))])


def run(seed: int, count: int) -> int:
    """Convert and verify them; the exit code of porter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "folds.py"
        path.write_text(source(seed, count))
        sys.argv = ["porter", "convert", str(path)]
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    given = parser.parse_args()
    sys.exit(run(given.seed, given.count))
