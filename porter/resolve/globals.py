"""What the names of a module mean: imports, constants and functions of the same file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import libcst as cst

from porter.dtypes.dtype import KINDS, DType
from porter.ir.scalars import number
from porter.resolve.bindings import Binding, bindings
from porter.resolve.computed import Values
from porter.resolve.toplevel import TopLevel, top_level
from porter.resolve.values import NONE, DTypeName, Function, Module, Value
from porter.source.module import SourceModule

CONSTANTS = {
    "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau,
    "Inf": math.inf, "NaN": math.nan, "PINF": math.inf, "NINF": -math.inf,
    "infty": math.inf, "euler_gamma": 0.5772156649015329,
}  # fmt: skip
MODULES = {"numpy", "math", "cmath", "numpy.linalg", "numpy.fft", "builtins"}
MODULES |= {"scipy", "scipy.special"}
MODULES |= {"numpy.random", "numpy.lib", "numpy.lib.stride_tricks"}
DTYPE_ALIASES = {
    "float": "float64", "int": "int64", "bool": "bool", "complex": "complex128",
    "bool_": "bool", "double": "float64", "single": "float32", "float_": "float64",
    "int_": "int64", "intp": "int64", "uint": "uint64", "half": "float16", "byte": "int8",
    "ubyte": "uint8", "cdouble": "complex128", "csingle": "complex64", "complex_": "complex128",
}  # fmt: skip


def dtype_named(name: str) -> DType | None:
    """The dtype of a NumPy or Python type name, or None."""
    name = DTYPE_ALIASES.get(name, name)
    return DType(name) if name in KINDS else None


#: NumPy's codes of dtypes in a text, those of C's `long` apart: it has 32 bits on some systems
_CODES = {
    "?": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "q": "int64", "Q": "uint64", "p": "int64", "P": "uint64", "e": "float16",
    "f": "float32", "d": "float64", "F": "complex64", "D": "complex128",
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip


def dtype_of_text(text: str) -> DType | None:
    """The dtype that `np.dtype(text)` is, or None: a name, or a code (`"i4"`, `"<f8"`)."""
    code = _CODES.get(text[1:] if text[:1] in {"<", "=", "|"} else text)
    return DType(code) if code is not None else dtype_named(text)


@dataclass(frozen=True)
class Origin:
    """What an import says: `from ..a.b import name`, or `import a.b` without a name."""

    level: int
    module: str
    name: str | None


@dataclass
class Options:
    """What may be done with the names of a file, as the caller of the converter wants it.

    With `library` "cupy", linear algebra, transforms and sorts run there; with `host_products`,
    NumPy multiplies matrices; with `solvers`, the target's kernels solve equations.  With
    `allow_serial`, loops that run in order may run on one thread; with `refuse_host`, nothing that
    is array work may stay on the host.  `values` runs what a
    constant needs: None if nothing may run.  With `verdict_only` the kind of such a value is
    enough; with `run_module` values are those after the whole module ran.
    """

    library: str = ""
    host_products: bool = False
    solvers: bool = True
    allow_serial: bool = False
    refuse_host: bool = False
    values: Values | None = None
    verdict_only: bool = False
    run_module: bool = False

    @property
    def own_solvers(self) -> bool:
        """Whether equations are solved by kernels of the target's own, not by a library."""
        return self.solvers and not self.library


