"""Kinds of mistakes in kernels: for each, the edits that make it in a module's text.

An edit is found in the syntax tree and spliced into the text, so that line numbers and the
rest of the formatting stay.  `mutants` gives the mutants of a module, each of them once.
"""

from __future__ import annotations

import ast
import itertools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.codegen.module.header import parse

Function = ast.FunctionDef
#: what to replace, and the text to put there
Edit = tuple[ast.AST | tuple[int, int], str]
REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
STRICT = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}
OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Add: "+", ast.Sub: "-",
    ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One broken module: what was done, where, and which functions to prove."""

    module: str
    kind: str
    function: str
    offset: int
    line: int
    before: str
    after: str
    text: str
    proves: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies it while lines move."""
        return self.module, self.kind, f"{self.function}+{self.offset}: {self.before}", self.after


class Module:
    """The text of a generated module, with places in it."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.data = text.encode()
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.functions = [f for f in self.tree.body if isinstance(f, ast.FunctionDef)]
        self.kernels = [f for f in self.functions if any(map(is_cuda, f.decorator_list))]
        header = parse(text)
        self.hosts = [record.name for record in header.functions] if header else []

    def span(self, place: ast.AST | tuple[int, int]) -> tuple[int, int]:
        if isinstance(place, tuple):
            return place
        first, last = self.starts[place.lineno - 1], self.starts[place.end_lineno - 1]  # type: ignore[attr-defined]
        return first + place.col_offset, last + place.end_col_offset  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def between(self, left: ast.AST, right: ast.AST, sign: str) -> tuple[int, int]:
        """Where an operator stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        at = start + self.data[start:end].index(sign.encode())
        return at, at + len(sign)

    @cached_property
    def strides(self) -> dict[str, str]:
        """`step_i` for `step_j` and the other way round."""
        pairs = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and "cuda.gridsize(2)" in ast.unparse(node):
                one, other = (n.id for n in node.targets[0].elts)  # type: ignore[attr-defined]
                pairs |= {one: other, other: one}
        return pairs

    def proves(self, name: str) -> tuple[str, ...]:
        """The functions of the header that reach a function."""
        calls = {
            f.name: {n.id for n in ast.walk(f) if isinstance(n, ast.Name)} for f in self.functions
        }
        found = []
        for host in self.hosts:
            reached, pending = {host}, [host]
            while pending:
                new = calls[pending.pop()] & calls.keys() - reached
                reached |= new
                pending += new
            if name in reached:
                found.append(host)
        return tuple(found)


