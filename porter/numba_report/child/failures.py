"""From an exception of Numba's compiler to the user's line and a plain sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from porter.numba_report.model import Failure
from porter.numba_report.sentences import callee, is_certain, sentence
from porter.source import newer

#: statements that Numba rejects without saying where, by words of its message
_PLACES: tuple[tuple[str, tuple[type[ast.AST], ...]], ...] = (
    ("context manager", (ast.With, ast.AsyncWith)),
    ("LOAD_BUILD_CLASS", (ast.ClassDef,)),
    ("STORE_GLOBAL", (ast.Global,)),
    ("IMPORT_", (ast.Import, ast.ImportFrom)),
    ("f-string", (ast.FormattedValue,)),
    ("set_try_status", (ast.Try,)),
    ("unicode_type", (ast.JoinedStr,)),
    ("yield", (ast.Yield, ast.GeneratorExp)),
)
#: a function that is compiled because the failing one calls it
_INNER = re.compile(r"resolving callee type: type\(\w*Dispatcher\(<function (\w+) ")


@dataclass(frozen=True)
class Code:
    """The source of a compiled function: its file as Numba knows it, and its lines."""

    path: str
    text: str
    line: int
    end_line: int

    def holds(self, line: int) -> bool:
        """Whether a line belongs to the function."""
        return self.line <= line <= self.end_line

    @cached_property
    def tree(self) -> ast.AST | None:
        """The function's own tree, lines counted as in the file."""
        try:
            whole = newer.parse(self.text)
        except (SyntaxError, ValueError):
            return None
        inside = (n for n in ast.walk(whole) if isinstance(n, (ast.FunctionDef, ast.Lambda)))
        return next((n for n in inside if n.lineno == self.line), whole)


def failure(error: BaseException, code: Code, called: str = "") -> Failure:
    """Where and why the compilation of a function failed.

    `called` is the function whose own compilation raised the error, if it is another one.
    """
    message = str(error)
    line = _line(error, message, code)
    by_numba = type(error).__module__.startswith("numba")
    said, help = sentence(message, type(error).__name__, by_numba)
    inner = _INNER.search(message)
    if inner and message.count("Failed in ") > 1:
        called = called or inner[1]
    if called and "calls itself" not in said:
        said = f"`{called}`, which is called here, fails: {said}"
        return Failure(line, said, help, is_certain(message))
    name = callee(message)
    argument = re.search(r"argument `(\w+)`", said)
    spelled = _spelled(code, line, name, argument[1] if argument else "")
    said = said.replace(f"`{name}`", f"`{spelled}`", 1)
    return Failure(line, said, help, is_certain(message))


def _line(error: BaseException, message: str, code: Code) -> int:
    locations: list[Any] = [getattr(error, "loc", None), *_locations(error)]
    for loc in locations:
        if loc is not None and _same(str(loc.filename), code.path) and code.holds(loc.line or 0):
            return int(loc.line)
    if "unsupported opcode" in message:
        return _searched(message, code)
    base = re.escape(Path(code.path).name)
    for number in re.findall(rf'(?:File "[^"]*{base}", line |{base} \()(\d+)', message):
        if code.holds(int(number)):
            return int(number)
    return _searched(message, code)


def _same(one: str, other: str) -> bool:
    return one == other or Path(one).name == Path(other).name


def _locations(error: BaseException) -> Iterator[Any]:
    """Places that the compiler's own frames were at, the innermost first.

    Errors of the CUDA target carry no location, and errors raised below the compiler, such as
    `KeyError`, never do.
    """
    frames: list[Any] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        trace: TracebackType | None = at.__traceback__
        while trace is not None:
            known = trace.tb_frame.f_locals
            owners = (known.get(k) for k in ("inst", "constraint", "expr", "self"))
            frames += [getattr(o, "loc", None) for o in owners] + [known.get("loc")]
            trace = trace.tb_next
        at = at.__cause__ or at.__context__
    return (f for f in reversed(frames) if hasattr(f, "filename") and hasattr(f, "line"))


def _searched(message: str, code: Code) -> int:
    """The first line of the function that has what the message speaks of; else its `def`."""
    tree = code.tree
    if tree is None:
        return code.line
    name = re.search(r"[Nn]ame '(\w+)'", message)
    kinds = next((kinds for words, kinds in _PLACES if words in message), ())
    for node in ast.walk(tree):
        named = isinstance(node, ast.Name) and name is not None and node.id == name[1]
        if (named or isinstance(node, kinds)) and code.holds(getattr(node, "lineno", 0)):
            return int(node.lineno)  # type: ignore[attr-defined]
    return int(getattr(tree, "lineno", code.line))


def _spelled(code: Code, line: int, name: str, argument: str) -> str:
    """A called function as the user wrote it: `np.sum` for `sum`, `x.max` for `npy_max`.

    Methods have names of Numba's own: they are known by the argument that the message is about.
    """
    for node in ast.walk(code.tree) if code.tree is not None else ():
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or line):
            continue
        function = node.func
        passed = bool(argument) and any(k.arg == argument for k in node.keywords)
        if isinstance(function, ast.Attribute) and (function.attr == name.split(".")[-1] or passed):
            named = isinstance(function.value, (ast.Name, ast.Attribute))
            return ast.unparse(function) if named else f".{function.attr}"
    return name
