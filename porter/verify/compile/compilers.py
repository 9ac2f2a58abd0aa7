"""The child processes that compile kernels to PTX: begun early, and kept for the next module.

Importing a compiler takes most of a second.  A child does it while the simulator works, and
within `kept` it waits for another module instead of ending.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from porter.verify.evidence import FAILED, Evidence
from porter.verify.process import Child, with_bytecode

#: modules that one child compiles: what Numba keeps of each adds up
MOST_MODULES = 40
#: children that wait for a module, by their backend; None outside `kept`
_waiting: dict[str, list[Compiler]] | None = None
_lock = threading.Lock()


@contextmanager
def kept() -> Iterator[None]:
    """Keep compilers from module to module while the outermost of these lasts; end them then."""
    global _waiting
    with _lock:
        outer, _waiting = _waiting, {} if _waiting is None else _waiting
    try:
        yield
    finally:
        left: dict[str, list[Compiler]] = {}
        with _lock:
            if outer is None:
                left, _waiting = _waiting or {}, None
        for compilers in left.values():
            for compiler in compilers:
                compiler.stop()


def compiler(backend: str) -> Compiler:
    """A child with this backend that waits for a module, or a new one."""
    with _lock:
        known = (_waiting or {}).get(backend)
        found = known.pop() if known else None
    return found if found is not None and found.child.process.poll() is None else Compiler(backend)


class Compiler:
    """A child that compiles to PTX."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._place = TemporaryDirectory(prefix="porter-", ignore_cleanup_errors=True)
        self.folder = Path(self._place.name)
        # numba-cuda-mlir writes a file about every error into the folder for such
        extra = {"NUMBA_CACHE_DIR": str(self.folder / "cache"), "TMPDIR": str(self.folder)}
        self.child = Child(
            "porter.verify.compile.ptx_child", [backend], with_bytecode(extra), self.folder / "log"
        )
        self.sound, self.modules = False, 0

    def evidence(
        self, launches: dict[str, list[dict[str, Any]]], request: dict[str, Any], timeout: float
    ) -> dict[str, list[Evidence]]:
        """The ptx evidence of every function, from the launches that were seen of it.

        `request` says what `ptx_child` needs to know besides; `timeout` is in seconds, for each
        function.
        """
        reply = self.folder / "reply.jsonl"
        reply.write_bytes(b"")
        seconds = timeout * max(1, len(launches))
        asked = request | {"launches": launches, "reply": str(reply), "seconds": seconds}
        path = self.folder / "request.json"
        path.write_text(json.dumps(asked), "utf-8")
        self.modules += 1
        self.child.send(str(path))
        done = self.child.wait(seconds, finished=lambda: _is_whole(reply))
        self.sound = done and self.child.process.poll() is None
        lines = {line["done"]: line["evidence"] for line in read_lines(reply) if "done" in line}
        said = "" if self.sound else self._fate(done, timeout)
        reason = {"reason": f"the compiler's process died: {said}", "backend": self.backend}
        lost = [Evidence("ptx", FAILED, 0, reason)]
        return {
            name: [Evidence(**e) for e in lines[name]] if name in lines else lost
            for name in launches
        }

    def _fate(self, ended: bool, timeout: float) -> str:
        if self.child.large:
            return "too much memory"
        self.child.stop()
        said = f"{self.child.ended()} {self.child.said()}".strip()
        return said if ended else f"timed out after {timeout:g} s"

    def release(self, *, again: bool) -> None:
        """Let it wait for another module if it may and can; end it otherwise.

        `again` must be False after a module that was edited by hand: what that leaves behind in
        the process is nobody's business but its own.
        """
        if again and self.sound and self.modules < MOST_MODULES:
            with _lock:
                if _waiting is not None:
                    _waiting.setdefault(self.backend, []).append(self)
                    return
        self.stop()

    def stop(self) -> None:
        """End the child, and remove its files."""
        self.child.stop()
        self._place.cleanup()


def _is_whole(reply: Path) -> bool:
    return reply.read_bytes().endswith(b'{"end": true}\n')


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a reply; a last line cut short by the child's end is left out."""
    lines = []
    for line in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines
