"""`--trace-values`: the first source line whose value a kernel gets wrong.

A generated kernel has the source statement above the code that it became, and the user's names.
Both functions are run on the input that differs, each assignment of such a name followed by a
call that keeps its value; the values of a kernel that the original never has are wrong.
Statements that became several assignments (sums), or that have no name of their own in the
kernel, are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from porter.source import newer
from porter.support.parsing import tree_of

_HOOK = "_porter_value"
#: how many values of one line are kept, and shown
_KEPT, _SHOWN = 4096, 6
_Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign
Key = tuple[int, str]


class Values:
    """The values that were assigned, by source line and name."""

    def __init__(self) -> None:
        self.seen: dict[Key, list[Any]] = {}

    def __call__(self, line: int, name: str, value: Any) -> None:
        """Keep a number, or the elements of an array."""
        array = np.asarray(value)
        if array.dtype.kind in "biufc":
            kept = self.seen.setdefault((line, name), [])
            kept += array.reshape(-1)[: _KEPT - len(kept)].tolist()

    @property
    def names(self) -> dict[str, Any]:
        """What watched code finds among its globals."""
        return {_HOOK: self}


def watch_source(tree: ast.Module) -> None:
    """Follow every assignment to names in functions with a call that keeps the values."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in list(_assignments(function)):
                _follow(function, node, node.lineno, _targets(node))
    ast.fix_missing_locations(tree)


def watch_kernels(text: str, source: str) -> Callable[[ast.Module], None]:
    """What follows those assignments of a module's kernels that the source has too."""
    lines = text.splitlines()
    known: dict[str, _Assignment] = {}
    for node in ast.walk(newer.parse(source)):
        if isinstance(node, _Assignment):
            # the same statement twice: it is not known which one a kernel means
            key = ast.dump(node)
            known[key] = node if key not in known else ast.Assign([], ast.Constant(0))

    def change(tree: ast.Module) -> None:
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and _is_jit(function):
                _watch_kernel(function, lines, known)
        ast.fix_missing_locations(tree)

    return change


def _is_jit(function: ast.FunctionDef) -> bool:
    return any("cuda.jit" in ast.unparse(d) for d in function.decorator_list)


def _watch_kernel(
    function: ast.FunctionDef, lines: list[str], known: Mapping[str, _Assignment]
) -> None:
    end = function.end_lineno or function.lineno
    found = [(n, _source(lines[n - 1])) for n in range(function.lineno, end + 1)]
    marks = [(n, dump) for n, dump in found if dump is not None]
    bounds = [*(n for n, _ in marks), end + 1]
    for (start, dump), stop in zip(marks, bounds[1:], strict=True):
        origin = known.get(dump)
        for name in _targets(origin) if origin is not None else ():
            own = [
                node
                for node in _assignments(function)
                if start < node.lineno < stop and name in _targets(node)
            ]
            # several: the value is not complete before the last, if it is a sum
            if len(own) == 1 and not _in_own_loop(function, own[0], start):
                assert origin is not None
                _follow(function, own[0], origin.lineno, [name])


def _source(line: str) -> str | None:
    """The source statement that a comment of a kernel holds, None for other lines."""
    text = line.strip()
    if not text.startswith("# "):
        return None
    try:
        (statement,) = tree_of(text[2:]).body
    except (SyntaxError, ValueError):
        return None
    return ast.dump(statement) if isinstance(statement, (*_SIMPLE, ast.Return)) else None


_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def _assignments(function: ast.FunctionDef) -> Iterator[_Assignment]:
    return (n for n in ast.walk(function) if isinstance(n, _Assignment))


def _targets(node: _Assignment) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [p.id for p in parts if isinstance(p, ast.Name)]


def _in_own_loop(function: ast.FunctionDef, node: ast.stmt, start: int) -> bool:
    """Whether a loop that begins after a line holds the node."""
    loops = [n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While))]
    return any(n.lineno > start and node in list(ast.walk(n)) for n in loops)


def _follow(function: ast.FunctionDef, node: ast.stmt, line: int, names: list[str]) -> None:
    for owner in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(owner, field, None)
            if isinstance(body, list) and node in body:
                place = body.index(node) + 1
                body[place:place] = [_hook(line, name, node) for name in names]
                return


def _hook(line: int, name: str, at: ast.stmt) -> ast.stmt:
    arguments: list[ast.expr] = [ast.Constant(line), ast.Constant(name), ast.Name(name, ast.Load())]
    return ast.copy_location(ast.Expr(ast.Call(ast.Name(_HOOK, ast.Load()), arguments, [])), at)


def first_difference(
    original: Values, kernel: Values, source: str, function: str
) -> tuple[str, ...]:
    """What is known of the values, in words: the first line whose values are wrong.

    Lines are in the order in which the original came to them.
    """
    both = [key for key in original.seen if key in kernel.seen]
    if not both:
        return ("the kernels have no variable for any value of the source",)
    own_lines = _lines_of(source, function)
    missing: Key | None = None
    for key in both:
        theirs, own = original.seen[key], kernel.seen[key]
        if wrong := _absent(own, theirs):
            return _reported(key, source, theirs, wrong)
        # a helper's value may have several names in the kernel
        if missing is None and key[0] in own_lines and _absent(theirs, own):
            missing = key
    if missing is not None:
        text = _reported(missing, source, original.seen[missing], kernel.seen[missing])
        return ("no value differs, but the kernels never have some of the original's:", *text)
    names = ", ".join(dict.fromkeys(f"`{name}` (line {line})" for line, name in both))
    return (f"the kernels compute the original's values of {names}: look after these lines",)


def _reported(key: Key, source: str, theirs: list[Any], own: list[Any]) -> tuple[str, ...]:
    line, name = key
    return (
        f"line {line}: {source.splitlines()[line - 1].strip()}",
        f"  original: {name} = {_some(theirs)}",
        f"  kernel:   {name} = {_some(own)}",
    )


def _lines_of(source: str, name: str) -> range:
    """The lines of a function of the source."""
    last = name.rsplit(".", 1)[-1]
    for node in ast.walk(newer.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == last:
            return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)


def _absent(values: list[Any], among: list[Any]) -> list[Any]:
    """The values that are not among others, as far as rounding lets one tell."""
    sizes = [abs(v) for v in among if v == v and abs(v) != np.inf]
    slack = 1e-7 * max(sizes, default=0)
    return [v for v in dict.fromkeys(values) if not any(_close(v, o, slack) for o in among)]


def _close(one: Any, other: Any, slack: float) -> bool:
    if one != one or other != other:
        return bool(one != one and other != other)
    if one == other:
        return True
    # single precision, and what a sum in another order may change
    return bool(abs(one - other) <= 1e-5 * max(abs(one), abs(other)) + slack)


def _some(values: list[Any]) -> str:
    shown = list(dict.fromkeys(map(repr, values)))
    return ", ".join(shown[:_SHOWN]) + (" ..." if len(shown) > _SHOWN else "")
