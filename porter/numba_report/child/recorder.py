"""Watches Numba compile, from inside the process: one JSON line per compilation.

Every compilation of Numba and of numba-cuda passes through `CompilerBase._compile_core`, so
wrapping this one method sees dispatchers, ufuncs, kernels, device functions and lifted loops
alike, also those that fail.  Lines are written at once: what a process that is stopped had
compiled until then is known.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from porter.numba_report.child import describe
from porter.numba_report.child.failures import Code, failure
from porter.numba_report.child.sources import end_of, start_of
from porter.numba_report.model import Compiled, to_record

#: events of one process: a script that compiles for ever must not fill the disk
LIMIT = 5_000


class Recorder:
    """Writes what is compiled from files that `wanted` accepts to the file `reply`."""

    def __init__(
        self,
        reply: Path,
        wanted: Callable[[str], bool],
        read: Callable[[str], str],
        raw: bool = False,
    ) -> None:
        self._descriptor = os.open(reply, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._wanted, self._read, self._raw = wanted, read, raw
        self._numbers = itertools.count()
        self._loops: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        #: lifted loops and `with` blocks being compiled: the compiler sees functions in them
        self._active: list[Any] = []
        #: the last error of a function, by `id`: one that goes on to its callers is the same
        self._failed = (0, "")
        #: where events go instead of the file while a compilation is only tried
        self.held: list[dict[str, Any]] | None = None

    def write(self, event: dict[str, Any]) -> None:
        """Append one event; of too many, the last ones are left out."""
        if self.held is not None:
            self.held.append(event)
        elif next(self._numbers) <= LIMIT:
            # one call for one line: processes that the script forks write to the same file
            os.write(self._descriptor, (json.dumps(event) + "\n").encode("utf-8", "replace"))

    def watch(self) -> None:
        """Wrap the compilers of the modules that are imported already."""
        for name in ("numba.core.compiler", "numba.cuda.core.compiler"):
            base = getattr(sys.modules.get(name), "CompilerBase", None)
            if base is not None and not hasattr(base, "porter_recorder"):
                base.porter_recorder = self
                base._compile_core = self._wrapped(base._compile_core, "cuda" in name)
        dispatcher = sys.modules.get("numba.core.dispatcher")
        for name in ("LiftedLoop", "LiftedWith"):
            lifted = getattr(dispatcher, name, None)
            if lifted is not None and "porter_recorder" not in vars(lifted):
                lifted.porter_recorder = self
                lifted.compile = self._wrapped_loop(lifted.compile)

    def _wrapped(self, original: Callable[[Any], Any], cuda: bool) -> Callable[[Any], Any]:
        def compile_core(compiler: Any) -> Any:
            identity = compiler.state.func_id
            if not self._is_users(identity):
                return original(compiler)
            inner = any(loop.func_ir.func_id is identity for loop in self._active)
            target = "cuda" if cuda or type(compiler).__name__ == "CUDACompiler" else "cpu"
            place = self._place(identity, target, describe.signature(compiler.state.args))
            try:
                result = original(compiler)
            except Exception as error:
                self._safely(self._fail, error, place, inner)
                raise
            if not inner:
                self._safely(self._done, result, place)
            return result

        return compile_core

    def _is_users(self, identity: Any) -> bool:
        """Whether the user wrote the function: Numba names what it makes up `__numba_...`."""
        if identity is None or identity.func_qualname.startswith("__numba_"):
            return False
        return self._wanted(identity.filename)

    def _safely(self, step: Callable[..., None], *args: Any) -> None:
        """Numba's internals move: what cannot be read must not stop the user's script."""
        try:
            step(*args)
        except Exception as error:
            self.write({"event": "trouble", "reason": f"{type(error).__name__}: {error}"[:300]})

    def _place(self, identity: Any, target: str, signature: str) -> dict[str, Any]:
        name = identity.func_qualname.replace(".<locals>", "")
        text = self._read(identity.filename)
        line = start_of(text, int(identity.firstlineno))
        end = end_of(text, line)
        return {
            "path": identity.filename, "name": name, "line": line, "end_line": end,
            "target": target, "signature": signature,
        }  # fmt: skip

    def _fail(self, error: BaseException, place: dict[str, Any], inner: bool) -> None:
        path = place["path"]
        code = Code(path, self._read(path), place["line"], place["end_line"])
        last, called = self._failed
        why = failure(error, code, called if last == id(error) and called != place["name"] else "")
        self._failed = (id(error), place["name"])
        event = "loop failed" if inner else "compiled"
        self.write({"event": event, **to_record(Compiled(**place, mode="failed", error=why))})

    def _done(self, result: Any, place: dict[str, Any]) -> None:
        annotation = result.type_annotation
        lifted = list(result.lifted or ())
        loops = [x for x in lifted if type(x).__name__ == "LiftedLoop"]
        mode = ("lifted" if loops else "object") if result.objectmode else "nopython"
        slow = set(describe.lines_of(annotation)) if result.objectmode else set()
        for block in lifted:
            # `with objmode` in a nopython function
            slow |= set() if block in loops else _ir_lines(block)
        compiled = Compiled(
            **place,
            mode=mode,
            returns=describe.signature([result.signature.return_type]),
            types=describe.types_by_line(annotation),
            object_lines=tuple(sorted(slow)),
            raw=describe.raw(annotation) if self._raw else "",
        )
        number = f"{os.getpid()}-{next(self._numbers)}"
        text = self._read(place["path"])
        starts = [int(x.get_source_location()) for x in loops]
        lines = [[line, end_of(text, line)] for line in starts]
        self.write({"event": "compiled", "id": number, "at": lines, **to_record(compiled)})
        for loop in loops:
            self._loops[loop] = number

    def _wrapped_loop(self, original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def compile_loop(loop: Any, sig: Any) -> Any:
            self._active.append(loop)
            try:
                entry = original(loop, sig)
            finally:
                self._active.pop()
            owner = self._loops.get(loop)
            if owner is not None:
                self._safely(self._loop_done, loop, owner)
            return entry

        return compile_loop

    def _loop_done(self, loop: Any, owner: str) -> None:
        result = list(loop.overloads.values())[-1]
        names = list(loop.func_ir.arg_names)
        types = [describe.signature([t]) for t in result.signature.args]
        annotation = result.type_annotation
        self.write(
            {
                "event": "loop",
                "of": owner,
                "line": int(loop.get_source_location()),
                "signature": ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=False)),
                "nopython": not result.objectmode,
                "types": {str(n): t for n, t in describe.loop_types(annotation).items()},
                "lines": describe.lines_of(annotation),
                "raw": describe.raw(annotation) if self._raw else "",
            }
        )


def _ir_lines(lifted: Any) -> set[int]:
    blocks = lifted.func_ir.blocks.values()
    return {int(i.loc.line) for b in blocks for i in b.body}
