"""The child process that verifies functions on the simulator, the emulator or a GPU.

`python -m porter.verify.sim_child REQUEST` reads a JSON request and appends JSON lines to
the file that it names: `start` and `case` lines before the work, so that the parent knows
what a dead child was at, and a `done` line with the result of every function.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.codegen.module.header import FunctionRecord, parse
from porter.target.registry import target_named
from porter.verify import generated
from porter.verify.checks.subject import MismatchFound, Subject, Version
from porter.verify.checks.tally import MOST_WORK, Settings, Tally
from porter.verify.checks.tally import ExtraCases as Beyond
from porter.verify.checks.unverified import Few, lacking, too_few
from porter.verify.checks.verification import Verification
from porter.verify.engines import mlir_stand_in
from porter.verify.engines.compiled import Cpu
from porter.verify.engines.cupy import stand_in
from porter.verify.engines.launches import LAUNCHES, poison_kept
from porter.verify.engines.simulator import EMULATED, install
from porter.verify.evidence import FAILED, PASSED, SKIPPED, Mismatch
from porter.verify.inputs.cases import CaseSpec
from porter.verify.inputs.extra_cases import ExtraCases
from porter.verify.inputs.strategies import BadInputs
from porter.verify.inputs.thresholds import extra_specs, small_ones, thresholds, with_large
from porter.verify.kernels import kernels_of
from porter.verify.limits import restrict
from porter.verify.loaded import Loaded, Module, Source
from porter.verify.oracle.chunked import CHUNKINGS, CUTS, in_chunks
from porter.verify.oracle.numba_objects import Fold
from porter.verify.oracle.original import Missing, index_parameters, literals
from porter.verify.oracle.parts import per_part
from porter.verify.oracle.per_element import per_element
from porter.verify.oracle.queries import asks_for_dtypes
from porter.verify.oracle.values import Values, first_difference, watch_kernels
from porter.verify.request import Request

#: whether the parent allows bytecode of what this process imports
KEEPS_BYTECODE = not sys.dont_write_bytecode
#: seconds that a function is observed for, to know its launches
OBSERVED = 100
#: with fewer cases than this the time limit leaves nothing verified
FEWEST_CASES = 8
#: the counts that are given if they are not 0
WHERE_ANY = (
    "strategies", "traced", "not_compared", "out_of_bounds", "stricter", "drawn_runs",
)  # fmt: skip
#: so many times as much may a case take that is about its sizes, where no other engine runs it
ALONE = 40


class Reply:
    """The file of JSON lines that the parent reads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, **line: Any) -> None:
        """Append one line at once."""
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


