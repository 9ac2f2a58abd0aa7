"""Calls and names of libraries, as CuPy has them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from porter.codegen.host.text import HOST_MATH
from porter.convert.cupy.places import (
    ABOUT,
    ARRAY,
    HOST,
    NUMBER,
    TESTS,
    Places,
    Where,
    on_device,
)
from porter.numpy_functions import Dotted, known
from porter.numpy_functions.cupy import UFUNC_LACKS, differs
from porter.resolve.values import DTypeName, Function, Method, Module
from porter.target.base import Call as TargetCall

#: functions that take a sequence of arrays, or make an array of what they are given
_OF_SEQUENCES = frozenset(
    f"numpy.{n}"
    for n in ("array", "asarray", "concatenate", "stack", "concat", "hstack", "vstack", "dstack",
              "column_stack", "block", "meshgrid", "select", "broadcast_arrays")
)  # fmt: skip
#: parameters that are arrays, and no sizes or axes
_ARRAYS = frozenset({"a", "b", "x", "x1", "x2", "y", "v", "m", "arr", "condition", "xp", "fp",
                     "ary", "values", "weights", "A", "B", "p", "element",
                     "test_elements"})  # fmt: skip
#: the package that has SciPy's functions for CuPy's arrays
_CUPYX = "cupyx"
_RESULT = {"int": "int", "bool": "bool", "scalar": "_scalar"}
#: what reads its argument back anyway
_READING = frozenset({"builtins.float", "builtins.int", "builtins.bool", "builtins.complex"})

Loop = Callable[[cst.For | cst.While, set[str]], TargetCall]


@dataclass
class Marks:
    """What becomes of nodes: calls around them, other names, other statements.

    `around` has the function that is called with an expression (`.copy` is a method of it),
    `names` the text in place of a name, `instead` statements in place of a statement.
    """

    around: dict[cst.CSTNode, str] = field(default_factory=dict)
    names: dict[cst.CSTNode, str] = field(default_factory=dict)
    instead: dict[cst.CSTNode, str] = field(default_factory=dict)
    plain: set[cst.CSTNode] = field(default_factory=set)  # `t += x` that is `t = t + x`
    notes: dict[str, set[int]] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    dtypes: list[frozenset[str]] = field(default_factory=list)  # those that its functions take
    imports: set[str] = field(default_factory=set)

    def join(self, others: Marks) -> None:
        """What the marks of another function need of the module is needed, too."""
        for text, lines in others.notes.items():
            self.notes.setdefault(text, set()).update(lines)
        self.helpers |= others.helpers
        self.imports |= others.imports
        self.dtypes += others.dtypes


class Calls(ABC):
    """Marks calls; raises Refusal where CuPy has no equal."""

    def __init__(self, places: Places, loop: Loop) -> None:
        self.places, self.loop = places, loop
        self.module = places.scope.module
        self.marks = Marks()
        #: the statements that run after the one at hand, block by block
        self.after: list[Sequence[cst.CSTNode]] = []

    @abstractmethod
    def expression(self, node: cst.BaseExpression) -> None:
        """An expression and everything in it."""

    @abstractmethod
    def _value(self, node: cst.BaseExpression) -> None:
        """A value that gets a name or is returned: no view of one element."""

    def _unknown(self, node: cst.CSTNode) -> Exception:
        """A refusal of what is not rewritten."""
        return self.places.refuse(
            node,
            "PRT806",
            f"`{self.module.brief(node)}` is not rewritten for CuPy",
            "use --target cuda",
        )

    def _test(self, node: cst.BaseExpression) -> None:
        """A condition, of which Python asks whether it is true."""
        self.expression(node)
        where = self.places.of(node)
        if where is NUMBER:
            self._read(node, "bool")
        elif on_device(where):
            raise self.places.refuse(node, "PRT806", "the truth value of an array is ambiguous")

    def _read(self, node: cst.BaseExpression, how: str) -> None:
        """A number that the host needs."""
        self.marks.around[node] = _RESULT[how]
        self.marks.helpers |= {"_scalar"} if how == "scalar" else set()
        self._note("a number is read back, for which Python waits", node)

    def _note(self, text: str, node: cst.CSTNode) -> None:
        self.marks.notes.setdefault(text, set()).add(self.module.span(node).line)

    # -- names and calls ---------------------------------------------------------------------

    def _named(self, node: cst.BaseExpression, library: str = "cp") -> bool:
        """Whether an expression is the name of something in NumPy: CuPy's is written."""
        if not isinstance(node, (cst.Name, cst.Attribute)) or self._is_value(node):
            return False
        full = self._full(node)
        if not full:
            return False
        where = Dotted(full)
        library = "np" if full == "numpy.errstate" else library
        if where.library == "scipy" and library != "cp":
            what = f"`{self.module.brief(node)}` is given numbers of the host, no arrays"
            raise self.places.refuse(node, "PRT806", what, "use a function of `math`")
        if where.library == "scipy":
            self.marks.names[node] = f"{_CUPYX}.{full}"
            self.marks.imports.add(f"import {_CUPYX}.{full.rpartition('.')[0]}")
        if where.library == "math":
            # Python's, also where kernels run on a simulator
            self.marks.names[node] = f"{HOST_MATH}.{where.path}" if where.path else HOST_MATH
        if where.library == "numpy":
            path = f".{where.path}" if where.path else ""
            self.marks.names[node] = f"{library}{path}"
            if library == "cp":
                self._lacks(node, full)
        return True

    def _is_value(self, node: cst.Name | cst.Attribute) -> bool:
        root: cst.BaseExpression = node
        while isinstance(root, cst.Attribute):
            root = root.value
        return not isinstance(root, cst.Name) or root.value in self.places.names

    def _full(self, node: cst.BaseExpression) -> str:
        """The full name of what an import makes known; '' for anything else."""
        if isinstance(node, cst.Attribute):
            owner = self._full(node.value)
            return f"{owner}.{node.attr.value}" if owner else ""
        if not isinstance(node, cst.Name):
            return ""
        found = self.places.scope.names.get(node.value)
        if isinstance(found, Module):
            return found.name
        if isinstance(found, Function) and found.node is None:
            return found.name
        origin = self.places.scope.origins.get(node.value)
        if origin is None or origin.level or origin.name is None:
            return ""
        return f"{origin.module}.{origin.name}"

    def _lacks(self, node: cst.CSTNode, full: str) -> None:
        """Refuse what CuPy has not; note what it has otherwise."""
        found, shown = differs(full), full.replace("numpy.", "np.").replace("ndarray.", ".")
        if found.missing:
            raise self.places.refuse(node, "PRT806", f"CuPy has no `{shown}`", found.cure or _ELSE)
        if found.note:
            self._note(f"`{shown}`: {found.note}", node)

    def _call(self, node: cst.Call) -> None:
        function = self.places.seen.one(node.func)
        given = [self.places.of(a.value) for a in node.args]
        if isinstance(function, Function) and function.node is not None:
            self._helper(node, function)
            return
        for a in node.args:
            if a.star and on_device(self.places.of(a.value)):
                raise self._unknown(node)
            self.expression(a.value)
        if isinstance(function, Method):
            self._method(node, function, given)
        elif isinstance(function, Function) and function.full.library in ("numpy", "scipy"):
            self._numpy(node, function.full, given)
        elif on_device(tuple(given)):
            name = function.name if isinstance(function, Function) else ""
            self._python(node, name, given, isinstance(function, DTypeName))
        else:
            self.expression(node.func)

    def _helper(self, node: cst.Call, function: Function) -> None:
        for a in node.args:
            self._value(a.value)
        self.marks.names[node.func] = self.places.helpers.named(self.places, node, function)

    def _python(self, node: cst.Call, name: str, given: list[Where], is_dtype: bool) -> None:
        """A function of Python's: it gets numbers of the host."""
        short, library = Dotted(name).short, Dotted(name).library
        if library == "builtins" and short in ("len", "abs", "isinstance", "tuple", "list",
                                               "enumerate", "zip", "reversed"):  # fmt: skip
            if short == "isinstance":
                raise self._unknown(node)
            return
        if ARRAY in leaves(tuple(given)) or any(isinstance(g, tuple) for g in given):
            text = self.module.brief(node.func)
            raise self.places.refuse(
                node,
                "PRT806",
                f"`{text}` goes through the elements of an array",
                "use NumPy's function, or a loop",
            )
        for a, where in zip(node.args, given, strict=True):
            if where is NUMBER and name in _READING:
                self._note("a number is read back, for which Python waits", node)
            elif where is NUMBER:
                self._read(a.value, "int" if short == "range" else "scalar")
        if is_dtype:
            self._named(node.func, "np")
        else:
            self.expression(node.func)

    def _numpy(self, node: cst.Call, name: Dotted, given: list[Where]) -> None:
        device = on_device(tuple(given))
        if name in ABOUT or name in TESTS:
            self._named(node.func, "cp" if device and name != "numpy.errstate" else "np")
            if device and name in TESTS:
                self._read(node, "bool")
            return
        where = self.places.of(node)
        creates = known(name).creates or name.short in ("tri", "indices")
        if not device and where is HOST:
            if creates:
                raise self.places.refuse(
                    node, "PRT806", "makes an array of no dimensions", "use a number"
                )
            self._named(node.func, "np")
            return
        if not device and not creates:
            self._named(node.func, "np")
            self.marks.around[node] = "cp.asarray"
            self._note("an array is computed on the host and moved", node)
            return
        if creates and where is NUMBER:
            raise self.places.refuse(
                node, "PRT806", "makes an array of no dimensions", "use the number"
            )
        self._named(node.func)
        self._parameters(node, name, given)

    def _parameters(self, node: cst.Call, name: Dotted, given: list[Where]) -> None:
        """Refuse parameters that CuPy's function has not, and lists in place of arrays."""
        spec, positional = known(name), 0
        ufunc = spec.inputs is not None or spec.ufunc
        lacks = differs(name).lacks | (UFUNC_LACKS if ufunc else frozenset())
        shown = name.replace("numpy.", "np.")
        dtypes = differs(name).dtypes
        first = self.places.seen.dtype(node.args[0].value) if node.args else None
        if dtypes and (first is None or first.name not in dtypes):
            found = "this dtype" if first is None else first.name
            raise self.places.refuse(
                node, "PRT806", f"CuPy's `{shown}` has no form for {found}", _ELSE
            )
        if dtypes:
            self.marks.dtypes.append(dtypes)
        for a, where in zip(node.args, given, strict=True):
            keyword = a.keyword.value if a.keyword is not None else ""
            if not keyword and positional < len(spec.parameters) and not spec.variadic:
                keyword = spec.parameters[positional][0]
            positional += a.keyword is None
            if a.keyword is not None and keyword in lacks:
                text = f"CuPy's `{shown}` has no parameter `{keyword}`"
                raise self.places.refuse(node, "PRT806", text, "compute it by other functions")
            taken = name in _OF_SEQUENCES and not keyword.startswith(("axis", "x"))
            is_list = isinstance(where, tuple) and (ufunc or keyword in _ARRAYS)
            if is_list and not taken:
                text = f"`{shown}` is given a list, which CuPy does not take"
                raise self.places.refuse(
                    node, "PRT806", text, "make an array of it: `np.array(...)`"
                )
            if isinstance(where, tuple) and taken and {HOST, NUMBER} <= set(leaves(where)):
                raise self.places.refuse(
                    node,
                    "PRT806",
                    "a list has numbers of the host and of the device",
                    "compute them in one array",
                )
            if keyword == "out" and where is not ARRAY:
                raise self._unknown(node)

    def _method(self, node: cst.Call, method: Method, given: list[Where]) -> None:
        assert isinstance(node.func, cst.Attribute)
        owner = node.func.value
        self.expression(owner)
        if not on_device(self.places.of(owner)):
            return
        full = f"ndarray.{method.name}"
        self._lacks(node, full)
        if any(isinstance(g, tuple) and on_device(g) for g in given):
            raise self._unknown(node)
        if method.name in ("item", "tolist"):
            self._note("a number is read back, for which Python waits", node)
        lacks = differs(full).lacks
        for a in node.args:
            if a.keyword is not None and a.keyword.value in lacks:
                text = f"CuPy's `.{method.name}` has no parameter `{a.keyword.value}`"
                raise self.places.refuse(node, "PRT806", text, "compute it by other functions")


_ELSE = "use another function, or --target cuda"


def leaves(where: Where) -> list[Where]:
    """The places in a tuple of places."""
    return [p for w in where for p in leaves(w)] if isinstance(where, tuple) else [where]