def is_cuda(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith("cuda.jit")


class Place:
    """One function, in which edits are looked for."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.function = module, function
        self.kernel = function in module.kernels
        docstring = ast.get_docstring(function) is not None
        self.nodes = [n for s in function.body[docstring:] for n in ast.walk(s)]
        self.parents = {c: n for n in ast.walk(function) for c in ast.iter_child_nodes(n)}

    def of(self, *types: type[ast.AST]) -> Iterator[ast.AST]:
        return (n for n in self.nodes if isinstance(n, types))

    def text(self, node: ast.AST) -> str:
        return self.module.source(node)

    def bodies(self) -> Iterator[list[ast.stmt]]:
        yield self.function.body
        for node in self.nodes:
            for name in ("body", "orelse"):
                body = getattr(node, name, None)
                if isinstance(body, list):
                    yield body

    def above(self, node: ast.AST, types: type[ast.AST] | tuple[type[ast.AST], ...]) -> bool:
        while (node := self.parents.get(node)) is not None:  # type: ignore[assignment]
            if isinstance(node, types):
                return True
        return False

    def launches(self, node: ast.AST) -> bool:
        """Whether a statement holds a launch, `kernel[grid, block](...)`."""
        names = {k.name for k in self.module.kernels}
        subscripts = (n for n in ast.walk(node) if isinstance(n, ast.Subscript))
        return any(isinstance(s.value, ast.Name) and s.value.id in names for s in subscripts)

    def guards(self) -> Iterator[ast.If]:
        for node in self.of(ast.If):
            assert isinstance(node, ast.If)
            if self.kernel or self.launches(node):
                yield node

    def calls(self, *names: str) -> Iterator[ast.Call]:
        for node in self.of(ast.Call):
            assert isinstance(node, ast.Call)
            if not names or ast.unparse(node.func) in names:
                yield node

    def operations(self, *types: type[ast.AST]) -> Iterator[ast.BinOp]:
        for node in self.of(ast.BinOp):
            assert isinstance(node, ast.BinOp)
            if isinstance(node.op, types):
                yield node

    def operator(self, node: ast.BinOp) -> tuple[int, int]:
        # a parenthesis or a comment may stand between, but no other operator does
        return self.module.between(node.left, node.right, OPERATORS[type(node.op)])


@dataclass(frozen=True)
class Stride:
    """A loop of a kernel with a step: `range` with three arguments, or `while` with `+=`."""

    first: ast.AST
    end: ast.AST
    step: ast.AST


def strides(place: Place) -> Iterator[Stride]:
    for call in place.calls("range"):
        if place.kernel and len(call.args) == 3:
            yield Stride(*call.args)
    for body in place.bodies():
        for before, loop in itertools.pairwise(body):
            if not (place.kernel and isinstance(loop, ast.While)):
                continue
            test, last = loop.test, loop.body[-1]
            if isinstance(before, ast.Assign) and isinstance(last, ast.AugAssign):
                target = ast.unparse(last.target)
                if isinstance(test, ast.Compare) and ast.unparse(test.left) == target:
                    yield Stride(before.value, test.comparators[0], last.value)


Finder = Callable[[Place], Iterator[Edit]]
KINDS: dict[str, Finder] = {}


def kind(name: str) -> Callable[[Finder], Finder]:
    def add(finder: Finder) -> Finder:
        KINDS[name] = finder
        return finder

    return add


def is_size(node: ast.AST) -> bool:
    """`x.shape[0]`: its subscript is no element."""
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(".shape")


def wrapped(text: str) -> str:
    return text if text.replace("_", "a").isalnum() else f"({text})"


@kind("guard dropped")
def guard_dropped(place: Place) -> Iterator[Edit]:
    for guard in place.guards():
        yield guard.test, "True"
        if isinstance(guard.test, ast.BoolOp):
            yield from ((operand, "True" if isinstance(guard.test.op, ast.And) else "False")
                        for operand in guard.test.values)  # fmt: skip


@kind("guard off by one")
def guard_off_by_one(place: Place) -> Iterator[Edit]:
    for guard in place.guards():
        for test in ast.walk(guard.test):
            if isinstance(test, ast.Compare) and not any(is_nan_test(test)):
                last = test.comparators[-1]
                yield last, f"{wrapped(place.text(last))} + 1"
                yield last, f"{wrapped(place.text(last))} - 1"


@kind("branch dropped")
def branch_dropped(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.IfExp):
        assert isinstance(node, ast.IfExp)
        if place.kernel:
            yield node, wrapped(place.text(node.body))
            yield node, wrapped(place.text(node.orelse))


def compares(place: Place) -> Iterator[tuple[tuple[int, int], str]]:
    wanted = {n for g in place.guards() for n in ast.walk(g.test)}
    for node in place.of(ast.Compare):
        assert isinstance(node, ast.Compare)
        if not place.kernel and node not in wanted:
            continue
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            sign = OPERATORS[type(op)]
            if sign in STRICT:
                yield place.module.between(left, right, sign), sign
            left = right


@kind("< for <=")
def strict(place: Place) -> Iterator[Edit]:
    yield from ((span, STRICT[sign]) for span, sign in compares(place))


@kind("comparison reversed")
def comparison_reversed(place: Place) -> Iterator[Edit]:
    yield from ((span, REVERSED[sign]) for span, sign in compares(place))


@kind("axes swapped")
def axes_swapped(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        index = node.slice
        if isinstance(index, ast.Tuple) and len(index.elts) > 1 and place.kernel:
            texts = [place.text(e) for e in index.elts]
            yield index, ", ".join([texts[1], texts[0], *texts[2:]])
        if is_size(node) and place.kernel:
            array, axis = ast.unparse(node.value), ast.unparse(index)
            other = {"0": "1", "1": "0"}.get(axis, axis)
            if f"{array}[1]" in place.module.text:
                yield index, other
    for node in place.of(ast.Assign):
        if any(f in place.text(node) for f in ("cuda.grid(2)", "grid_2d(")):
            target = node.targets[0]  # type: ignore[attr-defined]
            yield target, ", ".join(place.text(e) for e in reversed(target.elts))


@kind("strides swapped")
def strides_swapped(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.Assign):
        if "cuda.gridsize(2)" in place.text(node):
            target = node.targets[0]  # type: ignore[attr-defined]
            yield target, ", ".join(place.text(e) for e in reversed(target.elts))
    for node in (stride.step for stride in strides(place)):
        step = place.text(node)
        for one, other in (("gridDim", "blockDim"), ("blockDim", "gridDim")):
            if one in step:
                yield node, step.replace(one, other)
        if "gridsize(" in step:
            yield node, f"2 * {step}"
            yield node, "1"
        if step in place.module.strides:
            yield node, place.module.strides[step]


@kind("wrong neighbour")
def wrong_neighbour(place: Place) -> Iterator[Edit]:
    for node in place.operations(ast.Add, ast.Sub):
        if not place.kernel or not place.above(node, ast.Subscript):
            continue
        if isinstance(node.right, ast.Constant):
            yield node, place.text(node.left)
            yield node.right, str(node.right.value + 1)
            other = "-" if isinstance(node.op, ast.Add) else "+"
            yield place.operator(node), other


def barriers(place: Place) -> Iterator[tuple[list[ast.stmt], int]]:
    for body in place.bodies():
        for k, statement in enumerate(body):
            if place.kernel and ast.unparse(statement) == "cuda.syncthreads()":
                yield body, k


@kind("syncthreads dropped")
def barrier_dropped(place: Place) -> Iterator[Edit]:
    yield from ((body[k], "pass") for body, k in barriers(place))


def exchanged(place: Place, one: ast.stmt, other: ast.stmt) -> Edit:
    """Two statements that follow each other, in the other order."""
    module = place.module
    (start, middle), (after, end) = module.span(one), module.span(other)
    data = module.data
    return (start, end), (data[after:end] + data[middle:after] + data[start:middle]).decode()


@kind("syncthreads moved")
def barrier_moved(place: Place) -> Iterator[Edit]:
    for body, k in barriers(place):
        if k + 1 < len(body):
            yield exchanged(place, body[k], body[k + 1])
        if k > 0:
            yield exchanged(place, body[k - 1], body[k])
        yield body[k], "if cuda.threadIdx.x == 0: cuda.syncthreads()"


@kind("wrong init")
def wrong_init(place: Place) -> Iterator[Edit]:
    changed = {n.target.id for n in place.of(ast.AugAssign) if isinstance(n.target, ast.Name)}  # type: ignore[attr-defined]
    many = [t.id for n in place.of(ast.Assign) for t in n.targets if isinstance(t, ast.Name)]  # type: ignore[attr-defined]
    for node in place.of(ast.Assign):
        assert isinstance(node, ast.Assign)
        name = ast.unparse(node.targets[0])
        value = ast.unparse(node.value)
        again = name in changed or many.count(name) > 1
        if not (place.kernel and again):
            continue
        if value in ("T(0.0)", "T(-0.0)", "0", "0.0"):
            yield node.value, value.replace("-0", "0").replace("0", "1", 1)
        if "math.inf" in value:
            yield node.value, "T(0.0)"
            yield (
                node.value,
                value.replace("-", "") if "-" in value else value.replace("m", "-m", 1),
            )


def ranges(place: Place) -> Iterator[ast.Call]:
    """The loops of kernels, and those of host functions that launch."""
    for call in place.calls("range"):
        loop = place.parents[call]
        if place.kernel or (isinstance(loop, ast.For) and place.launches(loop)):
            yield call


@kind("tail dropped")
def tail_dropped(place: Place) -> Iterator[Edit]:
    for call in ranges(place):
        if len(call.args) < 3 or not place.kernel:
            bound = call.args[0] if len(call.args) == 1 else call.args[1]
            yield bound, f"{wrapped(place.text(bound))} - 1"
    for stride in strides(place):
        text, step = wrapped(place.text(stride.end)), wrapped(place.text(stride.step))
        yield stride.end, f"{text} - 1"
        if text != "0":  # 0 is a multiple of every step
            yield stride.end, f"{text} // {step} * {step}"
    if place.function.name == "_blocks":
        for node in place.operations(ast.FloorDiv):
            yield node.left, "count"


@kind("loop start off by one")
def loop_start(place: Place) -> Iterator[Edit]:
    for call in ranges(place):
        if len(call.args) == 1:
            yield call.args[0], f"1, {place.text(call.args[0])}"
        elif len(call.args) < 3 or not place.kernel:
            yield call.args[0], f"{wrapped(place.text(call.args[0]))} + 1"
    for stride in strides(place):
        yield stride.first, f"{wrapped(place.text(stride.first))} + 1"


@kind("wrong grid")
def wrong_grid(place: Place) -> Iterator[Edit]:
    for call in place.calls("_blocks"):
        yield call, f"{place.text(call)} - 1"
    for node in place.of(ast.Subscript):
        names = {k.name for k in place.module.kernels}
        value = node.value  # type: ignore[attr-defined]
        if isinstance(value, ast.Name) and value.id in names:
            block = node.slice.elts[1]  # type: ignore[attr-defined]
            if not isinstance(block, ast.Tuple):
                yield block, f"{wrapped(place.text(block))} // 2"


def is_float(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


@kind("float64 to float32")
def single(place: Place) -> Iterator[Edit]:
    for call in place.calls("T", "np.float64"):
        number = call.args[0]
        negative = isinstance(number, ast.UnaryOp) and is_float(number.operand)
        if is_float(number) or negative:
            value = ast.literal_eval(number)
            if struct.unpack("f", struct.pack("f", value))[0] == value:
                continue  # the same number in both
        yield call.func, "np.float32"
    for call in place.calls("np.int64"):
        yield call.func, "np.int32"
    for call in place.calls("cuda.shared.array", "cuda.local.array", "cuda.device_array"):
        yield call.args[1], "np.float32"
    for node in place.of(ast.Assign, ast.AugAssign):
        value = node.value  # type: ignore[attr-defined]
        if place.kernel and any(isinstance(n, (ast.BinOp, ast.Call)) for n in ast.walk(value)):
            plain = place.text(value)
            if "cuda." not in plain and "dtype" not in plain and "shape" not in plain:
                yield value, f"np.float32({plain})"


@kind("T() dropped")
def cast_dropped(place: Place) -> Iterator[Edit]:
    for call in place.calls("T", "np.float64", "np.int64"):
        yield call, wrapped(place.text(call.args[0]))


@kind("no atomic")
def no_atomic(place: Place) -> Iterator[Edit]:
    for call in place.calls("cuda.atomic.add"):
        array, index, value = (place.text(a) for a in call.args)
        yield call, f"{array}[{index}] += {value}"


@kind("operands swapped")
def operands_swapped(place: Place) -> Iterator[Edit]:
    for node in place.operations(ast.Sub, ast.Div, ast.FloorDiv):
        if place.kernel:
            left, right = place.text(node.left), place.text(node.right)
            sign = OPERATORS[type(node.op)]
            yield node, f"({wrapped(right)} {sign} {wrapped(left)})"


@kind("wrong sign")
def wrong_sign(place: Place) -> Iterator[Edit]:
    for node in place.operations(ast.Add, ast.Sub):
        if place.kernel and not place.above(node, ast.Subscript):
            yield place.operator(node), "-" if isinstance(node.op, ast.Add) else "+"
    for node in place.of(ast.AugAssign):
        assert isinstance(node, ast.AugAssign)
        if place.kernel and isinstance(node.op, ast.Add):
            yield place.module.between(node.target, node.value, "+="), "-="


def is_nan_test(node: ast.Compare) -> Iterator[bool]:
    same = ast.unparse(node.left) == ast.unparse(node.comparators[0])
    yield same and len(node.ops) == 1


@kind("NaN rule lost")
def nan_rule(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.Compare):
        assert isinstance(node, ast.Compare)
        if place.kernel and any(is_nan_test(node)):
            yield node, "False" if isinstance(node.ops[0], ast.NotEq) else "True"
    for call in place.calls("maximum", "minimum"):
        yield call.func, ast.unparse(call.func)[:3]


@kind("min for max")
def min_for_max(place: Place) -> Iterator[Edit]:
    defined = {f.name for f in place.module.functions}
    others = {"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max",
              "block_max": "block_min", "block_min": "block_max"}  # fmt: skip
    for call in place.calls(*others):
        other = others[ast.unparse(call.func)]
        if place.kernel:
            yield call.func, other if other in defined else other.removeprefix("block_")[:3]


@kind("abs or sign dropped")
def abs_dropped(place: Place) -> Iterator[Edit]:
    for call in place.calls("abs", "math.fabs"):
        yield call, wrapped(place.text(call.args[0]))
    for node in place.of(ast.UnaryOp):
        assert isinstance(node, ast.UnaryOp)
        if isinstance(node.op, ast.USub) and (place.kernel or is_argument(place, node)):
            yield node, wrapped(place.text(node.operand))


def is_argument(place: Place, node: ast.AST) -> bool:
    return isinstance(place.parents[node], ast.Call) and "T(" in place.text(place.parents[node])


def stored(node: ast.stmt) -> set[str]:
    """The names and elements that a statement writes, as text."""
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    flat = [e for t in targets if t for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {ast.unparse(t) for t in flat}


@kind("statements exchanged")
def statements_exchanged(place: Place) -> Iterator[Edit]:
    """In place: what the first of two reads, or writes, the second writes."""
    simple = (ast.Assign, ast.AugAssign)
    for body in place.bodies():
        for one, other in itertools.pairwise(body):
            if not (place.kernel or place.above(one, ast.For)) or not isinstance(other, simple):
                continue
            if not isinstance(one, (*simple, ast.If)) or "cuda." in place.text(other):
                continue
            read = {
                ast.unparse(n) for n in ast.walk(one) if isinstance(n, (ast.Name, ast.Subscript))
            }
            if read & stored(other):
                yield exchanged(place, one, other)


@kind("constant off by 1e-6")
def wrong_constant(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.Constant):
        if is_float(node) and place.kernel and node.value:  # type: ignore[attr-defined]
            yield node, repr(node.value * (1 + 1e-6))  # type: ignore[attr-defined]
    for call in place.calls("T"):
        if place.kernel and isinstance(call.args[0], ast.Name):
            yield call, f"({place.text(call)} * T(1.000001))"


@kind("wrong exponent")
def wrong_exponent(place: Place) -> Iterator[Edit]:
    for node in place.operations(ast.Pow):
        if isinstance(node.right, ast.Constant) and place.kernel:
            yield node.right, str(node.right.value + 1)


@kind("store dropped")
def store_dropped(place: Place) -> Iterator[Edit]:
    for node in place.of(ast.Assign):
        assert isinstance(node, ast.Assign)
        swap = "u2, new = new, u2" in place.text(node)
        if swap or (place.kernel and isinstance(node.targets[0], ast.Subscript)):
            yield node, "pass"


@kind("arguments exchanged")
def arguments_exchanged(place: Place) -> Iterator[Edit]:
    """Two arguments of a launch that follow each other."""
    names = {k.name for k in place.module.kernels}
    for call in place.calls():
        if isinstance(call.func, ast.Subscript) and ast.unparse(call.func.value) in names:
            for one, other in itertools.pairwise(call.args):
                start, end = place.module.span(one)[0], place.module.span(other)[1]
                yield (start, end), f"{place.text(other)}, {place.text(one)}"


def mutants(module: Module) -> Iterator[Mutant]:
    """All mutants of a module, in the order of `KINDS`; no text twice."""
    seen = {module.text}
    wanted = {f.name for f in module.kernels} | set(module.hosts) | {"_blocks"}
    places = [Place(module, f) for f in module.functions if f.name in wanted]
    for name, finder in KINDS.items():
        for place in places:
            for where, new in finder(place):
                start, end = module.span(where)
                text = (module.data[:start] + new.encode() + module.data[end:]).decode()
                if text in seen or not parses(text):
                    continue
                seen.add(text)
                yield described(module, name, place, (start, end), new, text)


def described(
    module: Module, name: str, place: Place, span: tuple[int, int], new: str, text: str
) -> Mutant:
    """The mutant with the whole lines that the edit touches, on one line each."""
    first = module.data.rfind(b"\n", 0, span[0]) + 1
    last = module.data.find(b"\n", span[1])
    before = module.data[first:last].decode()
    after = (module.data[first : span[0]] + new.encode() + module.data[span[1] : last]).decode()
    line = module.data.count(b"\n", 0, span[0]) + 1
    function, offset = place.function.name, line - place.function.lineno
    shown = (" ".join(t.split()) for t in (before, after))
    return Mutant(module.name, name, function, offset, line, *shown, text, module.proves(function))


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
