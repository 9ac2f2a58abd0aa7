"""Evidence as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from porter.verify.evidence import FAILED, PASSED, Evidence, FunctionEvidence, Mismatch, counted

#: where a function ran, as a sentence says it
_PLACES = {"simulator": "on the simulator", "emulator": "on the emulator", "gpu": "on the GPU",
           "cpu": "on this CPU", "ptx": "on PTX"}  # fmt: skip
#: an error that alarms without its budget
_MANY_ULPS = 100
#: cases that are not the verifier's own, by their key in the detail
_FURTHER = {"strategies": "from strategies", "traced": "from a trace"}


def lines(found: FunctionEvidence, verbose: bool = False) -> Iterator[str]:
    """What verification found about one function, a line for each engine."""
    for evidence in found.evidence:
        if evidence.on != "ptx":
            yield run_line(evidence)
            if verbose and evidence.status == PASSED:
                yield from (f"  {line}" for line in run_details(evidence))
    for compiler, compiled in _compilers(found):
        yield from ptx_lines(compiled, compiler)
        if verbose and any(e.status == PASSED and e.detail.get("f64") == 0 for e in compiled):
            yield "  no float64 instructions in float32 programs"
    for note in dict.fromkeys(e.detail["library"] for e in found.evidence if "library" in e.detail):
        yield f"note: {note}"
    for evidence in found.evidence:
        yield from (f"warning: {warning}" for warning in warnings(evidence))


def brief(found: FunctionEvidence) -> str:
    """The same on one line."""
    if found.mismatch is not None:
        return f"{found.name}: failed: {found.mismatch.message}"
    parts = ["verified: " + "; ".join(found.summary())] if found.summary() else []
    parts += [run_line(e) for e in found.evidence if e.on != "ptx" and e.status != PASSED]
    for compiler, compiled in _compilers(found):
        if any(e.status != PASSED for e in compiled):
            parts += ptx_lines([e for e in compiled if e.status != PASSED], compiler)
    return f"{found.name}: {'; '.join(parts)}"


def run_line(evidence: Evidence) -> str:
    """`verified on the simulator: 24 cases passed (2 raised the same exception)`."""
    detail = evidence.detail
    place = _PLACES[detail.get("ran", evidence.on)]
    if detail.get("instead_of"):
        place += f", compiled for it in place of {detail['instead_of'].upper()}"
    if detail.get("sanitizer"):
        place += f" under {detail['sanitizer']}"
    if evidence.status != PASSED:
        reason = f": {detail['reason']}" if detail.get("reason") else ""
        return ("failed " if evidence.status == FAILED else "not verified ") + place + reason
    where = f" where {detail['domain']}" if detail.get("domain") else ""
    text = f"verified {place}{where}: {counted(evidence.cases, 'case')} passed"
    # most cases that raise are tried again with inputs that the original takes
    raised = min(detail.get("exceptions", 0), evidence.cases - detail.get("values", 0))
    if raised > 0:
        text += f" ({raised} raised the same exception)"
    if detail.get("own_blocks"):
        text += " with the module's own block sizes only"
    return text + _error(detail)


def _error(detail: dict[str, Any]) -> str:
    """`, worst error 2 ulp`: of the element nearest to its budget."""
    worst = detail.get("worst_share")
    if worst is None:
        return ""
    if not worst["ulp"]:
        return ", all equal to the last bit"
    text = f", worst error {_ulps(worst['ulp'])} ulp"
    # where terms cancel, the original itself is off by as much
    return text if worst["ulp"] < _MANY_ULPS else f"{text} ({_share(worst)} of its budget)"


def _share(worst: dict[str, Any]) -> str:
    share = 100 * worst["share"]
    return f"{'under 1' if share < 1 else f'{share:.0f}'} %"


def _ulps(ulp: float) -> str:
    return f"{ulp:.2g}" if ulp < 1 else f"{ulp:,.0f}" if ulp < 1e6 else f"{ulp:.1e}"


def run_details(evidence: Evidence) -> Iterator[str]:
    """What `--verbose` adds about one engine."""
    detail = evidence.detail
    yield from _further(detail)
    worst = detail.get("worst_share")
    if worst is not None and worst["ulp"]:
        yield f"the worst error is {_share(worst)} of its budget"
    reach = detail.get("sizes") or {}
    if reach.get("done"):
        yield f"sizes up to {reach['largest']:,}"
    if reach.get("ended"):
        times = f"{reach['done']} of {reach['wanted']} sizes"
        yield f"{times} were tried in the time for them ({reach['seconds']:g} s)"
    if detail.get("largest"):
        yield f"up to {detail['largest']:,} threads in a launch"
    if detail.get("gpu"):
        yield f"{detail['gpu']}, {detail['kernel_milliseconds']} ms in kernels"


def _further(detail: dict[str, Any]) -> Iterator[str]:
    """The cases by their kind."""
    if detail.get("exceptions") and detail.get("values"):
        # a case whose original raises is tried again with other values: it can have both
        yield f"{counted(detail['values'], 'case')} gave results"
    for key, words in _FURTHER.items():
        if detail.get(key):
            yield f"{counted(detail[key], 'case')} {words}"
    if detail.get("wrong_inputs"):
        yield f"{counted(detail['wrong_inputs'], 'invalid input')} passed too"


def _compilers(found: FunctionEvidence) -> Iterator[tuple[str, list[Evidence]]]:
    """What was compiled, by compiler; numba-cuda alone goes without saying and is ""."""
    compiled = [e for e in found.evidence if e.on == "ptx"]
    names = list(dict.fromkeys(e.detail.get("backend", "") for e in compiled))
    for name in names:
        usual = len(names) == 1 and name.split(" ")[0] in ("", "numba-cuda")
        yield ("" if usual else name), [e for e in compiled if e.detail.get("backend", "") == name]


def ptx_lines(compiled: list[Evidence], compiler: str = "") -> Iterator[str]:
    """`compiled to PTX: sm_75 sm_80, 24 registers, no spills, occupancy 75 %`, or what failed."""
    by = f" by {compiler}" if compiler else ""
    bad = next((e for e in compiled if e.status == FAILED), None)
    if bad is not None:
        arch = f" for {bad.detail['arch']}" if bad.detail.get("arch") else ""
        reason = bad.detail.get("error") or bad.detail.get("reason", "")
        if "cases" in bad.detail:
            yield f"failed on the compiled PTX{arch}{by}: {reason}"
            return
        what = "cannot be launched" if bad.detail.get("unfit") else "failed to compile to PTX"
        yield f"{what}{arch}{by}: {reason}"
        return
    done = [e for e in compiled if e.status == PASSED]
    if done:
        yield f"compiled to PTX{by}: {_resources(done)}"
        yield from _executed(done, by)
    skipped = dict.fromkeys(e.detail.get("reason", "") for e in compiled if e.status != PASSED)
    yield from (f"not compiled to PTX{by}: {reason}" for reason in skipped)


def _executed(done: list[Evidence], by: str) -> Iterator[str]:
    """`verified on the compiled PTX: 24 cases passed, worst error 2 ulp`."""
    ran = [e for e in done if e.detail.get("cases")]
    if ran:
        least = min(ran, key=lambda e: int(e.detail["cases"]))
        cases = counted(least.detail["cases"], "case")
        yield f"verified on the compiled PTX{by}: {cases} passed{_error(least.detail)}"
    left = dict.fromkeys(e.detail["not_executed"] for e in done if "not_executed" in e.detail)
    yield from (f"the compiled PTX{by} was not run: {reason}" for reason in left)


def _resources(done: list[Evidence]) -> str:
    text = " ".join(str(e.detail["arch"]) for e in done)
    registers = [e.detail["registers"] for e in done if e.detail["registers"] is not None]
    if registers:
        spilled = max(e.detail["spill_bytes"] or 0 for e in done)
        spills = f"{spilled} bytes spilled" if spilled else "no spills"
        text += f", {max(registers)} registers, {spills}"
    shares = [e.detail["occupancy"] for e in done if e.detail.get("occupancy") is not None]
    return text + (f", occupancy {100 * min(shares):.0f} %" if shares else "")


def warnings(evidence: Evidence) -> Iterator[str]:
    """What is not wrong but should be known."""
    detail = evidence.detail
    if detail.get("f64"):
        yield f"{detail['f64']} float64 instructions in a float32 program ({detail['arch']})"
    if detail.get("refused_sizes"):
        cases = counted(detail["refused_sizes"], "case")
        yield f"stricter than the original in {cases} with a short axis: {detail['refusal']}"
    if detail.get("source"):
        yield f"the source file has {detail['source']}"
    few = evidence.on in ("ptx", "emulator")  # they may have one case
    if detail.get("output_equals_input") and not few:
        yield "the result equals an argument in every case, in the original too"
    if evidence.status == PASSED and detail.get("launches") == 0:
        yield "no kernel was launched"
    if detail.get("out_of_bounds"):
        text = "a kernel reads or writes out of bounds where the original raises IndexError"
        yield f"{text} ({counted(detail['out_of_bounds'], 'case')}): a GPU raises no exception"
    if detail.get("not_compared"):
        reasons = "; ".join(detail.get("reasons", [])[:2])
        yield f"{counted(detail['not_compared'], 'case')} could not be compared ({reasons})"
    if evidence.status == PASSED and "reason" in detail:
        yield f"fewer cases than asked for: {detail['reason']}"


def mismatch_lines(path: str, name: str, mismatch: Mismatch) -> Iterator[str]:
    """A mismatch in the form of a diagnostic."""
    yield f"error[PRT911]: `{name}` failed verification: {mismatch.message}"
    yield f"  --> {path}"
    if mismatch.inputs:
        where = f"case {mismatch.case}" if mismatch.case >= 0 else "invalid input"
        smaller = ", made smaller" if mismatch.shrunk else ""
        yield f"   | {where}, seed {mismatch.seed}{smaller}:"
        yield from (f"   |   {line}" for line in mismatch.inputs)
    if mismatch.values:
        yield "   | the first value that differs:"
        yield from (f"   |   {line}" for line in mismatch.values)
    if mismatch.command:
        yield f"help: repeat it with `{mismatch.command}`"
