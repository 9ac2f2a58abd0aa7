"""The child process that proves functions on the simulator, the emulator or a GPU.

`python -m porter.verify.sim_child REQUEST` reads a JSON request and appends JSON lines to
the file that it names: `start` and `case` lines before the work, so that the parent knows
what a dead child was at, and a `done` line with the result of every function.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.codegen.module.header import FunctionRecord, Header, is_edited, parse
from porter.source.files import read
from porter.support.reserved import ATTRIBUTE_PREFIX
from porter.verify import generated
from porter.verify.checks.subject import Found, Subject, Version
from porter.verify.checks.verifier import Further as Beyond
from porter.verify.checks.verifier import Proof
from porter.verify.engines import cupy_stand_in, mlir_stand_in
from porter.verify.engines.launches import LAUNCHES
from porter.verify.engines.simulator import EMULATED, install
from porter.verify.evidence import FAILED, PASSED, SKIPPED, Mismatch
from porter.verify.inputs.cases import GRID_LIMITS, MANY_BLOCKS, SMALL_BLOCKS
from porter.verify.inputs.domains import Domain, Property, read_domains
from porter.verify.inputs.further import Further
from porter.verify.inputs.hints import hints
from porter.verify.inputs.shapes import parse_shapes
from porter.verify.inputs.strategies import BadInputs
from porter.verify.inputs.thresholds import further_specs, small_ones, thresholds
from porter.verify.kernels import kernels_of
from porter.verify.limits import restrict
from porter.verify.oracle.asked import asks_for_dtypes
from porter.verify.oracle.instances import by_attributes
from porter.verify.oracle.original import (
    Missing,
    Original,
    function_of,
    index_parameters,
    literals,
    load,
    sorted_parameters,
)
from porter.verify.oracle.values import Values, first_difference, watch_kernels
from porter.verify.unverified import Few, lacking, too_few

#: with fewer cases than this the time limit leaves nothing proved
FEWEST_CASES = 8


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

    def __init__(self, request: dict[str, Any], reply: Reply) -> None:
        self.seed, self.cases = int(request["seed"]), int(request["cases"])
        self.seconds = float(request["seconds"])
        self.observe = bool(request["observe"])
        self.target = TARGETS[request["on"]]()
        self.reply = reply
        self.only: int | None = request.get("case")
        self.values = bool(request.get("values"))
        # beside the simulator only what that has no time for: no table, no wrong inputs
        self.joined = bool(request.get("joined"))
        self.budget: float | None = request.get("budget")
        self.further = Further(request, self.cases, self.seed)
        # the text may not be in its place yet
        self.path = Path(request["place"])
        self.text = Path(request["module"]).read_text("utf-8")
        header = parse(self.text)
        assert header is not None, "the parent has read the header"
        self.header: Header = header
        # `..` is taken off here: the folder of the module need not exist yet
        self.source = Path(os.path.normpath(self.path.parent / header.source))
        self.source_text = read(str(self.source)).text
        # at the end, so that no file of the user's hides a module of the library
        sys.path += [str(self.source.parent), str(self.path.parent)]
        self.names: list[str] = request["functions"]
        self.run_module = bool(request.get("run_module"))
        self.original: Original = self._load()
        self.rough: Original = self._load(rough=True)
        self.missing: dict[str, str] = {}
        self.domains = read_domains(self.source_text, str(self.source))
        self.left_out = generated.definitions(self.text, self.path)[1]
        own = generated.block_sizes(self.text, SMALL_BLOCKS)
        self.own_blocks = own
        self.small_blocks = {n: min(SMALL_BLOCKS[n], size) for n, size in own.items()}
        self.own = generated.load(self.path, self.text, {})
        self.small = generated.load(self.path, self.text, self.small_blocks) if own else self.own
        self.many_blocks = {n: min(MANY_BLOCKS[n], size) for n, size in own.items()}
        self.many = generated.load(self.path, self.text, self.many_blocks) if own else self.own
        # an edited kernel may rely on its own blocks, but not on grids without a limit
        limits = {n: size for n, size in self.small_blocks.items() if n in GRID_LIMITS}
        cut = bool(limits) and is_edited(self.text)
        self.limited_blocks = own | (limits if cut else {})
        self.limited = generated.load(self.path, self.text, limits) if cut else self.own
        self.target.watched = [vars(m) for m in (self.small, self.many, self.limited)]

    def _load(self, **how: Any) -> Original:
        """The source file's functions, with what they need of its top level."""
        names, run_module = self.names, self.run_module
        return load(self.source, self.source_text, names, run_module=run_module, **how)

    def prove(self, name: str) -> dict[str, Any]:
        """The `done` line of one function."""
        LAUNCHES.clear()
        self.target.clear()
        record = self.header.function(name)
        assert record is not None, "the parent asks only for functions in the header"
        proof, mismatch = self._proof(record, small=True)
        own = mismatch is not None and bool(self.small_blocks) and is_edited(self.text)
        if own:
            # a kernel edited by hand may rely on its own block sizes: they decide, in small grids
            proof, mismatch = self._proof(record, small=False)
        if mismatch is not None and proof is not None and proof.found is not None:
            # should a smaller input make the kernel loop, this is known already
            self.reply.write(found=mismatch.to_json())
            mismatch = self._explained(proof.shrunk(proof.found))
            if self.values:
                mismatch = replace(mismatch, values=self._traced_values(record, proof))
        result = self._result(name, proof, mismatch)
        result["detail"] |= {"own_blocks": True} if own else {}
        return result

    def _proof(
        self, record: FunctionRecord, *, small: bool
    ) -> tuple[Proof | None, Mismatch | None]:
        try:
            proof = Proof(
                self._subject(record, small),
                self.seed,
                time.monotonic() + self.seconds,
                self._case,
                self.observe,
                self.target.large,
                self.target.checks_indices,
            )
            host = record.name.rsplit(".", 1)[-1]
            proof.further = self._beyond(host)
            proof.seconds = self.budget
        except Missing as error:
            self.missing[record.name] = str(error)
            return None, None
        except (LookupError, AttributeError, ValueError) as error:
            return None, Mismatch("load", " ".join(str(e) for e in error.args))
        try:
            proof.run(0 if self.joined else self.cases, self.only)
            if not self.observe and not self.joined:
                self.further.run(proof, str(self.source), self.only)
        except Found as found:
            proof.found = found
            return proof, found.mismatch
        except ValueError as error:
            return proof, Mismatch("load", str(error))
        return proof, None

    def _beyond(self, host: str) -> Beyond | None:
        """Makes the cases beyond the table, which the simulator has little time for."""
        block = next(iter(self.own_blocks.values()), 1)
        if self.target.large:
            return lambda axes, variants: further_specs(
                thresholds(self.text, host), axes, variants, block
            )
        if not is_edited(self.text):
            return None
        return lambda axes, variants: small_ones(
            further_specs(thresholds(self.text, host), axes, variants, block)
        )

    def _traced_values(self, record: FunctionRecord, proof: Proof) -> tuple[str, ...]:
        if not self.target.checks_indices:
            return ("values are traced on the simulator and the emulator, not on a GPU",)
        try:
            return self._values(record, proof)
        except Exception as error:
            return (f"values cannot be traced here ({type(error).__name__})",)

    def _values(self, record: FunctionRecord, proof: Proof) -> tuple[str, ...]:
        """The first source line whose value the kernels get wrong, on the smallest input."""
        theirs, own = Values(), Values()
        name, host = record.name, record.name.rsplit(".", 1)[-1]
        change = watch_kernels(self.text, self.source_text)
        assert proof.found is not None
        spec = proof.found.spec
        blocks = self.small_blocks
        if spec is not None and (spec.own or spec.many):
            blocks = self.own_blocks if spec.own else self.many_blocks
        module = generated.load(self.path, self.text, blocks, change, own.names)
        original = self._load(watch=theirs)
        # the emulator compiles kernels: values are kept on the simulator
        EMULATED.append(None)
        try:
            version = Version(self._plain(record, getattr(module, host)), blocks)
            proof.again(proof.found, self._plain(record, original.function(name)), version)
        finally:
            EMULATED.pop()
        return first_difference(theirs, own, self.source_text, name)

    def _explained(self, mismatch: Mismatch) -> Mismatch:
        """A difference for want of a name that was not loaded says so."""
        for word, line in self.left_out.items():
            if f"name '{word}' is not defined" in mismatch.message:
                why = f"line {line} is neither an import, a definition nor a constant: not run"
                return replace(mismatch, message=f"{mismatch.message}; {why}")
        return mismatch

    def _case(self, number: int, inputs: tuple[str, ...], signature: str) -> None:
        self.reply.write(case=number, inputs=inputs, signature=signature)

    def _subject(self, record: FunctionRecord, small: bool) -> Subject:
        name = record.name
        host = name.rsplit(".", 1)[-1]
        for module in (self.own, self.small, self.many, self.limited):
            if not callable(getattr(module, host, None)):
                raise LookupError(f"the module defines no function `{host}`")
        own = Version(self._plain(record, getattr(self.own, host)), self.own_blocks)
        chosen, blocks = (
            (self.small, self.small_blocks) if small else (self.limited, self.limited_blocks)
        )
        tiny = Version(self._plain(record, getattr(chosen, host)), blocks)
        many = Version(self._plain(record, getattr(self.many, host)), self.many_blocks)
        return Subject(
            record,
            self._plain(record, self.original.function(name)),
            self._plain(record, self.rough.function(name)),
            tiny,
            own,
            index_parameters(self.source_text, name),
            literals(self.source_text, name, self.original.namespace),
            self.domain(name),
            many if small else None,
            asks_for_dtypes(self.source_text, name),
            self._hints(name),
        )

    def _hints(self, name: str) -> Domain:
        function = function_of(self.source_text, name)
        return Domain() if function is None else hints(function)

    def domain(self, name: str) -> Domain:
        """What the comments say, and NumPy of what it searches."""
        said = self.domains.get(name, Domain())
        ordered = [Property("sorted", n) for n in sorted_parameters(self.source_text, name)]
        ordered = [p for p in ordered if p not in said.conditions]
        texts = tuple(f"sorted({p.name})" for p in ordered)
        return Domain((*said.conditions, *ordered), (*said.texts, *texts))

    def _plain(self, record: FunctionRecord, function: Any) -> Any:
        """A method as a function of the attributes that it reads."""
        names = list(parse_shapes(record.shapes))
        if not any(n.startswith(ATTRIBUTE_PREFIX) for n in names):
            return function
        owner = self.original.namespace.get(record.name.split(".")[0])
        return by_attributes(function, owner, names)

    def _result(self, name: str, proof: Proof | None, mismatch: Mismatch | None) -> dict[str, Any]:
        counts = dict(proof.counts) if proof else {}
        values = counts.get("values", 0)
        reasons = proof.reasons if proof else []
        nothing = "" if mismatch else self._nothing(name, counts, reasons)
        few = None if mismatch or self.only is not None or self.joined else self._few(name, proof)
        nothing = nothing or (few.reason if few else "")
        status = FAILED if mismatch else SKIPPED if nothing else PASSED
        detail: dict[str, Any] = {
            key: counts.get(key, 0) for key in ("values", "exceptions", "wrong_inputs")
        }
        optional = ("strategies", "traced", "not_compared", "out_of_bounds", "stricter")
        detail |= {key: counts[key] for key in optional if counts.get(key)}
        detail |= {"launches": LAUNCHES.count, "seed": self.seed}
        if proof is not None and proof.reach.wanted:
            detail["sizes"] = proof.reach.to_json() | {"seconds": self.budget}
        if self.joined:
            detail["joined"] = True
        detail |= self.target.detail()
        if status == PASSED and (left := self.target.reason()):
            status, detail["reason"] = SKIPPED, left
        if proof is not None and proof.refusals:
            detail["refused_sizes"] = len(proof.refusals)
            detail["refusal"] = proof.refusals[0].mismatch.message
        if reasons:
            detail["reasons"] = reasons
        if text := self.domain(name).text:
            detail["domain"] = text
        stand_ins = [s.SAID for s in (cupy_stand_in, mlir_stand_in) if s.needed(self.text)]
        if stand_ins:
            detail["library"] = "; ".join(stand_ins)
        if proof is not None and values:
            detail |= proof.worst.to_json()
        if "time limit" in reasons or nothing:
            detail["reason"] = nothing or "the time limit was reached"
        if few is not None:
            detail |= {"unverified": few.said, "cure": few.cure}
        if proof is not None and values and proof.copies == values:
            detail["output_equals_input"] = True
        return {
            "done": name,
            "status": status,
            "cases": counts.get("cases", 0),
            "detail": detail,
            "mismatch": mismatch.to_json() if mismatch else None,
            "launches": list(LAUNCHES.seen.values()),
            "blocks": {n: size for (m, n), size in LAUNCHES.blocks.items() if m == self.path.stem},
        }

    def _nothing(self, name: str, counts: dict[str, int], reasons: list[str]) -> str:
        """Why a proof without a difference proves nothing, '' if it does."""
        if self.only is not None and not counts.get("cases"):
            return f"nothing to compare in case {self.only}"
        if self.joined and not counts.get("values"):
            return "no case gave a result within its time limit"
        if "time limit" in reasons and counts.get("values", 0) < FEWEST_CASES:
            said = next((f" ({r})" for r in reasons if r != "time limit"), "")
            return f"the time limit was reached{said}"
        kernels = kernels_of(self.text, name.rsplit(".", 1)[-1])
        if counts.get("launched") or not kernels:
            return ""
        shown = ", ".join(f"`{k}`" for k in kernels[:3])
        return f"no case ran {shown}: the kernels are not verified"

    def _few(self, name: str, proof: Proof | None) -> Few | None:
        """Why too few cases gave a result to say that a function is verified."""
        if proof is None:
            return lacking(name, self.missing.get(name, ""), self.original.missing)
        if 2 * proof.counts["gave"] >= proof.counts["tried"] and proof.counts["values"]:
            return None
        if "time limit" in proof.reasons and not proof.raised:
            return None
        return too_few(name, proof, self.original.missing)


