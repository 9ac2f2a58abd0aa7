"""Cost, effort and the recorded run, in the result of `porter analyze`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from porter.cost.result import RESIDENT, TOO_LIGHT, WORTH_IT, Cost, Run, shown_seconds
from porter.rules.engine import Analysis
from porter.rules.verdicts import Verdict
from porter.trace.lookup import trace_for

if TYPE_CHECKING:
    from porter.trace.record import Trace

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def record(verdict: Verdict) -> dict[str, object]:
    """What JSON has of a function beside its verdict."""
    found: dict[str, object] = {
        "effort": verdict.effort,
        "places": [{"code": code, "line": line} for code, line in verdict.places],
        "cost": None if verdict.cost is None else _cost(verdict.cost),
    }
    if verdict.traced is not None:
        found["trace"] = asdict(verdict.traced)
    return found


def _cost(cost: Cost) -> dict[str, object]:
    run = cost.run
    numbers = None
    if run is not None:
        numbers = asdict(run) | {"gain": run.gain, "advice": run.advice}
    counted = None
    if cost.counted:
        counted = {"for": cost.counted, "bytes": cost.bytes, "instructions": cost.instructions}
    return {**cost.formulas, "run": numbers, "counted": counted}


def ranking(analyses: Sequence[Analysis]) -> str:
    """The functions of recorded runs by time, the slowest first, and what porting each would
    bring; empty without a trace."""
    found: dict[Path, tuple[Trace, list[tuple[str, Verdict]]]] = {}
    for a in analyses:
        traced = [v for v in a.listed if v.traced is not None]
        place = trace_for(a.source.path) if traced else None
        if place is not None:
            rows = found.setdefault(place[0], (place[1], []))[1]
            rows += [("{}:{}".format(*a.source.place(v.line)), v) for v in traced]
    return "".join(f"{line}\n" for trace, rows in found.values() for line in _lines(trace, rows))


def _lines(trace: Trace, rows: list[tuple[str, Verdict]]) -> Iterator[str]:
    yield f"by time in the recorded run of {trace.script} ({shown_seconds(trace.seconds)}):"
    rows.sort(key=lambda r: -(r[1].traced.seconds if r[1].traced else 0.0))
    cells = [(*_head(trace, v), f"{place} {v.name}", _advice(v)) for place, v in rows]
    widths = [max(len(c[k]) for c in cells) for k in range(4)]
    for c in cells:
        numbers = "  ".join(f"{c[k]:>{widths[k]}}" for k in range(3))
        yield f"  {numbers}  {c[3]:<{widths[3]}}  {c[4]}"
    yield ""


def _head(trace: Trace, v: Verdict) -> tuple[str, str, str]:
    assert v.traced is not None
    share = f"{100 * v.traced.seconds / trace.seconds:.0f} %" if trace.seconds else ""
    calls = f"{v.traced.calls:,} call{'' if v.traced.calls == 1 else 's'}"
    return share, shown_seconds(v.traced.seconds), calls


def _advice(v: Verdict) -> str:
    """What porting would bring, with the numbers it is judged by."""
    if v.verdict not in ("convertible", "partly"):
        why = f" ({', '.join(v.reasons)})" if v.reasons else ""
        return f"{v.verdict}{why}, effort {v.effort}" if v.verdict == "refused" else v.verdict
    run = None if v.cost is None else v.cost.run
    if run is None:
        return f"{v.verdict}: the deciding sizes are unknown"
    if v.verdict == "partly":
        return f"partly: {_counts(run)}; what stays on the host is not counted"
    text = f"{_said(run)}: {shown_seconds(run.gpu_seconds)} on a GPU, {_counts(run)}"
    return f"{text}, kernels as counted for {v.cost.counted}" if v.cost and v.cost.counted else text


def _said(run: Run) -> str:
    if run.advice == WORTH_IT:
        return f"worth porting, about {run.gain:.2g} times faster"
    if run.advice == RESIDENT:
        return f"worth porting only if its data stay on the device ({run.kernel_gain:.2g} times)"
    return "too light for a GPU" if run.advice == TOO_LIGHT else "about even"


def _counts(run: Run) -> str:
    transfers = f"{shown_seconds(run.transfer_seconds)} of it to move {_scaled(run.transferred)}B"
    intensity = run.operations / run.device_bytes if run.device_bytes else 0.0
    return (
        f"{transfers}, {_scaled(run.operations)} operations ({intensity:.2g} a byte), "
        f"{run.launches:,.0f} launches ({run.sizes})"
    )


def _scaled(number: float) -> str:
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g} "
