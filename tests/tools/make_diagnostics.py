"""docs/diagnostics.md: every message of every code, read from the calls that make them.

`python -m tests.tools.make_diagnostics` writes the page;
tests/diagnostics/test_diagnostics.py compares it.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from porter.diagnostics import CURES
from porter.rules.base import BLOCKS
from porter.rules.registry import all_rules
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "diagnostics.md"
_CODE = re.compile(r"PRT\d{3}")
#: where each function that makes a diagnostic takes its message and help, counted from the code
_PLACES = {
    "refuse": (1, 2),
    "beyond": (1, 2),
    "refusal": (1, 3),
    "Diagnostic": (2, 99),
    "_diagnostic": (2, 3),
}
#: alternatives of one message beyond which a page shows no more
_MOST = 12
_HEAD = """# Diagnostics

Written by `python -m tests.tools.make_diagnostics` from the calls in `porter/` that make
diagnostics.

This page lists what porter may report: the message, and the text of its `help:` line. `{...}`
stands for names, numbers and pieces of your code. Every code has a page with examples in
[Rules](rules/README.md).
"""


@dataclass(frozen=True, order=True)
class Message:
    """One message of a code, with its help; `{...}` where text is filled in."""

    code: str
    text: str
    help: str


@dataclass
class _Module:
    """A module of porter: its tree, and the functions and classes around each node."""

    tree: ast.Module
    path: Path
    around: dict[ast.AST, tuple[ast.AST, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._note(self.tree, ())

    def _note(self, node: ast.AST, around: tuple[ast.AST, ...]) -> None:
        self.around[node] = around
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            around = (*around, node)
        for child in ast.iter_child_nodes(node):
            self._note(child, around)

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        return next((a for a in self.around[node][::-1] if isinstance(a, ast.FunctionDef)), None)

    def rule(self, node: ast.AST) -> str:
        """The code of the rule's class around a node."""
        for a in self.around[node]:
            for s in a.body if isinstance(a, ast.ClassDef) else ():
                if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "code":
                    return str(ast.literal_eval(s.value))
        return ""


def _short(node: ast.expr) -> str:
    """What a placeholder is called: the last name of the expression that fills it."""
    match node:
        case ast.Name(id=name):
            return name.strip("_")
        case ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Call(func=ast.Name(id="len" | "min" | "max" | "str" | "title"), args=[arg, *_]):
            return _short(arg)
        case ast.Call(func=func):
            return _short(func)
        case ast.Subscript(value=value):
            return _short(value)
    return "..."