class _Simulator:
    """Numba's simulator alone."""

    large = False
    checks_indices = True

    def __init__(self) -> None:
        install()
        self.watched: list[dict[str, Any]] = []

    def clear(self) -> None:
        """Nothing is kept."""

    def detail(self) -> dict[str, Any]:
        """Nothing beyond what every proof says."""
        return {}

    def reason(self) -> str:
        """Every launch is its evidence."""
        return ""


def _emulation() -> Any:
    """The emulator in the place of the simulator."""
    # start-up: the simulator needs no emulator
    from porter.verify.engines.emulation import Emulation

    install()
    emulation = Emulation()
    EMULATED.append(emulation.run)
    return emulation


def _gpu() -> Any:
    # start-up: the simulator needs no GPU
    from porter.verify.engines.gpu import Gpu

    return Gpu()


TARGETS: dict[str, Callable[[], Any]] = {
    "simulator": _Simulator, "emulator": _emulation, "gpu": _gpu
}  # fmt: skip


def main() -> None:
    """Answer one request."""
    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    # should the parent die, this child does not stay behind
    faulthandler.dump_traceback_later(float(request["limit"]), exit=True)
    reply = Reply(Path(request["reply"]))
    # a driver reserves terabytes of addresses
    restrict(address_space=request["on"] != "gpu")
    try:
        session = Session(request, reply)
    except BadInputs as error:
        reply.write(fatal=str(error))
        return
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        reply.write(fatal=f"the module cannot be loaded: {reason}")
        return
    for name in request["functions"]:
        reply.write(start=name)
        reply.write(**session.prove(name))
    reply.write(end=True)


if __name__ == "__main__":
    main()
