"""The types and the shapes of the arguments of a program of NPBench at its sizes `paper`.

    python performance_child.py REQUEST

Arrays of those sizes may not fit into memory: each extent is taken as a linear function of the
parameters, which the small sizes `S` and one more of each parameter tell.  Where the initializer
computes integers, it makes the arrays of those sizes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.npbench_child import arguments, type_of


def made(request: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments for these parameters, by name."""
    info = request["info"]
    asked = {"initializer": request["initializer"], "init": info.get("init"),
             "input_args": info["input_args"], "parameters": parameters}  # fmt: skip
    return dict(zip(info["input_args"], arguments(asked, sys.maxsize), strict=True))


def main() -> int:
    request = json.loads(Path(sys.argv[1]).read_text())
    small, paper = (request["info"]["parameters"][k] for k in ("S", "paper"))
    first = made(request, small)
    if any(type(v) is int and k not in paper for k, v in first.items()):
        first, small = made(request, paper), paper
    shapes = {k: list(v.shape) for k, v in first.items() if isinstance(v, np.ndarray)}
    base = {k: list(v) for k, v in shapes.items()}
    for name, value in small.items():
        if type(value) is not int or paper[name] == value:
            continue
        more = made(request, {**small, name: value + 1})
        for k, dims in shapes.items():
            for d, n in enumerate(base[k]):
                dims[d] += (more[k].shape[d] - n) * (paper[name] - value)
    values = [shapes.get(k, paper.get(k, v) if type(v) is int else None) for k, v in first.items()]
    found = {"signature": ", ".join(map(type_of, first.values())), "values": values}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
