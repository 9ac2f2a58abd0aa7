"""The generated module: imports, constants, device helpers, kernels, host functions."""

from __future__ import annotations

import ast
import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from jinja2 import Environment

from porter.codegen.chunked.host import ChunkedFunction
from porter.codegen.host.function import HostFunction
from porter.codegen.host.head import own_keywords
from porter.codegen.host.outline import outlined
from porter.codegen.host.text import HOST_MATH
from porter.codegen.kernel.kernels import KernelTexts
from porter.codegen.kernel.state import Needs
from porter.codegen.module.docstrings import placeholder, with_docstrings
from porter.codegen.module.format import format_lines
from porter.codegen.module.inspect import Expected, ModuleError, inspect
from porter.codegen.module.marks import without_marks
from porter.codegen.module.names import free_names, settle
from porter.codegen.templates import environment
from porter.schedule.nodes import Plan
from porter.source.scopes import normal
from porter.support.parsing import tree_of
from porter.support.reserved import given
from porter.target.base import Target
from porter.target.registry import CUDA

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


#: helpers that ask where an array is
_ASKING = {
    "_result", "_copy_back", "_command", "_to_device", "_same_memory", "_apart", "_array", "_flat",
    "_leading", "_given_back", "_stored_back",
}  # fmt: skip


@dataclass(frozen=True)
class FunctionText:
    """One converted function: its kernels and host function, dtypes still to be filled in."""

    name: str
    parts: tuple[str, ...]
    kernels: tuple[str, ...]
    needs: Needs
    constants: dict[str, str]
    docstring: str | None = None
    parameters: tuple[str, ...] = ()
    fixed: tuple[str, ...] | None = None  # whose values the kernels are made for; None if private
    draws: bool = False  # it takes what random numbers are drawn from
    remarks: tuple[str, ...] = ()  # what is said of it where a module has more than functions
    stores: bool = False  # it takes arrays to store its results into

    @property
    def shown(self) -> str:
        """The function's name as the user wrote it."""
        return given(self.name)

    def key(self) -> tuple[object, ...]:
        """What must be equal for two signatures to be served by one text."""
        return (self.parts, sorted(self.needs.helpers), sorted(self.needs.math), self.constants)


def function_text(
    plan: Plan, target: Target = CUDA, like_floats: Set[str] = frozenset()
) -> FunctionText:
    """The kernels and the host function of one plan.

    The dtypes of the arguments `like_floats` are spelled as those of floats are.
    """
    needs = Needs(imports=set(plan.imports), like_floats=like_floats, any_width=plan.any_width)
    order = [q.name for p in plan.parameters for q in (p.items or (p,))]
    texts = KernelTexts(plan.buffers, order, list(plan.constants), needs, target)
    kind = ChunkedFunction if target.chunked else HostFunction
    host = kind(plan, texts, needs, target)
    body = host.write()
    parts = [_trim(text) for text, _ in host.kernels]
    kernels = tuple(n for _, names in host.kernels for n in names)
    if target.compiles_loops:
        taken = outlined(body, plan.name, host.known(kernels))
        body, kernels = taken.text, (*kernels, *taken.names)
        parts += taken.functions
    used = used_constants(plan.constants, free_names("\n\n".join([*parts, _trim(body)])))
    own = tuple(p.name for p in plan.parameters if not p.attribute)
    return FunctionText(
        plan.name, (*parts, _trim(body)), kernels, needs, used,
        plan.docstring, own if len(own) == len(plan.parameters) else ("self", *own),
        tuple(p.name for p in plan.parameters if p.fixed or p.items), bool(plan.states),
        tuple(host.remarks()),
    )  # fmt: skip