class Globals:
    """The module-level names of one file, found without running it."""

    def __init__(self, module: SourceModule, options: Options | None = None) -> None:
        self.module = module
        self.options = options or Options()
        self.names: dict[str, Value] = {}
        self.stars: list[str] = []  # modules of which every name is imported
        self.assigned: dict[str, cst.BaseExpression] = {}
        self.imports: dict[str, set[str]] = {}
        self.origins: dict[str, Origin] = {}
        self.foreign = False  # another file of the project, whose helpers are inlined
        module.set_names_apart()
        self._scan(module.tree.body)

    def for_module(self, module: SourceModule) -> Globals:
        """The names of another text of the file, with the same options."""
        return Globals(module, replace(self.options))

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """What the statements of the module level bind each name to."""
        return bindings(self.module)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text that each name is assigned, as aliases of types are."""
        return {name: self.module.code(value) for name, value in self.assigned.items()}

    @cached_property
    def top(self) -> TopLevel | None:
        """What the statements of the top level do with its names; None if it is not Python."""
        return top_level(self.module.shown.whole)

    @cached_property
    def constants(self) -> frozenset[str]:
        """The names that the top level assigns; `constants.reading` has their values."""
        return frozenset(self.assigned) if self.top is None else self.module.own(self.top.constants)

    @cached_property
    def functions(self) -> dict[str, cst.FunctionDef]:
        """The functions of the file by name."""
        return {f.node.name.value: f.node for f in self.module.functions if "." not in f.name}

    def _scan(self, body: object) -> None:
        for node in body if isinstance(body, (list, tuple)) else ():
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    self._small(small)
            elif isinstance(node, cst.FunctionDef):
                self.names[node.name.value] = Function(node.name.value, node)
            elif isinstance(node, (cst.If, cst.Try)):
                self._scan(node.body.body)

    def _star(self, node: cst.ImportFrom) -> None:
        """Every name of a module: it may replace what the file has defined before."""
        module = _dotted(node.module) if node.module is not None else "."
        if module not in _PLAIN_STARS:
            self.stars.append(module)
            for name in [n for n, v in self.names.items() if isinstance(v, Function) and v.node]:
                del self.names[name]

    def _small(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Import() | cst.ImportFrom():
                if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
                    self._star(node)
                names, lines = imported(node)
                self.names.update(names)
                self.origins.update(_origins(node))
                for name, line in lines.items():
                    self.imports.setdefault(name, set()).update(line)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                self.assigned[name] = value
            case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
                self.assigned[name] = value


_PLAIN_STARS = ("__future__", "typing", "numba", "numba.types", "cmath")


def _origins(node: cst.Import | cst.ImportFrom) -> dict[str, Origin]:
    if isinstance(node.names, cst.ImportStar):
        return {}
    if isinstance(node, cst.Import):
        return {_bound(a) or _dotted(a.name): Origin(0, _dotted(a.name), None) for a in node.names}
    base = _dotted(node.module) if node.module is not None else ""
    level = len(node.relative)
    return {_bound(a) or _dotted(a.name): Origin(level, base, _dotted(a.name)) for a in node.names}


def imported(node: cst.Import | cst.ImportFrom) -> tuple[dict[str, Value], dict[str, set[str]]]:
    """The names that an import binds, and for each the lines that import it elsewhere."""
    names: dict[str, Value] = {}
    lines: dict[str, set[str]] = {}
    if isinstance(node.names, cst.ImportStar):
        return names, lines
    if isinstance(node, cst.Import):
        for alias in node.names:
            name, bound = _dotted(alias.name), _bound(alias)
            top = name.split(".")[0]
            names[bound or top] = Module(name if bound else top)
            lines[bound or top] = {f"import {name}" + (f" as {bound}" if bound else "")}
        return names, lines
    base = _dotted(node.module) if node.module is not None else "."
    for alias in node.names:
        name, bound = _dotted(alias.name), _bound(alias)
        names[bound or name] = member(base, name)
        if not node.relative and base != "__future__":
            lines[bound or name] = {
                f"from {base} import {name}" + (f" as {bound}" if bound else "")
            }
    return names, lines


@lru_cache(maxsize=4)
def globals_of(module: SourceModule) -> Globals:
    """The names of a module, scanned once."""
    return Globals(module)


def member(module: str, name: str) -> Value:
    """What `module.name` is: a submodule, a dtype or a function."""
    dotted = f"{module}.{name}"
    if module in ("numpy", "math", "cmath") and name in CONSTANTS:
        return number(CONSTANTS[name])
    if dotted == "numpy.newaxis":
        return NONE
    if dotted in MODULES:
        return Module(dotted)
    if module == "numpy":
        dtype = dtype_named(name) if name not in ("float", "int", "complex") else None
        if dtype is not None:
            return DTypeName(dtype)
    return Function(dotted)


def _bound(alias: cst.ImportAlias) -> str | None:
    return alias.evaluated_alias


def _dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
