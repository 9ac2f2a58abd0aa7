"""Writes `docs/targets.md`: what `porter convert --target` makes of each example.

python -m tests.tools.make_targets
"""

from __future__ import annotations

from pathlib import Path

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from porter.target.registry import TARGETS
from tests.support.paths import EXAMPLES, ROOT

PAGE = ROOT / "docs" / "targets.md"
HEAD = """\
# Targets

`porter convert --target NAME` writes another kind of module from the same array program. Each one has the name
`<stem>_<target>.py`, the host function of the original's name and parameters, and is verified before it is written.

| target | what it is | verified |
|---|---|---|
| `cuda` | kernels of `numba.cuda`, and a host function that takes arrays of the host or of the device | on the simulator, the emulator, the compiled PTX, a GPU |
| `loops` | fused scalar loops as `@njit` functions, the outermost axis without a dependence in `prange` | called on this CPU beside the original, with the simulator's cases |
| `ufunc` | functions of one element for `@vectorize`, for CUDA or with `--ufunc-target` for the CPU | as ufuncs of the CPU, and as the compiled PTX |
| `gufunc` | functions of a part of each array for `@guvectorize`, with a layout that follows from the subscripts | the same |
| `cupy` | the source with `cp` in place of `np`, arrays moved once, and our kernels for loops over elements | with arrays that stand in for CuPy's, with CuPy on a GPU; the kernels as for `cuda` |
| `dask` | a lazy function of Dask's arrays, for data larger than a machine or a GPU, and functions of their blocks | on Dask's scheduler of one thread, each case in chunks of its own |

The pages about [loops](loops.md), [ufuncs](ufuncs.md), [CuPy](cupy.md) and [Dask](dask.md) have more. What each target makes of the examples (`python -m
tests.tools.make_targets` writes this table; the modules are in `tests/golden/` and its folders):

"""  # noqa: E501


def outcome(path: Path, target: str) -> dict[str, str]:
    """What becomes of each function of a file."""
    options = ConvertOptions((str(path),), target=target, verify=False)
    file = SourceFile(path.name, path.read_text("utf-8"))
    place = path.with_name(f"{path.stem}_{target}.py")
    made = convert_file(file, options, Config(), place, lambda _: None)
    found = {}
    for f in made.functions:
        stays = [d for d in f.diagnostics if d.code == "PRT912"]
        said = f.status if not stays else "converted, partly on the host"
        if f.status != "converted":
            d = f.diagnostics[0]
            said = f"{f.status}: {d.code}, {d.message}"
        found[f.name] = said.replace("|", "\\|")
    return found


def page() -> str:
    """The whole page."""
    names = list(TARGETS)
    lines = [f"| example | function | {' | '.join(f'`{n}`' for n in names)} |",
             f"|---|---|{'---|' * len(names)}"]  # fmt: skip
    for path in sorted(EXAMPLES.glob("*.py")):
        found = [outcome(path, name) for name in names]
        for function in found[0]:
            cells = " | ".join(f.get(function, "") for f in found)
            lines.append(f"| `{path.name}` | `{function}` | {cells} |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