def used_constants(constants: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    """Those that the functions use, and what they are made of, in the order of the file."""
    needed: set[str] = set()
    todo = [n for n in used if n in constants]
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo += free_names(constants[name]) & constants.keys()
    return {n: v for n, v in constants.items() if n in needed}


def _trim(text: str) -> str:
    return text.strip("\n")


@dataclass(frozen=True)
class ModuleText:
    """The body of a module, formatted, without the header."""

    text: str
    lines: Mapping[int, int]  # which source line each comment in it quotes
    streams: Mapping[str, str] = field(default_factory=dict)  # the argument, where not `stream`


def module_text(functions: Sequence[FunctionText], source: str, target: Target = CUDA) -> str:
    """The body of a module, as text alone."""
    return linked_module(functions, source, target).text


#: the modules made last: a conversion looks at each several times
_LAST: deque[tuple[tuple[Sequence[FunctionText], str, Target], ModuleText]] = deque(maxlen=4)


def linked_module(
    functions: Sequence[FunctionText], source: str, target: Target = CUDA
) -> ModuleText:
    """The body of a module. Raises ModuleError where it would not be what the plans say."""
    asked = (tuple(functions), source, target)
    for known, made in list(_LAST):
        # a user's templates may have changed since
        if known == asked and not target.folders:
            return made
    made = _linked(functions, source, target)
    _LAST.append((asked, made))
    return made


def _linked(functions: Sequence[FunctionText], source: str, target: Target) -> ModuleText:
    jinja = environment(target.folders, target.templates)
    needs = _joined([f.needs for f in functions], target)
    parts = _parts(functions, needs, jinja, target)
    own = join(functions)
    tree = tree_of("\n\n".join(parts))
    used = free_names("\n\n".join([*parts, *own.values()]))
    simulated, warps = target.simulated_math(tree), target.simulated_warps(used)
    constants = _constants(functions, needs, source, target, used)
    used |= {n for _, value, _ in constants for n in free_names(value)}
    imports = _imports(used, simulated, needs, target, warps=warps)
    module = jinja.get_template("module.py.j2").render(
        doc=placeholder(),
        imports=imports,
        simulated=simulated,
        warps=warps,
        constants=constants,
        parts=parts,
    )
    named = settle(
        module.rstrip("\n") + "\n",
        {f.name: f.parameters for f in functions},
        {} if simulated else {HOST_MATH: "math"},
    )
    lines = _layout(format_lines(named.text.rstrip("\n").split("\n")))
    docstrings = {f.shown: f.docstring for f in functions if f.docstring is not None}
    docstrings[""] = f"{target.title} {source}."
    text, quoted = without_marks("\n".join(lines) + "\n")
    text, quoted = with_docstrings(text, docstrings, quoted)
    final = named.globals
    # a tree has names in Python's normal form
    expected = Expected(
        {f.shown: tuple(map(given, f.parameters)) for f in functions},
        docstrings,
        {normal(final.get(n.name, n.name)) for n in tree.body if isinstance(n, ast.FunctionDef)},
        {final.get(n, n) for n, _, _ in constants},
        {final.get(n, n) for n in _bound(imports)} | named.builtins,
        target.decorators,
        target.overridden,
        target.eager,
        {f.shown: len(own_keywords(target, f.draws)) + f.stores for f in functions},
    )
    inspect(text, named.text, expected)
    return ModuleText(text, quoted, named.streams)


def _constants(
    functions: Sequence[FunctionText], needs: Needs, source: str, target: Target, used: Set[str]
) -> list[tuple[str, str, str]]:
    """The constants that functions use: names, values and what is said of them."""
    sizes = {**target.sizes, **target.extras.sizes}
    constants = [(n, v, note) for n, (v, note) in sizes.items() if n in used]
    constants += [(n, v, note) for n, (h, v, note) in target.settings.items() if h in used]
    constants += [(n, v, "") for n, v in join(functions).items()]
    if "_command" not in needs.helpers:
        return constants
    drawing = tuple(normal(f.shown) for f in functions if f.draws)
    fixed = {normal(f.shown): tuple(map(given, f.fixed)) for f in functions
             if f.fixed is not None}  # fmt: skip
    constants.append(("SOURCE", repr(source), "what is converted"))
    note = f"arguments whose values the {target.kernels} are made for"
    constants.append(("FIXED", repr(fixed), note))
    if drawing:
        constants.append(("DRAWING", repr(drawing), "functions that take a seed and states"))
    storing = tuple(normal(f.shown) for f in functions if f.stores)
    if storing:
        constants.append(("STORING", repr(storing), "functions that take `out`"))
    return constants


def _parts(
    functions: Sequence[FunctionText], needs: Needs, jinja: Environment, target: Target
) -> list[str]:
    """The functions of a module between the helpers that they call."""
    device = jinja.get_template("helpers_device.py.j2").render(
        needs=needs.helpers,
        block_folds=_FOLDS,
        block_scans=_SCANS,
        helper=target.helper,
        fmod=target.math.get("fmod", "math.fmod"),
    )
    host = jinja.get_template("helpers_host.py.j2").render(
        needs=needs.helpers,
        device=target.device,
        kernels=target.kernels,
        chunked=target.chunked,
        drawing=any(f.draws for f in functions),
        storing=any(f.stores for f in functions),
        more=len(own_keywords(target, False)),
    )
    own = [p for f in functions for p in f.parts]
    solving = needs.helpers & {"_factorised", "_cholesky"}
    solvers = _solvers(needs, jinja, target) if solving else ""
    return [p for p in (_trim(device), *own, _trim(solvers), _trim(host)) if p]


def _solvers(needs: Needs, jinja: Environment, target: Target) -> str:
    """The kernels that factorise matrices, and the helpers that launch them."""
    singular, wrong = (
        target.workspace(name, "1", "np.int32", zero=True).text for name in ("singular", "wrong")
    )
    return jinja.get_template("solvers.py.j2").render(
        needs=needs.helpers,
        complex="_complex_pivots" in needs.helpers,
        pivots=target.workspace("pivots", "(many, n)", "np.int32").text,
        singular=singular,
        wrong=wrong,
        solution=target.new("(*lead, n, columns - n)", "operands.dtype").text,
        determinant=target.new("tuple(lead)", "operands.dtype").text,
        factor=target.new("operands.shape", "operands.dtype").text,
    )


def _bound(imports: Sequence[str]) -> set[str]:
    """The names that lines of imports bind."""
    nodes = [n for n in tree_of("\n".join(imports)).body]
    aliases = [a for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
    return {a.asname or a.name.partition(".")[0] for a in aliases}


def join(functions: Sequence[FunctionText]) -> dict[str, str]:
    """The constants of all functions. Raises ModuleError where two cannot stand together."""
    own: dict[str, str] = {}
    for f in functions:
        for name, value in f.constants.items():
            if own.setdefault(name, value) != value:
                raise ModuleError(f"`{given(name)}` names two constants of the module")
    names = [n for f in functions for n in (f.shown, *f.kernels)]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise ModuleError(f"two functions of the module are called `{given(twice)}`")
    return own


def _joined(all_needs: Sequence[Needs], target: Target) -> Needs:
    needs = Needs(helpers=set(target.extras.helpers))
    for n in all_needs:
        needs.helpers |= n.helpers
        needs.math |= n.math
        needs.numba_types |= n.numba_types
        needs.imports |= n.imports
    if needs.helpers & {
        "_array",
        "_number",
        "_integer",
        "_leading",
        "_no_integers",
        "_one_dtype",
        "_exact_integers",
    }:
        needs.helpers.add("_command")
    if needs.helpers & {"_timed", "_moved_there"}:
        needs.imports.add("from contextlib import contextmanager")
    if needs.helpers & {"_counter", "_new", "_workspace"}:
        needs.imports.add("import threading")
    if "_new" in needs.helpers:
        needs.imports.add("import weakref")
    if not target.device:
        needs.helpers.discard("_on_device")
    elif needs.helpers & _ASKING:
        needs.helpers.add("_on_device")
    if "_apart" in needs.helpers:
        needs.helpers.add("_same_memory")
    return needs


def _imports(
    used: set[str], simulated: str, needs: Needs, target: Target, *, warps: bool
) -> list[str]:
    lines = [
        f"import {m}" for m in ("cmath", "math", "operator", "os", "shlex", "sys") if m in used
    ]
    if HOST_MATH in used:
        lines.append(f"import math as {HOST_MATH}" if simulated else "import math")
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
    if "np" in used or "np." in simulated:
        lines.append("import numpy as np")
    asks_simulator = bool(simulated) or warps or "config" in used
    lines += target.imports(needs.numba_types | (target.packages & used), asks_simulator)
    return lines


def _import_order(line: str) -> tuple[bool, str]:
    """Plain imports first, each kind by name, as ruff sorts them."""
    return line.startswith("from"), line


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
        decorated = bool(result) and _ends_decorator(result)
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


def _ends_decorator(lines: Sequence[str]) -> bool:
    """Whether the last line is that of a decorator, which may have several."""
    for line in reversed(lines):
        if line and not line.startswith((" ", ")")):
            return line.startswith("@")
    return False


def _after_definition(lines: Sequence[str]) -> bool:
    for line in reversed(lines):
        if line and not line.startswith((" ", ")", "]", "}")):
            return line.startswith("def ")
    return False