class Session:
    """The generated module and its source, loaded once for all functions of a request."""

    def __init__(self, request: Request, reply: Reply) -> None:
        self.request, self.reply = request, reply
        # bytecode of porter's own modules may be kept, nothing is written beside the user's
        sys.dont_write_bytecode = not KEEPS_BYTECODE
        self.target = TARGETS[request.on](request)
        sys.dont_write_bytecode = True
        self.extra = ExtraCases(request.inputs, request.trace, request.cases, request.seed)
        # neither the text nor its folder need be in their place yet
        path, text = Path(request.place), Path(request.module).read_text("utf-8")
        header = parse(text)
        assert header is not None, "the parent has read the header"
        source = Path(os.path.normpath(path.parent / header.source))
        # at the end, so that no file of the user's hides a module of the library
        sys.path += [str(source.parent), str(path.parent)]
        self.source = Source(source, request.functions, request.run_module)
        self.module = Module(path, text, header, simulator=request.on == "simulator")
        self.missing: dict[str, str] = {}
        CHUNKINGS.most = 5 if request.on == "cpu" else 3
        changed = (self.module.small, self.module.many, self.module.limited)
        self.target.watched = [vars(m) for each in changed for m in each.modules]

    def verify(self, name: str) -> dict[str, Any]:
        """The `done` line of one function."""
        LAUNCHES.clear()
        self.target.clear()
        record = self.module.record(name)
        done, mismatch = self._compared(record, small=True)
        own = mismatch is not None and bool(self.module.small.blocks) and self.module.edited
        # samples of kernels with large blocks are too small to tell anything
        own = own and mismatch is not None and mismatch.what != "distribution"
        if own:
            # a kernel edited by hand may rely on its own block sizes: they decide, in small grids
            done, mismatch = self._compared(record, small=False)
        if mismatch is not None and done is not None and done.found is not None:
            # should a smaller input make the kernel loop, this is known already
            self.reply.write(found=mismatch.to_json())
            mismatch = self._explained(done.shrunk(done.found))
            if self.request.values:
                mismatch = replace(mismatch, values=self._traced_values(record, done))
        result = self._result(name, done, mismatch)
        result["detail"] |= {"own_blocks": True} if own else {}
        return result

    def _compared(
        self, record: FunctionRecord, *, small: bool
    ) -> tuple[Verification | None, Mismatch | None]:
        request = self.request
        try:
            verification = Verification(self._subject(record, small), self._settings(record))
        except Missing as error:
            self.missing[record.name] = str(error)
            return None, None
        except (LookupError, AttributeError, ValueError) as error:
            return None, Mismatch("load", " ".join(str(e) for e in error.args))
        try:
            verification.run(0 if request.joined else request.cases, request.case)
            if not request.observe and not request.joined:
                self.extra.run(verification, str(self.source.path), request.case)
        except MismatchFound as found:
            verification.found = found
            return verification, found.mismatch
        except ValueError as error:
            return verification, Mismatch("load", str(error))
        return verification, None

    def _settings(self, record: FunctionRecord) -> Settings:
        request = self.request
        return Settings(
            request.seed,
            time.monotonic() + min(request.seconds, OBSERVED if request.observe else math.inf),
            self._case,
            request.observe,
            self.target.large,
            self.target.checks_indices,
            self._beyond(record.name.rsplit(".", 1)[-1]),
            request.budget,
            own_blocks=request.on == "ptx",
            # what is not launched while the simulator observes is not compiled
            every_variant=request.observe or request.alone,
            work=MOST_WORK * (ALONE if request.alone else 1),
            device=getattr(self.target, "device", True) and not self.module.chunked,
            samples=request.on != "ptx" or request.alone,
        )

    def _beyond(self, host: str) -> Beyond | None:
        """Makes the cases beyond the table, which the simulator has little time for."""
        block = next(iter(self.module.own.blocks.values()), 1)

        def cases(axes: int, variants: int) -> list[CaseSpec]:
            found = extra_specs(
                thresholds(self.module.text, host), axes, variants, block, len(self.module.choices)
            )
            if self.target.large:
                return found
            return with_large(found, axes) if large else small_ones(found)

        # compiled kernels are quick; beside other engines they have no time for more
        large = self.target.large or (self.request.on == "ptx" and self.request.alone)

        return cases if self.target.large or self.module.edited else None

    def _traced_values(self, record: FunctionRecord, done: Verification) -> tuple[str, ...]:
        if not self.target.checks_indices:
            return ("values are traced on the simulator and the emulator, not on a GPU",)
        try:
            return self._values(record, done)
        except Exception as error:
            return (f"values cannot be traced here ({type(error).__name__})",)

    def _values(self, record: FunctionRecord, done: Verification) -> tuple[str, ...]:
        """The first source line whose value the kernels get wrong, on the smallest input."""
        theirs, own = Values(), Values()
        name, host = record.name, record.name.rsplit(".", 1)[-1]
        source, module = self.source, self.module
        change = watch_kernels(module.text, source.text)
        assert done.found is not None
        spec = done.found.spec
        blocks = module.small.blocks
        if spec is not None and (spec.own or spec.many):
            blocks = (module.own if spec.own else module.many).blocks
        blocks = blocks | ((spec and spec.choice(module.choices)) or {})
        blocks = {**blocks, **generated.OF_THE_SIMULATOR}
        text = module.text
        watched = poison_kept(generated.load(module.path, text, blocks, change, own.names))
        original = source.load(watch=theirs)
        # the emulator compiles kernels: values are kept on the simulator
        EMULATED.append(None)
        try:
            version = Version(source.plain(record, getattr(watched, host)), blocks)
            function = _oracle(record, source.plain(record, original.function(name)))
            done.again(done.found, function, version)
        finally:
            EMULATED.pop()
        return first_difference(theirs, own, source.text, name)

    def _explained(self, mismatch: Mismatch) -> Mismatch:
        """A difference for want of a name that was not loaded says so."""
        for word, line in self.module.left_out.items():
            if f"name '{word}' is not defined" in mismatch.message:
                why = f"line {line} is neither an import, a definition nor a constant: not run"
                return replace(mismatch, message=f"{mismatch.message}; {why}")
        return mismatch

    def _case(self, number: int, inputs: tuple[str, ...], signature: str) -> None:
        self.reply.write(case=number, inputs=inputs, signature=signature)

    def _subject(self, record: FunctionRecord, small: bool) -> Subject:
        name, source, module = record.name, self.source, self.module
        host = name.rsplit(".", 1)[-1]

        def version(loaded: Loaded) -> Version:
            if not callable(getattr(loaded.module, host, None)):
                raise LookupError(f"the module defines no function `{host}`")
            plain, *large = (source.plain(record, hosted(m)) for m in loaded.modules)
            return Version(plain, loaded.blocks, chosen(large, loaded.blocks))

        def hosted(loaded: Any) -> Any:
            function = getattr(loaded, host)
            return in_chunks(function) if module.chunked else function

        def chosen(large: Sequence[Callable[..., Any]], blocks: dict[str, int]) -> list[Version]:
            pairs = zip(large, module.choices, strict=True)
            return [Version(f, blocks | each) for f, each in pairs]

        own, many = version(module.own), version(module.many) if small else None
        if self.request.on == "ptx":
            # blocks are compiled in: small sizes for the kernels with the module's own
            many = version(module.compiled())
            blocks = module.small.blocks
            large = chosen([each.function for each in own.large], blocks)
            compiled = Version(own.function, blocks, large)
        else:
            compiled = version(module.small if small else module.limited)
        return Subject(
            record,
            _oracle(record, source.plain(record, source.original.function(name))),
            _oracle(record, source.plain(record, source.rough.function(name))),
            compiled,
            own,
            index_parameters(source.text, name),
            literals(source.text, name, source.original.namespace),
            source.domain(name),
            many,
            asks_for_dtypes(source.text, name),
            source.hints(name),
        )

    def _result(
        self, name: str, done: Verification | None, mismatch: Mismatch | None
    ) -> dict[str, Any]:
        request = self.request
        tally = done.tally if done else Tally()
        counts = dict(tally.counts)
        values = counts.get("values", 0)
        reasons = tally.reasons
        nothing = "" if mismatch else self._nothing(name, counts, reasons)
        few = (
            None
            if mismatch or request.case is not None or request.joined
            else self._few(name, done)
        )
        nothing = nothing or (few.reason if few else "")
        status = FAILED if mismatch else SKIPPED if nothing else PASSED
        detail: dict[str, Any] = {
            key: counts.get(key, 0) for key in ("values", "exceptions", "wrong_inputs")
        }
        detail |= {key: counts[key] for key in WHERE_ANY if counts.get(key)}
        detail |= self._launches(name) | {"seed": request.seed}
        if tally.reach.wanted:
            detail["sizes"] = tally.reach.to_json() | {"seconds": request.budget}
        if request.joined:
            detail["joined"] = True
        detail |= self.target.detail()
        if self.module.chunked:
            detail["chunkings"] = min(len(CUTS), counts.get("cases", 0))
        if status == PASSED and (left := self.target.reason()):
            status, detail["reason"] = SKIPPED, left
        if tally.refusals:
            detail["refused_sizes"] = len(tally.refusals)
            detail["refusal"] = tally.refusals[0].mismatch.message
        if reasons:
            detail["reasons"] = reasons
        if text := self.source.domain(name).text:
            detail["domain"] = text
        stand_ins = [s.SAID for s in (stand_in, mlir_stand_in) if s.needed(self.module.text)]
        if stand_ins:
            detail["library"] = "; ".join(stand_ins)
        if values:
            detail |= tally.worst.to_json()
        if "time limit" in reasons or nothing:
            detail["reason"] = nothing or "the time limit was reached"
        if few is not None:
            detail |= {"unverified": few.said, "cure": few.cure}
        if values and tally.copies == values:
            detail["output_equals_input"] = True
        loaded = self.module.own
        own = {m.__name__ for m in loaded.modules}
        return {
            "done": name,
            "status": status,
            "cases": counts.get("cases", 0),
            "detail": detail,
            "mismatch": mismatch.to_json() if mismatch else None,
            "launches": list(LAUNCHES.seen.values()),
            "blocks": {n: size for (m, n), size in LAUNCHES.blocks.items() if m in own},
        }

    def _launches(self, name: str) -> dict[str, int]:
        """How many there were; nothing of a function that leaves all work to a library."""
        rewritten = target_named(*self.module.header.target.split()).rewrites
        if rewritten and not kernels_of(self.module.text, name.rsplit(".", 1)[-1]):
            return {}
        return {"launches": LAUNCHES.count}

    def _nothing(self, name: str, counts: dict[str, int], reasons: list[str]) -> str:
        """Why cases without a difference verify nothing, '' if it does."""
        if self.request.case is not None and not counts.get("cases"):
            return f"nothing to compare in case {self.request.case}"
        if self.request.joined and not counts.get("values"):
            return "no case gave a result within its time limit"
        if "time limit" in reasons and counts.get("values", 0) < FEWEST_CASES:
            said = next((f" ({r})" for r in reasons if r != "time limit"), "")
            return f"the time limit was reached{said}"
        kernels = kernels_of(self.module.text, name.rsplit(".", 1)[-1])
        if counts.get("launched") or not kernels:
            return ""
        shown = ", ".join(f"`{k}`" for k in kernels[:3])
        return self.target.reason() or f"no case ran {shown}: the kernels are not verified"

    def _few(self, name: str, done: Verification | None) -> Few | None:
        """Why too few cases gave a result to say that a function is verified."""
        missing = self.source.original.missing
        if done is None:
            return lacking(name, self.missing.get(name, ""), missing)
        tally = done.tally
        if 2 * tally.counts["gave"] >= tally.counts["tried"] and tally.counts["values"]:
            return None
        if "time limit" in tally.reasons and not tally.raised:
            return None
        return too_few(name, done, missing)


