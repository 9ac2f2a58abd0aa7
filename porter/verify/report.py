"""Evidence as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from porter.verify.evidence import FAILED, PASSED, Evidence, FunctionEvidence, Mismatch

#: cases that are not the verifier's own, by their key in the detail
_FURTHER = {"strategies": "from strategies", "traced": "traced"}


def lines(found: FunctionEvidence) -> Iterator[str]:
    """What was proved about one function, and what was not, line by line."""
    yield found.name
    for evidence in found.evidence:
        if evidence.on != "ptx":
            yield f"  {evidence.on:<10} {simulator_line(evidence)}"
    for line in ptx_lines(found):
        yield f"  {'ptx':<10} {line}"
    yield from (f"  {'warning:':<10} {w}" for e in found.evidence for w in warnings(e))


def brief(found: FunctionEvidence) -> str:
    """The same on one line."""
    if found.mismatch is not None:
        return f"{found.name}: failed: {found.mismatch.message}"
    parts = [f"{e.on} {simulator_line(e)}" for e in found.evidence if e.on != "ptx"]
    parts += [f"ptx {line}" for line in ptx_lines(found)]
    return f"{found.name}: {'; '.join(parts)}"


def simulator_line(evidence: Evidence) -> str:
    """`24 cases passed (23 with results, 2 with the same exception), 4 wrong inputs too`."""
    detail = evidence.detail
    tool = f"{detail['sanitizer']}: " if detail.get("sanitizer") else ""
    if evidence.status != PASSED:
        reason = detail.get("reason", "")
        return tool + evidence.status + (f": {reason}" if reason else "")
    text = f"{tool}{evidence.cases} cases passed"
    if detail.get("exceptions"):
        # a case whose original raises is tried again with other values: it can have both
        found = f"{detail['values']} with results, " if detail.get("values") else ""
        text += f" ({found}{detail['exceptions']} with the same exception)"
    if detail.get("wrong_inputs"):
        text += f", {detail['wrong_inputs']} wrong inputs too"
    text += _error(detail)
    extra = [f"{detail[key]} {words}" for key, words in _FURTHER.items() if detail.get(key)]
    if extra:
        text += f"; {' and '.join(extra)} among them"
    if detail.get("own_blocks"):
        text += "; right with its own block sizes only"
    if detail.get("domain"):
        text += f"; domain: {detail['domain']}"
    if detail.get("largest"):
        text += f", up to {detail['largest']:,} threads in a launch"
    text += _sizes(detail.get("sizes"))
    if detail.get("gpu"):
        text += f"; {detail['gpu']}, {detail['kernel_milliseconds']} ms in kernels"
    if detail.get("library"):
        text += f"; {detail['library']}"
    return text


def _sizes(reach: dict[str, Any] | None) -> str:
    """How far the cases beyond the table got in their time."""
    if not reach:
        return ""
    text = f"; sizes up to {reach['largest']:,}" if reach["done"] else ""
    if reach["ended"]:
        text += f"; {reach['seconds']:g} s sufficed for {reach['done']} of {reach['wanted']} sizes"
    return text


def _error(detail: dict[str, Any]) -> str:
    """`, worst error 2 ulp (7 % of its budget)`: of the element nearest to its budget."""
    worst = detail.get("worst_share")
    if worst is None:
        return ""
    if not worst["ulp"]:
        return ", all equal to the last bit"
    share = 100 * worst["share"]
    shown = "under 1" if share < 1 else f"{share:.0f}"
    return f", worst error {_ulps(worst['ulp'])} ulp ({shown} % of its budget)"


def _ulps(ulp: float) -> str:
    return f"{ulp:.2g}" if ulp < 1 else f"{ulp:.0f}" if ulp < 1e6 else f"{ulp:.1e}"


def ptx_lines(found: FunctionEvidence) -> Iterator[str]:
    """A line for each compiler, which is named if it is not numba-cuda alone."""
    compiled = [e for e in found.evidence if e.on == "ptx"]
    names = list(dict.fromkeys(e.detail.get("backend", "") for e in compiled))
    for name in names:
        usual = len(names) == 1 and name.split(" ")[0] in ("", "numba-cuda")
        yield ("" if usual else f"{name}: ") + ptx_line(
            [e for e in compiled if e.detail.get("backend", "") == name]
        )


def ptx_line(compiled: list[Evidence]) -> str:
    """`sm_75 sm_80 sm_90: 24 registers, nothing spilled, occupancy 75 %, no float64`."""
    bad = next((e for e in compiled if e.status == FAILED), None)
    if bad is not None:
        arch = bad.detail.get("arch", "")
        return f"failed {arch}: {bad.detail.get('error') or bad.detail.get('reason', '')}".strip()
    skipped = [e.detail.get("reason", "") for e in compiled if e.status != PASSED]
    done = [e for e in compiled if e.status == PASSED]
    if not done:
        return f"skipped: {skipped[0]}"
    text = " ".join(str(e.detail["arch"]) for e in done)
    registers = [e.detail["registers"] for e in done if e.detail["registers"] is not None]
    if registers:
        spilled = max(e.detail["spill_bytes"] or 0 for e in done)
        text += f": {max(registers)} registers, {spilled or 'no'} bytes spilled"
    shares = [e.detail["occupancy"] for e in done if e.detail.get("occupancy") is not None]
    if shares:
        text += f", occupancy {100 * min(shares):.0f} %"
    if any(e.detail["f64"] == 0 for e in done):
        text += ", no float64 in float32 programs"
    return "; ".join((text, *(f"skipped: {reason}" for reason in skipped)))


def warnings(evidence: Evidence) -> Iterator[str]:
    """What is not wrong but should be known."""
    detail = evidence.detail
    if detail.get("f64"):
        yield f"{detail['f64']} float64 instructions in a float32 program ({detail['arch']})"
    if detail.get("refused_sizes"):
        times = f"{detail['refused_sizes']} times with an axis or a count of 3 or less"
        yield f"stricter than the original, {times}: {detail['refusal']}"
    if detail.get("source"):
        yield f"the source file has {detail['source']}"
    if detail.get("output_equals_input"):
        yield "the result equals an argument in every case, in the original too"
    if evidence.status == PASSED and detail.get("launches") == 0:
        yield "no kernel was launched"
    if detail.get("out_of_bounds"):
        text = "a kernel leaves its arrays where the original raises IndexError"
        yield f"{text} ({detail['out_of_bounds']} cases): a GPU raises nothing there"
    if detail.get("not_compared"):
        reasons = "; ".join(detail.get("reasons", [])[:2])
        yield f"{detail['not_compared']} cases could not be compared ({reasons})"
    if evidence.status == PASSED and "reason" in detail:
        yield f"fewer cases than asked for: {detail['reason']}"


def mismatch_lines(path: str, name: str, mismatch: Mismatch) -> Iterator[str]:
    """A mismatch in the form of a diagnostic."""
    yield f"error[PRT911]: `{name}` is not proved: {mismatch.message}"
    yield f"  --> {path}"
    if mismatch.inputs:
        where = f"case {mismatch.case}" if mismatch.case >= 0 else "wrong input"
        smaller = ", made smaller" if mismatch.shrunk else ""
        yield f"   | {where}, seed {mismatch.seed}{smaller}:"
        yield from (f"   |   {line}" for line in mismatch.inputs)
    if mismatch.values:
        yield "   | the first value that differs:"
        yield from (f"   |   {line}" for line in mismatch.values)
    if mismatch.command:
        yield f"help: repeat it with `{mismatch.command}`"