def _texts(module: _Module, node: ast.expr | None, depth: int = 0) -> list[str]:
    """Every text that an expression may be, with placeholders; empty where nothing is known."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            parts = [
                _filled(module, v.value, depth) if isinstance(v, ast.FormattedValue)
                else _texts(module, v) for v in values
            ]  # fmt: skip
            return ["".join(p) for p in itertools.islice(itertools.product(*parts), _MOST)]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_texts(module, body, depth), *_texts(module, orelse, depth)]
        case ast.BoolOp(op=ast.Or(), values=values):
            return [t for v in values for t in _texts(module, v, depth)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = _texts(module, left, depth), _texts(module, right, depth)
            return ["".join(p) for p in itertools.islice(itertools.product(*sides), _MOST)]
        case ast.Name(id=name) if depth < 4:
            return _bound(module, node, name, depth)
        case ast.Call(func=ast.Attribute(value=ast.Name() as text, attr="format")):
            return [re.sub(r"\{\d*\}", "{name}", t) for t in _texts(module, text, depth)]
        case ast.Call(func=ast.Name(id=name)) if depth < 4:
            return [
                t for f in ast.walk(module.tree) if isinstance(f, ast.FunctionDef)
                and f.name == name for r in ast.walk(f) if isinstance(r, ast.Return)
                for t in _texts(module, r.value, depth + 1)
            ]  # fmt: skip
    return []


def _filled(module: _Module, node: ast.expr, depth: int) -> list[str]:
    """A placeholder, or the texts themselves where there are but a few."""
    function = module.function(node)
    given = [] if function is None else [a.arg for a in function.args.args]
    unknown = isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in given)
    known = [] if unknown else _texts(module, node, depth + 1)
    few = 0 < len(known) <= 3 and all(t and "`" not in t for t in known)
    return known if few else [f"{{{_short(node)}}}"]


def _bound(module: _Module, node: ast.AST, name: str, depth: int) -> list[str]:
    """What a name may be: a variable of the function, an argument of its calls, a constant."""
    function = module.function(node)
    own: list[ast.expr] = []
    if function is not None:
        own = list(_assigned(function, name))
        names = [a.arg for a in function.args.args if a.arg != "self"]
        for call in ast.walk(module.tree) if name in names and not own else ():
            if isinstance(call, ast.Call) and _called(call) == function.name:
                own += call.args[names.index(name) : names.index(name) + 1]
                own += [k.value for k in call.keywords if k.arg == name]
    if not own:
        own = list(_assigned(module.tree, name, deep=False))
    return list(dict.fromkeys(t for v in own for t in _texts(module, v, depth + 1)))


def _assigned(
    scope: ast.FunctionDef | ast.Module, name: str, deep: bool = True
) -> Iterator[ast.expr]:
    for s in ast.walk(scope) if deep else scope.body:
        if not isinstance(s, ast.Assign):
            continue
        for target in s.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield s.value
            elif isinstance(target, ast.Tuple) and isinstance(s.value, ast.Tuple):
                for t, v in zip(target.elts, s.value.elts, strict=False):
                    if isinstance(t, ast.Name) and t.id == name:
                        yield v


def _called(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _arguments(module: _Module, call: ast.Call) -> tuple[str, ast.expr | None, ast.expr | None]:
    """The code, the message and the help that a call gives to a diagnostic; "" for no code."""
    named = {k.arg: k.value for k in call.keywords}
    name, args = _called(call), call.args
    if name == "report" and len(args) > 4 and _short(args[0]) in _codes():
        return _codes()[_short(args[0])], args[3], args[4]
    if name == "Finding" and len(args) > 2:
        return module.rule(call), args[1], args[2]
    if name == "at" and len(args) > 3 and isinstance(call.func, ast.Attribute):
        return _codes().get(_short(call.func.value)) or module.rule(call), args[2], args[3]
    if name not in _PLACES:
        return "", None, None
    codes = [k for k, a in enumerate(args) if _CODE.fullmatch(str(getattr(a, "value", "")))]
    if not codes and len(args) > 2:
        return module.rule(call), args[2], named.get("help")
    if not codes:
        code = ast.unparse(named["code"]).strip("'\"") if "code" in named else ""
        code = code if _CODE.fullmatch(code) else module.rule(call)
        return code, named.get("message"), named.get("help")
    message, help_at = (codes[0] + k for k in _PLACES[name])
    cure = args[help_at] if help_at < len(args) else named.get("help")
    code = str(ast.literal_eval(args[codes[0]]))
    return code, args[message] if message < len(args) else named.get("message"), cure


@cache
def _codes() -> dict[str, str]:
    """The code of each rule's class, by the name of the class."""
    return {r.__name__: r.code for r in all_rules().values()}


@cache
def messages() -> tuple[Message, ...]:
    """Every message that the sources of porter show."""
    found: set[Message] = set()
    for path in sorted((ROOT / "porter").rglob("*.py")):
        module = _Module(ast.parse(path.read_text("utf-8")), path)
        for call in (n for n in ast.walk(module.tree) if isinstance(n, ast.Call)):
            code, text, cure = _arguments(module, call)
            helps = _texts(module, cure) or [CURES.get(code, "")]
            texts = _texts(module, text) if code else []
            pairs = zip(texts, helps, strict=True) if len(texts) == len(helps) else (
                itertools.product(texts, helps)
            )  # fmt: skip
            found |= {Message(code, t, h or CURES.get(code, "")) for t, h in pairs if _says(t)}
    return tuple(sorted(found))


def _says(text: str) -> bool:
    """Whether a text says something beside its placeholders."""
    return bool(re.search(r"\w", re.sub(r"\{[^{}]*\}", "", text)))


def page() -> str:
    """The text of docs/diagnostics.md."""
    lines = [_HEAD]
    block = ""
    for rule in all_rules().values():
        if rule.code[3] != block:
            block = rule.code[3]
            lines.append(f"## PRT{block}xx {BLOCKS[block]}\n")
        lines.append(f"### [{rule.code}](rules/{rule.code}.md) {rule.name}\n")
        lines.append(f"Severity: {rule.severity.value}.\n")
        own = [m for m in messages() if m.code == rule.code]
        if own:
            lines += ["| message | help |", "|---|---|"]
            lines += [f"| {_cell(m.text)} | {_cell(m.help)} |" for m in own]
            lines.append("")
        else:
            lines.append("The message names the cause; see the page of the code.\n")
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
