"""The child process of `porter analyze --compile`: compiles the functions of one file.

`python -m porter.numba_report.child.compile_child REQUEST`; the request is a JSON object with
`path`, `text`, `reply` (a file that gets one JSON line per event), `raw` and `functions`, each with
`name`, `line`, `kind`, and `types`: texts of signatures to try when its decorator has none.
"""

from __future__ import annotations

import ast
import json
import linecache
import re
import sys
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from porter.diagnostics import UsageError
from porter.numba_report.child.failures import Code, failure
from porter.numba_report.child.lazy import lazy
from porter.numba_report.child.recorder import Recorder
from porter.numba_report.child.sources import end_of
from porter.numba_report.child.typeparse import given_types, omitted, parsed_types, recorded_types
from porter.numba_report.events import is_of
from porter.numba_report.model import ON_GPU, Compiled, Failure, to_record
from porter.verify.compile.ptx_child import prepare
from porter.verify.oracle import original


class NotCompiled(Exception):
    """Something that cannot be compiled by itself; the text says what."""


class Child:
    """One file, loaded with its decorators made lazy."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.path, self.text = request["path"], request["text"]
        lines = self.text.splitlines(keepends=True)
        # standard input and notebooks have no file that Numba could read the source from
        linecache.cache[self.path] = (len(self.text), None, lines, self.path)
        self.recorder = Recorder(
            Path(request["reply"]), lambda f: f == self.path, lambda _: self.text, request["raw"]
        )
        self.no_cuda = ""
        if any(f["kind"] in ON_GPU for f in request["functions"]):
            self.no_cuda = prepare()
        self.recorder.watch()
        tree, self.signatures = lazy(self.text, self.path)
        self.recorder.held = []
        names = [f["name"] for f in request["functions"]]
        self.original = original.load(Path(self.path), self.text, names, jitted=tree)
        self.loaded, self.recorder.held = self.recorder.held, None

    def ask(self, asked: dict[str, Any]) -> None:
        """Compile one function for the first of its signatures that works."""
        name = {"name": asked["name"], "line": asked["line"]}
        self.recorder.write({"event": "asked", **name})
        try:
            function = self._function(asked)
        except LookupError as error:
            if not self._compiled_on_load(asked):
                self._unknown(asked, str(error))
            return
        if asked["kind"] in ON_GPU and self.no_cuda:
            self._unknown(asked, self.no_cuda)
            return
        if self._compiled_on_load(asked):
            return
        own = self._own(asked)
        for signature in own:
            self._try(asked, function, given_types, [signature], {"known": "decorator"})
        if not own and not asked["types"]:
            self._unknown(asked, "its argument types are not known")
        elif not own:
            # a recorded run knows the layout of each array
            parse = recorded_types if asked["known"] == "trace" else parsed_types
            self._try(asked, function, parse, asked["types"], {})

    def _own(self, asked: dict[str, Any]) -> list[Any]:
        """The signatures of the function's decorator, evaluated where they stand."""
        found: list[Any] = []
        for node in self.signatures.get(asked["line"], []):
            code = compile(ast.Expression(node), self.path, "eval")
            value = eval(code, self.original.namespace)
            found += value if isinstance(value, (list, tuple)) else [value]
        return found

    def _function(self, asked: dict[str, Any]) -> Any:
        found = self.original.function(asked["name"])
        if asked["kind"] == "plain" and isinstance(found, python_types.FunctionType):
            return self._jitted(found)
        return found

    def _jitted(self, function: python_types.FunctionType) -> Any:
        """A plain function as it would be with @njit, and so the plain ones that it calls."""
        # start-up: a file without Numba is answered without it
        from numba import njit

        namespace = dict(self.original.namespace)
        own = {
            k: f
            for k, f in namespace.items()
            if isinstance(f, python_types.FunctionType) and f.__code__.co_filename == self.path
        }
        for name, found in own.items():
            namespace[name] = njit(_copied(found, namespace))
        return njit(_copied(function, namespace))

    def _compiled_on_load(self, asked: dict[str, Any]) -> bool:
        """Whether loading the file compiled the function, as ufuncs with signatures do."""
        mine = [e for e in self.loaded or [] if is_of(e, asked["name"], asked["line"])]
        for event in mine:
            self.recorder.write({**event, "known": "decorator"})
        return bool(mine)

    def _try(
        self,
        asked: dict[str, Any],
        function: Any,
        parse: Callable[[Any], tuple[Any, ...]],
        choices: list[Any],
        facts: dict[str, Any],
    ) -> None:
        """Write what the first choice that compiles gave, or else what the first one gave."""
        kept: list[dict[str, Any]] = []
        for choice in choices:
            self.recorder.held = []
            good = True
            try:
                self._compile(asked, function, parse(choice))
            except (NotCompiled, UsageError) as error:
                self.recorder.held = None
                self._unknown(asked, str(error))
                return
            except Exception as error:
                good = False
                self._explain(asked, error, choice)
            events, self.recorder.held = self.recorder.held, None
            kept = events if good or not kept else kept
            if good:
                break
        for event in kept:
            self.recorder.write(self._excused(event) | facts | {"asked": asked["name"]})

    def _excused(self, event: dict[str, Any]) -> dict[str, Any]:
        """A name that is missing because we did not run its statement is no mistake of the user."""
        said = (event.get("error") or {}).get("sentence", "")
        name = re.search(r"`(\w+)` is not defined", said)
        why = self.original.missing.get(name[1], "") if name else ""
        if not name or not why:
            return event
        error = Failure(event["error"]["line"], f"`{name[1]}` is not there: {why}; use --run")
        return event | {"mode": "unknown", "error": vars(error)}

    def _compile(self, asked: dict[str, Any], function: Any, args: tuple[Any, ...]) -> None:
        python = getattr(getattr(function, "_dispatcher", function), "py_func", function)
        if not isinstance(python, python_types.FunctionType):
            raise NotCompiled(f"a {type(function).__name__} object is compiled when it is called")
        args = omitted(args, python)
        if asked["kind"] in ON_GPU:
            self._compile_cuda(asked, function, python, args)
            return
        if not hasattr(function, "compile"):
            # start-up: as above
            from numba import njit

            function = njit(python)
        function.compile(args)
        for result in function.overloads.values():
            _compile_loops(result, args, python)

    def _compile_cuda(self, asked: dict[str, Any], function: Any, python: Any, args: Any) -> None:
        # start-up: most functions are for the CPU
        from numba import cuda, types

        options = dict(getattr(function, "targetoptions", {}))
        kept = {k: options[k] for k in ("fastmath", "debug", "lineinfo", "opt") if k in options}
        if asked["kind"] in ("kernel", "guvectorize cuda"):
            cuda.compile_ptx(python, types.void(*args), cc=(9, 0), **kept)
        else:
            cuda.compile_ptx(python, args, cc=(9, 0), device=True, **kept)

    def _explain(self, asked: dict[str, Any], error: Exception, choice: Any) -> None:
        """An event for an error that was raised before Numba's compiler ran."""
        held = self.recorder.held or []
        if not any(is_of(e, asked["name"], asked["line"]) and e["mode"] == "failed" for e in held):
            code = Code(self.path, self.text, asked["line"], end_of(self.text, asked["line"]))
            self._write(asked, "failed", failure(error, code), str(choice))

    def _unknown(self, asked: dict[str, Any], reason: str) -> None:
        self._write(asked, "unknown", Failure(asked["line"], reason))

    def _write(self, asked: dict[str, Any], mode: str, error: Any, signature: str = "") -> None:
        target = "cuda" if asked["kind"] in ON_GPU else "cpu"
        end = end_of(self.text, asked["line"])
        compiled = Compiled(
            self.path, asked["name"], asked["line"], end, target, signature,
            mode=mode, error=error,
        )  # fmt: skip
        self.recorder.write({"event": "compiled", **to_record(compiled)})


def _copied(function: Any, namespace: dict[str, Any]) -> Any:
    copy = python_types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    return copy


def _compile_loops(result: Any, args: Any, python: Any) -> None:
    """Compile lifted loops that take only parameters, whose types are known without a call."""
    names = python.__code__.co_varnames[: python.__code__.co_argcount]
    known = dict(zip(names, args, strict=False))
    for loop in getattr(result, "lifted", ()) or ():
        wanted = list(loop.func_ir.arg_names)
        if type(loop).__name__ == "LiftedLoop" and all(n in known for n in wanted):
            loop.compile(tuple(known[n] for n in wanted))


def main() -> None:
    """Answer the request."""
    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    child = Child(request)
    for asked in request["functions"]:
        child.ask(asked)


if __name__ == "__main__":
    main()
