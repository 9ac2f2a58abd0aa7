"""What a verification found, as plain data that travels between processes as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
#: the `signature` of a difference with arrays that the host function converts
CONVERTED = "converted arrays"


@dataclass(frozen=True)
class Evidence:
    """One engine's: `on` is simulator, emulator, ptx or gpu, `status` passed, failed or skipped.

    `cases` counts input sets, and compiled kernels for ptx; `detail` is
    JSON data that depends on `on` (see docs/verification.md).
    """

    on: str
    status: str
    cases: int = 0
    detail: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The evidence as the contract's JSON object."""
        return {"on": self.on, "status": self.status, "cases": self.cases, "detail": self.detail}


@dataclass(frozen=True)
class Mismatch:
    """The first difference that was found between a function and its original.

    `what` is one of exception, results, kind, shape, dtype, aliasing, mutation, nan, value, stream,
    launch, hang, memory, died, sanitizer and load; `index` is the first differing element; `inputs`
    describes each argument; `command` repeats the verification; `shrunk` says that the case's
    input was made smaller; `values` are lines about the first value that differs, if asked for;
    `signature` has the argument types of the case, as the header writes them.
    """

    what: str
    message: str
    case: int = -1
    seed: int = 0
    place: str = ""
    index: tuple[int, ...] | None = None
    expected: str = ""
    actual: str = ""
    inputs: tuple[str, ...] = ()
    command: str = ""
    shrunk: bool = False
    values: tuple[str, ...] = ()
    signature: str = ""

    def to_json(self) -> dict[str, Any]:
        """The mismatch as a JSON object."""
        index = None if self.index is None else list(self.index)
        lists = {"inputs": list(self.inputs), "values": list(self.values)}
        return {**vars(self), "index": index, **lists}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Mismatch:
        """The inverse of `to_json`."""
        index = data.get("index")
        known = {k: v for k, v in data.items() if k in cls.__dataclass_fields__}
        known["index"] = None if index is None else tuple(index)
        known["inputs"] = tuple(data.get("inputs", ()))
        known["values"] = tuple(data.get("values", ()))
        return cls(**known)


@dataclass(frozen=True)
class FunctionEvidence:
    """Everything that was found about one function."""

    name: str
    evidence: list[Evidence]
    mismatch: Mismatch | None = None

    @property
    def failed(self) -> bool:
        """Whether any engine found a difference."""
        return any(e.status == FAILED for e in self.evidence)

    @property
    def verified(self) -> bool:
        """Whether some verification passed and none failed."""
        return not self.failed and any(e.status == PASSED for e in self.evidence)

    @property
    def accepted(self) -> bool:
        """Whether it ran as the original does: that it compiles is not enough."""
        ran = [e for e in self.evidence if e.on != "ptx" and not e.detail.get("joined")]
        return not self.failed and (not ran or any(e.status == PASSED for e in ran))

    @property
    def why(self) -> str:
        """The first reason why a verification failed or was skipped."""
        if self.mismatch is not None:
            return self.mismatch.message
        bad = [e for e in self.evidence if e.status == FAILED]
        bad += [e for e in self.evidence if e.status == SKIPPED and e.on != "ptx"]
        return next((str(e.detail.get("error") or e.detail.get("reason", "")) for e in bad), "")

    def summary(self) -> tuple[str, ...]:
        """What the header of the module says: `simulator 24 cases`, `ptx sm_75 sm_80 8 cases`.

        How many of the emulator's cases beyond the table ran depends on the machine: they do not
        count.
        """
        lines = [
            f"{_place(e)} {counted(e.cases - _beyond(e), 'case')}{_where(e)}"
            for e in self.evidence
            if e.status == PASSED and e.on != "ptx" and not e.detail.get("joined")
        ]
        compiled = [e for e in self.evidence if e.on == "ptx" and e.status == PASSED]
        if not compiled:
            return tuple(lines)
        archs = " ".join(dict.fromkeys(e.detail["arch"] for e in compiled))
        executed = min(int(e.detail.get("cases", 0)) for e in compiled)
        ran = f" {counted(executed, 'case')}" if executed else ""
        return (*lines, f"ptx {archs}{ran}")

    def to_json(self) -> dict[str, Any]:
        """The evidence as the contract's JSON object."""
        return {
            "name": self.name,
            "evidence": [e.to_json() for e in self.evidence],
            "mismatch": self.mismatch.to_json() if self.mismatch else None,
        }


def _beyond(e: Evidence) -> int:
    """Cases that ran for as long as there was time."""
    return int(e.detail.get("sizes", {}).get("done", 0))


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _place(evidence: Evidence) -> str:
    return " ".join(
        (evidence.detail.get("ran", evidence.on), *filter(None, [evidence.detail.get("sanitizer")]))
    )


def _where(evidence: Evidence) -> str:
    """The domain in which it was verified: the header must not promise more."""
    return f" where {evidence.detail['domain']}" if evidence.detail.get("domain") else ""


def in_words(kind: str) -> str:
    """A kind of evidence in a sentence."""
    return kind.upper() if kind in ("cpu", "gpu", "ptx") else kind
