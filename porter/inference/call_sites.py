"""The calls of a file's functions that its callers make, read with `ast` and never executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.diagnostics import UsageError, brief
from porter.inference.static_values import Evaluator
from porter.inference.values import Value, element_of, joined
from porter.source.callers import Caller, dotted_of
from porter.support.parsing import tree_of

#: rows of `pytest.mark.parametrize` that are looked at, and calls that are kept of a function
_ROWS = 4
MOST_CALLS = 32

Scope = dict[str, "Value | None"]


@dataclass(frozen=True)
class CallSite:
    """A call: where it stands, its text, and what is known of each argument."""

    place: str
    text: str
    positional: tuple[Value | None, ...]
    keywords: tuple[tuple[str, Value | None], ...]

    @property
    def shown(self) -> str:
        """Where the call stands and what it says, for messages."""
        return f"{self.place}: {self.text}"

    def arguments(self, parameters: Sequence[str]) -> dict[str, Value | None] | None:
        """The arguments by parameter; None where they do not fit."""
        given = dict(zip(parameters, self.positional, strict=False))
        named = dict(self.keywords)
        if len(self.positional) > len(parameters) or given.keys() & named.keys():
            return None
        return given | named if named.keys() <= set(parameters) else None


@dataclass
class Found:
    """The calls by the function's name, each kind of arguments once."""

    calls: dict[str, list[CallSite]] = field(default_factory=dict)

    def add(self, name: str, call: CallSite) -> None:
        """Keep a call that says something which no other one does."""
        known = self.calls.setdefault(name, [])
        same = any((c.positional, c.keywords) == (call.positional, call.keywords) for c in known)
        if len(known) < MOST_CALLS and not same:
            known.append(call)


def parsed(text: str | bytes) -> ast.Module | None:
    """The tree of a caller; None where this Python cannot read it."""
    try:
        return tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def own_calls(text: str, path: str, dotted: tuple[str, ...], wanted: set[str]) -> Found:
    """The calls in the file itself: its functions, its `__main__` block, examples of docstrings."""
    found = Found()
    tree = parsed(text)
    if tree is None:
        return found
    names = _imports(tree, ())
    place = "call" if path.endswith(".ipynb") else "line {line}"
    target = _Target(dotted, frozenset(wanted), own=True)
    _Reader(names, target, place, found).read(tree)
    if ">>>" in text:
        for example in _examples(tree, text):
            names = names | _imports(example, ())
            _Reader(names, target, place, found).read(example)
    return found


def calls_from(caller: Caller, dotted: tuple[str, ...], wanted: set[str], found: Found) -> None:
    """Add the calls that another file of the project makes."""
    text = caller.data.decode("utf-8", "replace")
    if caller.shown.endswith(".ipynb"):
        text = _cells(text, caller.shown)
    tree = parsed(text)
    if tree is None:
        return
    names = _imports(tree, dotted_of(caller.path)[:-1])
    place = f"{caller.shown}" + ("" if caller.shown.endswith(".ipynb") else ":{line}")
    _Reader(names, _Target(dotted, frozenset(wanted)), place, found).read(tree)


def _cells(text: str, shown: str) -> str:
    # start-up: few callers are notebooks
    from porter.source.notebook import read_notebook

    try:
        return read_notebook(text, shown).text
    except UsageError:
        return ""


def _imports(tree: ast.Module, package: tuple[str, ...]) -> dict[str, str]:
    """What the names that a file imports stand for; `*` is among them for star imports."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                first = a.name.partition(".")[0]
                found[a.asname or first] = a.name if a.asname else first
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for a in node.names:
                if a.name == "*":
                    found["*"] = module
                else:
                    found[a.asname or a.name] = f"{module}.{a.name}" if module else a.name
    return found


def _examples(tree: ast.Module, text: str) -> Iterator[ast.Module]:
    """The examples of docstrings, each at its own lines."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) or not node.body:
            continue
        first = node.body[0]
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            continue
        if not isinstance(first.value.value, str) or ">>>" not in first.value.value:
            continue
        start, end = first.lineno, first.end_lineno or first.lineno
        code = [_code(line) for line in lines[start - 1 : end]]
        example = parsed("\n" * (start - 1) + "\n".join(code))
        if example is not None:
            yield example


def _code(line: str) -> str:
    bare = line.strip()
    for quotes in ('r"""', '"""', "'''"):
        bare = bare.removeprefix(quotes)
    return bare[4:] if bare.startswith((">>> ", "... ")) else ""


@dataclass(frozen=True)
class _Target:
    """The functions that are looked for: of a module by its dotted name, or of the file read."""

    dotted: tuple[str, ...]
    wanted: frozenset[str]
    own: bool = False

    def named(self, func: ast.expr, evaluate: Evaluator) -> str | None:
        """The function that a call means, if it is one of them."""
        if isinstance(func, ast.Name) and func.id in self.wanted and func.id not in evaluate.env:
            star = evaluate.names.get("*", "")
            if (self.own and func.id not in evaluate.names) or self._is_of(star):
                return func.id
        full = evaluate.dotted(func)
        owner, _, name = full.rpartition(".")
        return name if name in self.wanted and self._is_of(owner) else None

    def _is_of(self, owner: str) -> bool:
        """Whether a module is this one or a package around it, which may hand its names on."""
        parts = tuple(owner.split(".")) if owner else ()
        return bool(parts) and self.dotted[: len(parts)] == parts


class _Reader:
    """Follows what names are bound to, statement by statement, and keeps the calls."""

    def __init__(self, names: Mapping[str, str], target: _Target, place: str, found: Found) -> None:
        self.names, self.target, self.place, self.found = names, target, place, found
        self.later: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope]] = []
        self.fixtures: Scope = {}
        self.returned: list[Value | None] = []

    def read(self, tree: ast.Module) -> None:
        """Look at the module level, then at its functions with the names that it leaves."""
        env: Scope = {}
        self.block(tree.body, env)
        while self.later:
            pending, self.later = self.later, []
            pending.sort(key=lambda item: not _is_fixture(item[0]))
            for node, outer in pending:
                self.function(node, {**env, **outer})

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Scope) -> None:
        """The body of a function: its parameters are what pytest gives, or not known."""
        a = node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
        for row in self._rows(node, outer):
            env = {**outer, **{n: row.get(n, self.fixtures.get(n)) for n in names}}
            self.returned = []
            self.block(node.body, env)
            if _is_fixture(node):
                self.fixtures[node.name] = joined(self.returned)

    def _rows(self, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Scope) -> list[Scope]:
        """What `pytest.mark.parametrize` gives the parameters: a few rows."""
        rows: list[Scope] = [{} for _ in range(_ROWS)]
        count = 1
        for d in node.decorator_list:
            match d:
                case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values, *_]):
                    given = _parametrized(names, values, Evaluator(self.names, outer))
                    count = max(count, min(len(given), _ROWS))
                    for k, row in enumerate(rows if given else ()):
                        row |= given[min(k, len(given) - 1)]
        return rows[:count]

    def block(self, body: Sequence[ast.stmt], env: Scope) -> None:
        """Statements in order; `env` is what they leave."""
        for node in body:
            self._statement(node, env)

    def _statement(self, node: ast.stmt, env: Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.later.append((node, dict(env)))
            case ast.ClassDef(body=body):
                self.block(body, dict(env))
            case ast.If(test=test, body=body, orelse=orelse):
                self._calls(test, env)
                self._either([body, orelse], env)
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                self._calls(source, env)
                self._bind(target, element_of(Evaluator(self.names, env)(source)), env)
                self._either([body, []], env)
                self.block(orelse, env)
            case ast.While(test=test, body=body):
                self._calls(test, env)
                self._either([body, []], env)
            case ast.With(items=items, body=body):
                for item in items:
                    self._calls(item.context_expr, env)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, None, env)
                self.block(body, env)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                self._either([[*body, *orelse], *([*body, *h.body] for h in handlers)], env)
                self.block(last, env)
            case _:
                self._simple(node, env)

    def _simple(self, node: ast.stmt, env: Scope) -> None:
        self._calls(node, env)
        evaluate = Evaluator(self.names, env)
        match node:
            case ast.Assign(targets=targets, value=value):
                given = evaluate(value)
                for target in targets:
                    self._bind(target, given, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, evaluate(value), env)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                left = ast.Name(name, ast.Load())
                self._bind(target, evaluate(ast.BinOp(left, op, value)), env)
            case ast.Return(value=value):
                self.returned.append(evaluate(value))

    def _either(self, bodies: Sequence[Sequence[ast.stmt]], env: Scope) -> None:
        """One of several blocks runs: a name is what it is after all of them."""
        results = []
        for body in bodies:
            own = dict(env)
            self.block(body, own)
            results.append(own)
        for name in {n for r in results for n in r}:
            known = [r[name] for r in results if name in r]
            env[name] = joined(known)

    def _bind(self, target: ast.expr, value: Value | None, env: Scope) -> None:
        match target:
            case ast.Name(id=name):
                env[name] = value
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                whole = value is not None and value.kind == "sequence"
                fits = value is not None and whole and len(value.items) == len(elts)
                for k, part in enumerate(elts):
                    item = value.items[k] if value is not None and fits else None
                    self._bind(part, item if whole else element_of(value), env)
            case ast.Starred(value=inner):
                self._bind(inner, None, env)

    def _calls(self, node: ast.AST, env: Scope) -> None:
        evaluate = Evaluator(self.names, env)
        for call in _calls_in(node):
            name = self.target.named(call.func, evaluate)
            if name is None or any(isinstance(a, ast.Starred) for a in call.args):
                continue
            if any(k.arg is None for k in call.keywords):
                continue
            self.found.add(
                name,
                CallSite(
                    self.place.format(line=call.lineno),
                    brief(ast.unparse(call)),
                    tuple(evaluate(a) for a in call.args),
                    tuple((k.arg or "", evaluate(k.value)) for k in call.keywords),
                ),
            )


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that a statement makes itself."""
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Call):
            yield one
        if not isinstance(one, (ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.comprehension)):
            todo += reversed(list(ast.iter_child_nodes(one)))


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    plain = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(ast.unparse(d).endswith("fixture") for d in plain)


def _parametrized(names: ast.expr, values: ast.expr, evaluate: Evaluator) -> list[Scope]:
    match names:
        case ast.Constant(value=str(text)):
            given = [n.strip() for n in text.split(",")]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            given = [str(e.value) for e in elts if isinstance(e, ast.Constant)]
        case _:
            return []
    rows = values.elts if isinstance(values, (ast.List, ast.Tuple)) else []
    found: list[Scope] = []
    for row in rows[:_ROWS]:
        if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
            row = ast.Tuple(row.args, ast.Load()) if len(given) > 1 else (row.args or [row])[0]
        if len(given) == 1:
            found.append({given[0]: evaluate(row)})
        elif isinstance(row, (ast.Tuple, ast.List)):
            found.append({n: evaluate(e) for n, e in zip(given, row.elts, strict=False)})
    return found
