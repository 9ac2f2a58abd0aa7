"""The child processes of one verification: what they are asked, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.codegen.module.header import FunctionRecord, Header
from porter.verify.compile.compilers import Compiler, read_lines
from porter.verify.compile.texts import alike, read
from porter.verify.engines.sanitize import MOST_CASES, command, first_error
from porter.verify.evidence import FAILED, PASSED, Evidence, Mismatch, in_words
from porter.verify.fork.servers import forked
from porter.verify.inputs.cases import FIRST
from porter.verify.kernels import kernels_of
from porter.verify.limits import memory
from porter.verify.process import Child, with_bytecode
from porter.verify.request import Request
from porter.verify.watching import Watch

#: the `done` line of each function
Done = dict[str, dict[str, Any]]
_NARROW = re.compile(r"\bu?int(8|16|32)\[")
#: the last line of a reply
_END = b'{"end": true}\n'
#: the share of the time limit after which a child starts no new case
SOFT = 0.7


def needs_emulator(record: FunctionRecord, status: str, detail: dict[str, Any]) -> bool:
    """Whether what the simulator found right must pass on the emulator too.

    Kernels that are right with their own block sizes alone need grids of many such blocks, too much
    for a simulator.  And with integers of less than 64 bits it computes with NumPy's numbers,
    which wrap around where the compiler's do not.
    """
    return status == PASSED and (_is_narrow(record) or bool(detail.get("own_blocks")))


def _is_narrow(record: FunctionRecord) -> bool:
    return any(_NARROW.search(types) for types, _ in record.served)


class Job:
    """One verification: what is asked, and a folder for requests and replies."""

    def __init__(self, request: Request, folder: Path, timeout: float, watch: Watch) -> None:
        self.request, self.folder, self.timeout, self.watch = request, folder, timeout, watch
        #: whether the compiled kernels run afterwards, and in how many cases of each function
        self.keeps, self.executed = False, request.cases
        #: instructions that all threads may take for a function; None for any number
        self.most: int | None = None
        #: whether nothing else runs the functions
        self.alone = False
        #: the simulator's child, where it waits for the compiled kernels
        self._waiting: Child | None = None

    def simulate(
        self,
        kind: str,
        *,
        label: str = "",
        before: Sequence[str] = (),
        watch: Watch | None = None,
        **changes: Any,
    ) -> Done:
        """The `done` line of every function; a child that dies costs only its function."""
        request = replace(self.request, on=kind, **changes)
        if self.keeps and kind == "simulator":
            request = replace(request, stays=True)
        if request.observe and not self.keeps:
            # among them one with the module's own blocks
            request = replace(request, cases=min(request.cases, 16))
        done: Done = {}
        groups, number = [list(request.functions)], 0
        while groups:
            asked = replace(request, functions=groups[0])
            found = self._child(asked, f"{label}{kind}{number}", before, watch or self.watch)
            lines, fate, said = found
            number += 1
            done |= {line["done"]: line for line in lines if "done" in line}
            pending = [name for name in groups.pop(0) if name not in done]
            if not pending:
                continue
            fatal = next((line["fatal"] for line in lines if "fatal" in line), "")
            begun = not fatal and any("start" in line for line in lines)
            if not begun and len(pending) > 1:
                # what one of them needs of its module must not keep the others from being run
                groups = [[name] for name in pending] + groups
                continue
            if begun:
                done[pending[0]] = self._lost(pending[0], lines, fate)
            else:
                why = fatal or self._unloaded(kind, fate, said)
                done[pending[0]] = _failed(pending[0], "load", why)
            groups = [pending[1:], *groups] if pending[1:] else groups
        return done

    def observed(self) -> Done:
        """Runs that tell what is launched: the emulator's where the simulator does not end."""
        done = self.simulate("simulator", observe=True)
        slow = [n for n, one in done.items() if (one["mismatch"] or {}).get("kind") == "hang"]
        if slow:
            done |= self.simulate("emulator", observe=True, functions=slow)
        return done

    def _unloaded(self, kind: str, fate: tuple[str, str], said: str) -> str:
        """Why no function was begun."""
        if fate[0] == "hang":
            return (
                f"the module or one that it imports does not end: stopped after {self.timeout:g} s"
            )
        return f"the {in_words(kind)} cannot be used here: {said or 'no message'}"

    def beside(self, header: Header, text: str) -> Done:
        """The emulator's own cases, run while the simulator and the compiler work."""
        if self.request.case is not None and self.request.case < FIRST:
            return {}
        names = [
            name
            for name in self.request.functions
            if not _is_narrow(header.function(name) or FunctionRecord(name, ""))
            and kernels_of(text, name.rsplit(".", 1)[-1])
        ]
        if not names:
            return {}
        silent = Watch(None)  # one line shows one thing
        return self.simulate(
            "emulator", label="joined-", watch=silent, joined=True, functions=names
        )

    def emulated(self, done: Done, header: Header, joined: Done) -> dict[str, Done]:
        """The emulator's part: all cases of functions whose grids or numbers only it has."""
        failed = [name for name, one in joined.items() if one["status"] == FAILED]
        names = [
            record.name
            for record in header.functions
            if record.name in self.request.functions
            and record.name not in failed
            and needs_emulator(record, done[record.name]["status"], done[record.name]["detail"])
        ]
        found = joined | (self.simulate("emulator", functions=names) if names else {})
        return {"emulator": found} if found else {}

    def sanitized(self, tool: str) -> Done:
        """The `done` line of every function on the GPU under a tool of compute-sanitizer."""
        found: Done = {}
        for number, name in enumerate(self.request.functions):
            log = self.folder / f"{tool}{number}.log"
            done = self.simulate(
                "gpu", label=f"{tool}{number}-", before=command(tool, log),
                functions=[name], cases=min(self.request.cases, MOST_CASES),
            )[name]  # fmt: skip
            said = first_error(log.read_text("utf-8", "replace")) if log.exists() else ""
            if said:
                done |= _failed(name, "sanitizer", f"{tool}: {said}", seed=self.request.seed)
            found[name] = done | {"detail": done["detail"] | {"sanitizer": tool}}
        return found

    def _child(
        self, request: Request, label: str, before: Sequence[str], watch: Watch
    ) -> tuple[list[dict[str, Any]], tuple[str, str], str]:
        """The reply, what became of the child that did not finish it, and its last words."""
        reply = self.folder / f"{label}.jsonl"
        reply.touch()
        limit = self.timeout * (2 * len(request.functions) + 1)
        file = self.folder / f"{label}.json"
        file.write_text(json.dumps(vars(replace(request, reply=str(reply), limit=limit))), "utf-8")
        extra = with_bytecode({})
        if request.on != "gpu":
            extra["NUMBA_ENABLE_CUDASIM"] = "1"
        log = self.folder / f"{label}.log"
        waited = self._waiting if request.on == "ptx" else None
        child = self._begun(request, str(file), extra, log, before)
        stays, whole = False, lambda: reply.read_bytes().endswith(_END)
        try:
            # the emulator compiles in many cases: each has its own time
            sign = b'"case"' if request.on in ("cpu", "emulator") else b'"start"'
            life = watch.life(reply, request.on, list(request.functions), request.cases, sign)
            ended = child.wait(self.timeout, life, whole if request.stays else lambda: False)
            stays = request.stays and ended and child.process.poll() is None
        finally:
            if not stays:
                child.stop()
        if child is waited and not reply.stat().st_size:
            # it ended while it waited: another one is asked
            return self._child(request, label, before, watch)
        if stays:
            self.close()
            self._waiting = child
        return read_lines(reply), self._fate(request.on, child, ended), child.said()

    def _begun(
        self, request: Request, file: str, extra: dict[str, str], log: Path, before: Sequence[str]
    ) -> Child:
        """A child at work on a request: for compiled kernels the one that waits, if any."""
        if request.on == "ptx":
            child, self._waiting = self._waiting, None
            if child is not None and child.process.poll() is None:
                child.send(file)
                return child
        cache = str(self.folder / "cache")
        # a GPU's driver does not survive a fork
        found = None if request.on == "gpu" else forked(file, request.on, extra, cache, log)
        extra |= {"NUMBA_CACHE_DIR": cache}
        return found or Child("porter.verify.sim_child", [file], extra, log, before)

    def close(self) -> None:
        """End the child that waits."""
        child, self._waiting = self._waiting, None
        if child is not None:
            child.stop()

    def _fate(self, kind: str, child: Child, ended: bool) -> tuple[str, str]:
        if ended:
            said = f": {child.said()}" if child.said() else ""
            return "died", f"the {in_words(kind)}'s process ended {child.ended()}{said}"
        if child.large:
            most = f"{memory() / (1 << 30):.1f} GiB"
            return "memory", f"over {most} of memory allocated by a kernel or the host function"
        text = f"timed out after {self.timeout:g} s: a kernel or the host function does not end"
        return "hang", text

    def _lost(
        self, name: str, lines: list[dict[str, Any]], fate: tuple[str, str]
    ) -> dict[str, Any]:
        """A failed function: which case the child was at, and how many it had finished."""
        starts = [k for k, line in enumerate(lines) if "start" in line]
        own = lines[starts[-1] :] if starts else []
        cases = [line for line in own if "case" in line]
        last: dict[str, Any] = cases[-1] if cases else {}
        finished = len({line["case"] for line in cases} - {last.get("case")})
        what, text = fate
        if finished:
            text += f"; {finished} cases passed before"
        found = next((line["found"] for line in own if "found" in line), None)
        failed = _failed(name, what, text, last, self.request.seed)
        if found is not None:
            failed |= {"mismatch": found, "detail": {"reason": found["message"]}}
        failed["detail"]["finished"] = finished
        return failed

    def execute(self, backend: str, names: Sequence[str]) -> dict[str, Done]:
        """The `done` line of the functions whose compiled kernels ran, by the architecture.

        Where the instructions of several are the same, one run is that of all.
        """
        folder = self.folder / backend
        layout = "mlir" if backend.endswith("mlir") else "numba"
        found: dict[str, Done] = {}
        # what launches nothing has no texts; no other engine runs its host function
        for archs in alike(read(folder)) or ([("",)] if self.alone else []):
            asked: dict[str, Any] = {
                "texts": str(folder), "arch": archs[0], "layout": layout, "functions": names,
                "cases": min(self.request.cases, self.executed), "most": self.most, "stays": True,
                "alone": self.alone,
            }  # fmt: skip
            done = self.simulate("ptx", label=f"{backend}-{archs[0]}-", **asked)
            found |= dict.fromkeys(archs, done)
        return found

    def compile(
        self, compiler: Compiler, done: Done, archs: Sequence[str]
    ) -> dict[str, list[Evidence]]:
        """The ptx evidence of every function, for the launches that were seen."""
        request = {
            "module": self.request.module, "place": self.request.place, "archs": archs,
            "texts": str(self.folder / compiler.backend) if self.keeps else "",
            "blocks": {name: one.get("blocks", {}) for name, one in done.items()},
        }  # fmt: skip
        launches = {name: one["launches"] for name, one in done.items()}
        return compiler.evidence(launches, request, self.timeout)


def _failed(
    name: str, what: str, text: str, last: dict[str, Any] | None = None, seed: int = 0
) -> dict[str, Any]:
    last = last or {}
    inputs = tuple(last.get("inputs", ()))
    signature = last.get("signature", "")
    mismatch = Mismatch(what, text, last.get("case", -1), seed, inputs=inputs, signature=signature)
    return {
        "done": name, "status": FAILED, "cases": 0, "detail": {"reason": text},
        "mismatch": mismatch.to_json(), "launches": [],
    }  # fmt: skip