def _oracle(record: FunctionRecord, function: Callable[..., Any]) -> Callable[..., Any]:
    """The original as it is called: for whole arrays, elements of them, or parts."""
    if isinstance(function, Fold):
        return function.alone
    if record.parts:
        return per_part(function, record.parts)
    if record.stated:
        return per_element(function, record.stated, stated=True)
    return per_element(function, record.elements) if record.elements else function


class _Simulator:
    """Numba's simulator alone."""

    large = False
    checks_indices = True

    def __init__(self, request: Request) -> None:
        install()
        self.watched: list[dict[str, Any]] = []

    def clear(self) -> None:
        """Nothing is kept."""

    def detail(self) -> dict[str, Any]:
        """Nothing beyond what every engine says."""
        return {}

    def reason(self) -> str:
        """Every launch is its evidence."""
        return ""


def _emulation(request: Request) -> Any:
    """The emulator in the place of the simulator."""
    # start-up: the simulator needs no emulator
    from porter.verify.engines.emulation import Emulation

    install()
    emulation = Emulation()
    EMULATED.append(emulation.run)
    return emulation


def _machine(request: Request) -> Any:
    """The compiled kernels in the place of the simulator's."""
    # start-up: the simulator needs no machine
    from porter.verify.engines.machine import Machine

    install()
    machine = Machine(
        request.texts,
        request.arch,
        "mlir" if request.layout == "mlir" else "numba",
        request.most,
        alone=request.alone,
    )
    EMULATED.append(machine.run)
    return machine


def _gpu(request: Request) -> Any:
    # start-up: the simulator needs no GPU
    from porter.verify.engines.gpu import Gpu

    return Gpu()


TARGETS: dict[str, Callable[[Request], Any]] = {
    "cpu": Cpu, "simulator": _Simulator, "emulator": _emulation, "ptx": _machine, "gpu": _gpu
}  # fmt: skip


def main() -> None:
    """Answer one request, and further ones where it says so."""
    request = _read(sys.argv[1])
    # requests come from the input, which nothing else may read
    further = os.fdopen(os.dup(0), encoding="utf-8") if request.stays else None
    # a driver reserves terabytes of addresses
    restrict(address_space=request.on != "gpu")
    if answer(request) and further is not None:
        for line in further:
            answer(_read(line.strip()))


def _read(path: str) -> Request:
    return Request(**json.loads(Path(path).read_text("utf-8")))


def answer(request: Request) -> bool:
    """Write the reply to a request; False if the module or its source cannot be loaded."""
    # should the parent die, this child does not stay behind
    faulthandler.dump_traceback_later(request.limit, exit=True)
    reply = Reply(Path(request.reply))
    try:
        session = Session(request, reply)
    except BadInputs as error:
        reply.write(fatal=str(error))
        return False
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        reply.write(fatal=f"the module cannot be loaded: {reason}")
        return False
    for name in request.functions:
        reply.write(start=name)
        reply.write(**session.verify(name))
    reply.write(end=True)
    return True


if __name__ == "__main__":
    main()
