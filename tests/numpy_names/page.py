"""Writes `docs/numpy-support.md` from the rows of `cases/`, and their number into the README.

python -m tests.numpy_names.page
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

import porter.lowering.expressions.calls
import porter.lowering.functions  # noqa: F401  (it declares the handlers)
from porter.numpy_functions import SPECS, converted, method_of, methods
from tests.numpy_names.case import DTYPES, Row, table
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "numpy-support.md"
README = ROOT / "README.md"
HEAD = """\
# NumPy names

Each form below was converted for each dtype in its line and compared with NumPy: the result, its
dtype and shape, aliasing, and changes to arguments. The arrays have 0, 1, 7 and 33 elements per
axis (a block of 32 and one more); there are strided and reversed views, axes of length 1, and
NaN, infinities and -0.0 where the line says so. A name, a keyword or a dtype that is not here is
refused at its place in the source, with the reason.

The tolerance is in units of the dtype's `eps`, of each element and of 1/32 of the largest. On a
GPU, functions of CUDA's math library may be off by what its documentation says.

In the forms, `v` and `w` are 1-D arrays, `A`, `B`, `M` and `S` (square) 2-D, `C` 3-D, `D` 4-D,
`p` and `P` boolean, `j` indices, `s` and `q` Python numbers, and `o` or `O` an array that is
written.

This page is generated from the rows of `tests/numpy_names/cases/`, which are also the tests, by
`python -m tests.numpy_names.page`. `tests/numpy_names/test_numpy_names.py` checks them
on the reference interpreter, and a part on Numba's simulator; `python -m tests.numpy_names.run`
checks all of them on the simulator: [the last run](random-programs.md#every-name).
"""
TITLES = {
    "converted": "Converted",
    "host": "Stays on the host",
    "library": "Library call",
    "refused": "Refused",
}
LEGEND = {
    "converted": "",
    "host": "The host function calls NumPy; the arrays are copied there and back.",
    "library": "As above; with `--library cupy` the call is CuPy's, on the device.",
    "refused": "porter says so at the call and writes nothing for the function.",
}
#: names that are types or syntax, or gone from NumPy 2.4: tested in the corpus
SYNTAX = {
    "builtins.callable",
    "builtins.hasattr",
    "builtins.isinstance",
    "builtins.list",
    "builtins.tuple",
    "numba.prange",
    "numpy.iscomplexobj",
    "numpy.isrealobj",
    "numpy.isscalar",
    "numpy.issubdtype",
    "numpy.ndarray",
    "numpy.promote_types",
    "numpy.result_type",
    "numpy.trapz",
}
#: Python's random numbers, which `tests/lowering/test_random.py` converts
PYTHONS = "choice expovariate gauss normalvariate randint random randrange seed uniform"
SYNTAX |= {f"random.{name}" for name in PYTHONS.split()}
#: SciPy's, which `tests/end_to_end/test_special.py` converts
SPECIAL = "erf erfc expit log_expit logit ndtr xlog1py xlogy"
SYNTAX |= {f"scipy.special.{name}" for name in SPECIAL.split()}


def untried(rows: Mapping[str, Row]) -> list[str]:
    """The names that porter converts and that have no row."""
    own = (f"ndarray.{m}" for m in methods() if (spec := method_of(m)) and spec.body is not None)
    return sorted({*filter(converted, SPECS), *own} - rows.keys() - SYNTAX)


def shown(name: str) -> str:
    """A name as people write it."""
    short = name.replace("numpy.", "np.").replace("builtins.", "").replace("ndarray.", ".")
    return f"`{short}`"


def dtypes(short: str) -> str:
    """`f4 f8` as `float32, float64`, whole families by one word."""
    left = short.split()
    words = []
    for family, members in (("all integers", "i1 i2 i4 i8 u1 u2 u4 u8"), ("bool", "b1")):
        if set(members.split()) <= set(left):
            words.append(family)
            left = [d for d in left if d not in members.split()]
    return ", ".join([*words, *(DTYPES[d] for d in left)])


def specials(row: Row) -> str:
    """For which of its dtypes NaN and Inf were tried."""
    tried = {d for d in row.dtypes.split() if d[0] in row.special}
    floats = {d for d in row.dtypes.split() if d[0] in "fc"}
    return "-" if not floats else "yes" if tried == floats else "real" if tried else "no"


def lines() -> list[str]:
    """The page, line by line."""
    everything = table()
    counts = {s: sum(r.status == s for r in everything.values()) for s in TITLES}
    text = [*HEAD.splitlines(), "", "| status | names |", "|---|---|"]
    text += [f"| {TITLES[s].lower()} | {n} |" for s, n in counts.items() if n]
    for status, title in TITLES.items():
        chosen = {n: r for n, r in sorted(everything.items()) if r.status == status}
        if chosen:
            text += ["", f"## {title}", "", *([LEGEND[status], ""] if LEGEND[status] else [])]
            text += _others(chosen) if status == "refused" else _tried(chosen)
    left = untried(everything)
    if left:
        text += ["", "## Converted, without a row", "", ", ".join(map(shown, left))]
    return text


def _tried(chosen: dict[str, Row]) -> list[str]:
    text = ["| name | dtypes | refused dtypes | tolerance | NaN, Inf | forms |",
            "|---|---|---|---|---|---|"]  # fmt: skip
    for name, row in chosen.items():
        forms = "; ".join(f"`{_form(c)}`" for c in row.cases)
        tolerance = f"{row.tolerance:g} eps" if row.tolerance else "exact"
        text.append(
            f"| {shown(name)} | {dtypes(row.dtypes)} | {dtypes(row.refused)} | {tolerance} "
            f"| {specials(row)} | {forms} |"
        )
    return text


def _form(case: str) -> str:
    """A case on one line, safe in a table."""
    parts = [part.strip() for part in case.strip().splitlines()]
    return " ⏎ ".join(parts).replace("|", "\\|")


def _others(chosen: dict[str, Row]) -> list[str]:
    return [
        "| name | why |",
        "|---|---|",
        *(f"| {shown(n)} | {r.why} |" for n, r in chosen.items()),
    ]


def page() -> str:
    """The text of the page."""
    return "\n".join(lines()) + "\n"


def readme() -> str:
    """The README with the number of names."""
    text = README.read_text(encoding="utf-8")
    return re.sub(r"lists \d+ NumPy names", f"lists {len(table())} NumPy names", text)


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(table())} names\n")
