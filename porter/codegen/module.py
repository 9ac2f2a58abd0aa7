"""The generated module: imports, constants, device helpers, kernels, host functions."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.codegen.format import format_lines
from porter.codegen.host import HostFunction
from porter.codegen.hosttext import HOST_MATH
from porter.codegen.kernels import KernelTexts
from porter.codegen.marks import without_marks
from porter.codegen.spell import SIMULATED
from porter.codegen.templates import environment
from porter.codegen.writer import Needs
from porter.plan.nodes import Plan

_SIZES = {
    "THREADS": ("256", "threads of a block; a power of two"),
    "BLOCK_X": ("32", "threads of a block along the fast axis"),
    "BLOCK_Y": ("8", ""),
    "BLOCK_Z": ("1", ""),
    "TILE": ("16", "edge of the tiles in shared memory"),
    "PADDED": ("17", "row length of a tile: one more avoids bank conflicts"),
    "MAX_BLOCKS": ("65535", "blocks of a grid along one axis: kernels loop over the rest"),
    "MOST_PARTIALS": ("1024", "blocks of a grid-wide reduction, at most"),
}
_FOLDS = (
    ("sum", "sum", "scratch[thread] + scratch[thread + width]"),
    ("prod", "product", "scratch[thread] * scratch[thread + width]"),
    ("max", "maximum", "maximum(scratch[thread], scratch[thread + width])"),
    ("min", "minimum", "minimum(scratch[thread], scratch[thread + width])"),
    ("any", "truth of any", "scratch[thread] or scratch[thread + width]"),
    ("all", "truth of all", "scratch[thread] and scratch[thread + width]"),
)
#: how a running fold continues from the thread `width` before
_SCANS = tuple(
    (op, start, combine.replace("[thread]", "[thread - width]")
     .replace("scratch[thread + width]", "value"))
    for op, start, combine in _FOLDS
)  # fmt: skip


@dataclass(frozen=True)
class FunctionText:
    """One converted function: its kernels and host function, dtypes still to be filled in."""

    name: str
    parts: tuple[str, ...]
    kernels: tuple[str, ...]
    needs: Needs
    constants: dict[str, str]

    def key(self) -> tuple[object, ...]:
        """What must be equal for two signatures to be served by one text."""
        return (self.parts, sorted(self.needs.helpers), sorted(self.needs.math), self.constants)


def function_text(plan: Plan, templates: Path | None = None) -> FunctionText:
    """The kernels and the host function of one plan."""
    needs = Needs(imports=set(plan.imports))
    jinja = environment(templates)
    order = [q.name for p in plan.parameters for q in (p.items or (p,))]
    texts = KernelTexts(jinja, plan.buffers, order, list(plan.constants), needs)
    host = HostFunction(plan, texts, needs)
    body = host.write()
    parts = [_trim(k.text) for k in host.kernels]
    used = {
        n: v for n, v in plan.constants.items() if re.search(rf"\b{n}\b", "\n".join([*parts, body]))
    }
    return FunctionText(
        plan.name, (*parts, _trim(body)), tuple(k.name for k in host.kernels), needs, used
    )


def _trim(text: str) -> str:
    return text.strip("\n")


def module_text(
    functions: Sequence[FunctionText], source: str, backend: str = "numba",
    templates: Path | None = None,
) -> str:  # fmt: skip
    """The body of a module, formatted, without the header."""
    return linked_module(functions, source, backend, templates)[0]


def linked_module(
    functions: Sequence[FunctionText], source: str, backend: str = "numba",
    templates: Path | None = None,
) -> tuple[str, dict[int, int]]:  # fmt: skip
    """`module_text`, and which source line each comment in it quotes."""
    jinja = environment(templates)
    needs = _joined([f.needs for f in functions])
    device = jinja.get_template("helpers_device.py.j2").render(
        needs=needs.helpers, block_folds=_FOLDS, block_scans=_SCANS
    )
    host = jinja.get_template("helpers_host.py.j2").render(needs=needs.helpers)
    parts = [p for f in functions for p in f.parts]
    helpers = set(re.findall(r"^def (\w+)\(", f"{device}\n{host}", re.MULTILINE))
    parts = _apart([p for p in (_trim(device), *parts, _trim(host)) if p], helpers)
    # numba-cuda-mlir has no simulator, and no `config` to ask
    simulated = "" if backend == "numba-cuda-mlir" else _simulated("\n".join(parts))
    if not simulated:
        parts = [p.replace(f"{HOST_MATH}.", "math.") for p in parts]
    text = "\n".join(parts)
    constants = [(n, v, note) for n, (v, note) in _SIZES.items() if re.search(rf"\b{n}\b", text)]
    own = {n: v for f in functions for n, v in f.constants.items()}
    constants += [(n, v, "") for n, v in own.items()]
    everything = text + "\n".join(v for _, v, _ in constants)
    module = jinja.get_template("module.py.j2").render(
        doc=f"CUDA kernels for the NumPy functions of {source}.",
        imports=_imports(everything, simulated, needs, backend),
        simulated=simulated,
        constants=constants,
        parts=parts,
    )
    return without_marks("\n".join(_layout(format_lines(module.rstrip("\n").split("\n")))) + "\n")


def _apart(parts: list[str], helpers: set[str]) -> list[str]:
    """Helpers get another name where a kernel has an argument or a variable of theirs."""
    text = "\n".join(parts)
    for h in sorted(helpers):
        if re.search(rf"^def \w+\([^)]*\b{h}\b|^ +{h} [-+*/]?= ", text, re.MULTILINE):
            parts = [re.sub(rf"(?<![.\w]){h}\(", f"{h}_of(", p) for p in parts]
    return parts


def _joined(all_needs: Sequence[Needs]) -> Needs:
    needs = Needs()
    for n in all_needs:
        needs.helpers |= n.helpers
        needs.math |= n.math
        needs.numba_types |= n.numba_types
        needs.imports |= n.imports
    if needs.helpers & {"_result", "_copy_back"}:
        needs.helpers.add("_on_device")
    if needs.helpers & {"_to_device", "_same_memory", "_apart", "_array", "_flat"}:
        needs.helpers.add("_on_device")
    if "_apart" in needs.helpers:
        needs.helpers.add("_same_memory")
    return needs


def _imports(text: str, simulated: str, needs: Needs, backend: str) -> list[str]:
    lines = [f"import {m}" for m in ("cmath", "math", "operator") if re.search(rf"\b{m}\.", text)]
    if re.search(rf"\b{HOST_MATH}\.", text):
        lines.append(f"import math as {HOST_MATH}")
    if simulated:
        lines.append("from types import SimpleNamespace")
    own: list[str] = []
    others: list[str] = []
    for line in sorted(needs.imports):
        standard = line.split()[1].split(".")[0] in sys.stdlib_module_names
        (own if standard else others).append(line)
    lines = sorted({*lines, *own}, key=_import_order)
    lines += [""] if lines else []
    lines += sorted(others, key=_import_order)
    if re.search(r"\bnp\.", text + simulated):
        lines.append("import numpy as np")
    names = ["cuda", *sorted(needs.numba_types)]
    names += ["config"] if simulated else []
    if backend == "numba-cuda-mlir":
        lines.append("from numba_cuda_mlir import cuda")
        rest = sorted(n for n in names if n not in ("cuda", "config"))
        lines += [f"from numba_cuda_mlir.types import {', '.join(rest)}"] if rest else []
    else:
        lines.append(f"from numba import {', '.join(sorted(names))}")
    return lines


def _import_order(line: str) -> tuple[bool, str]:
    """Plain imports first, each kind by name, as ruff sorts them."""
    return line.startswith("from"), line


def _simulated(text: str) -> str:
    used = sorted(set(re.findall(r"\bmath\.(\w+)", text)))
    special = [m for m in used if m in SIMULATED]
    if not any(m in _RAISING for m in special):
        return ""
    constants = {"pi": "math.pi", "e": "math.e", "inf": "math.inf", "nan": "math.nan"}
    items = [f"{m}=np.{SIMULATED[m]}" if m in SIMULATED else f"{m}={constants.get(m, 'math.' + m)}"
             for m in used]  # fmt: skip
    return ", ".join(items)


_RAISING = {"sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "pow", "acos", "asin",
            "acosh", "atanh", "cosh", "sinh", "fmod", "floor", "ceil", "trunc", "sin", "cos",
            "tan"}  # fmt: skip


def _layout(lines: Sequence[str]) -> list[str]:
    """Two blank lines around top-level definitions, never more; none at the end."""
    result: list[str] = []
    blank = 0
    for line in lines:
        if not line.strip():
            blank += 1
            continue
        top = not line.startswith((" ", ")", "]", "}"))
        starts = top and line.startswith(("@", "def "))
        decorated = bool(result) and result[-1].startswith("@")
        if result and starts and not decorated:
            blank = 2
        elif starts and decorated:
            blank = 0
        elif top and result and result[-1].startswith((" ", ")")) and _after_definition(result):
            blank = 2
        result += [""] * min(blank, 2 if top else 1)
        result.append(line.rstrip())
        blank = 0
    return result


def _after_definition(lines: Sequence[str]) -> bool:
    for line in reversed(lines):
        if line and not line.startswith((" ", ")", "]", "}")):
            return line.startswith("def ")
    return False
