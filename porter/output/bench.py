"""The counts and the modelled times of `porter bench`, as a table and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from porter.bench.model import KernelTime, Modelled
from porter.bench.records import FunctionCounts, KernelCounts
from porter.output.color import paint
from porter.output.wrapping import WIDTH, wrapped

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: columns before the details of a kernel
_INDENT = 6
#: times that differ by less are alike
_ALIKE = 0.97
_HEAD = (
    "kernel", "launches", "blocks", "instr./el.", "sectors", "occup.", "time",
    "bound by",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One function: its counts, the architecture, and times unless nothing was counted."""

    counts: FunctionCounts
    arch: str
    modelled: Modelled | None


def record(row: Row) -> dict[str, Any]:
    """The function's keys in JSON."""
    return row.counts.to_json(row.arch) | {
        "modelled": None if row.modelled is None else _times(row.modelled),
    }


def _times(times: Modelled) -> dict[str, Any]:
    return {
        "gpu": times.gpu.name,
        "ms": _rounded(times.ms),
        "cupy_ms": None if times.cupy_ms is None else _rounded(times.cupy_ms),
        "least_ms": _rounded(times.least_ms),
        "bound_by": times.bound_by,
        "arch": times.arch,
        "kernels": [
            {
                "name": k.name, "ms": _rounded(k.ms), "bound_by": k.bound_by,
                "waves": round(k.waves, 3),
            }
            for k in times.kernels
        ],
    }  # fmt: skip


def _rounded(ms: float) -> float:
    return float(f"{ms:.4g}")


def lines(path: str, rows: Sequence[Row], color: bool) -> Iterator[str]:
    """The table of a module."""
    yield paint(path, "bold", color)
    for row in rows:
        counts = row.counts
        size = ", ".join(f"{name}={n:,}" for name, n in counts.size.items())
        yield f"  {counts.name}({counts.types})" + (f"  {size}" if size else "")
        if counts.only_measured:
            for line in (*_measured(counts), *(f"note: {note}" for note in counts.notes)):
                yield from _indented(line)
            yield from _indented(_compared(counts.measured or {}))
            continue
        if row.modelled is None:
            yield from _indented(f"{paint('not counted', 'error', color)}: {counts.reason}")
            continue
        yield from (f"    {line}" for line in _table(counts.kernels, row.modelled, color))
        yield from (f"    {line}" for line in _summary(row.counts, row.modelled, color))
        for line in _measured(counts):
            yield from _indented(line)
        for note in counts.notes:
            yield from _indented(f"note: {note}")


def _indented(line: str) -> Iterator[str]:
    yield from (f"    {part}" for part in wrapped(line))


def _table(kernels: Sequence[KernelCounts], times: Modelled, color: bool) -> Iterator[str]:
    pairs = list(zip(kernels, times.kernels, strict=True))
    cells = [_HEAD, *(_cells(k, t, times.arch) for k, t in pairs)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(_HEAD))]
    for number, row in enumerate(cells):
        rest = (f"{cell:>{width}}" for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
        yield "  ".join((f"{row[0]:<{widths[0]}}", *rest, row[-1]))
        if number:
            more = textwrap.wrap(_more(*pairs[number - 1]), WIDTH - _INDENT)
            yield from (paint(f"  {part}", "dim", color) for part in more)


def _cells(kernel: KernelCounts, time: KernelTime, arch: str) -> tuple[str, ...]:
    share = kernel.occupancy(arch)
    ideal = kernel.sectors / kernel.ideal_sectors if kernel.ideal_sectors else 1.0
    return (
        kernel.name,
        f"{kernel.launches:,}",
        f"{kernel.blocks:,}",
        f"{kernel.per_element:.4g}",
        f"{ideal:.2f} x",
        "?" if share is None else f"{100 * share:.0f} %",
        shown_ms(time.ms),
        time.bound_by,
    )


def _more(kernel: KernelCounts, time: KernelTime) -> str:
    """What the row of a kernel has no room for."""
    said = [
        f"{scaled(kernel.instructions)} instructions",
        f"{scaled(kernel.f64)} of float64",
        f"{scaled(kernel.divisions)} divisions of 64 bits",
        f"{100 * kernel.active_lanes:.0f} % of lanes active",
        f"{scaled(kernel.sectors)} sectors",
        f"{scaled(kernel.bank_conflicts)} bank conflicts",
        f"{scaled(kernel.barriers)} barriers",
        f"{kernel.threads} threads a block",
        f"{'?' if kernel.registers is None else kernel.registers} registers",
        f"{'?' if kernel.spill_bytes is None else kernel.spill_bytes} bytes spilled",
        f"{kernel.shared_bytes or 0} bytes shared",
        f"{time.waves:.2f} waves",
        *(["counted on sampled blocks"] if kernel.sampled else []),
    ]
    return ", ".join(said)


def _summary(counts: FunctionCounts, times: Modelled, color: bool) -> Iterator[str]:
    replayed = sum(k.replayed for k in counts.kernels)
    yield (
        f"{_plural(counts.launches, 'launch', 'launches')}"
        f"{f' ({replayed:,} of them by a graph)' if replayed else ''}, "
        f"{_plural(counts.allocations, 'allocation', 'allocations')}, "
        f"{_plural(counts.read_backs, 'copy', 'copies')} to the host, "
        f"{scaled(counts.bytes)}B moved, at least {scaled(counts.least_bytes)}B"
    )
    gpu = f"{times.gpu.title}, {times.arch}"
    yield f"modelled on {gpu}: {shown_ms(times.ms)}, bound by {times.bound_by}"
    yield f"  least possible: {shown_ms(times.least_ms)}, {_ratio(times.least_ms, times.ms)}"
    if times.cupy_ms is not None:
        said = _ratio(times.cupy_ms, times.ms)
        launches = _plural(round(sum(s.launches for s in counts.steps or ())), "launch", "launches")
        if times.cupy_ms < _ALIKE * times.ms:
            said = paint(said, "warning", color)
        yield f"  operation by operation, as CuPy: {shown_ms(times.cupy_ms)}, {launches}, {said}"


def _measured(counts: FunctionCounts) -> Iterator[str]:
    for name, times in (counts.measured or {}).items():
        if "error" in times:
            yield f"measured with {name}: no time: {times['error']}"
            continue
        spread = f"{shown_ms(times['least_ms'])} to {shown_ms(times['most_ms'])}"
        yield (
            f"measured with {name} ({times['on']}): {shown_ms(times['ms'])}, median of "
            f"{times['runs']} calls ({spread}), first call {shown_ms(times['first_ms'])}"
            + _more_measured(times)
        )


def _compared(times: Mapping[str, Mapping[str, Any]]) -> str:
    """How the module's own time compares with the others."""
    own = times["loops"]["ms"]
    others = [f"{t['ms'] / own:.3g} times {name}" for name, t in times.items()
              if name != "loops" and "ms" in t]  # fmt: skip
    compiled = f"compiled in {shown_ms(times['loops']['compile_ms'])}"
    return ", ".join([f"measured: {others[0]}", *others[1:], compiled] if others else [compiled])


def _more_measured(times: Mapping[str, Any]) -> str:
    """What is measured of a module on a GPU besides its kernels."""
    if "end_to_end_ms" not in times:
        return ""
    return (
        f", with transfers {shown_ms(times['end_to_end_ms'])}, compiled in "
        f"{shown_ms(times['compile_ms'])}; a copy on the device: {times['copy_gb_s']:,.4g} GB/s"
    )


def _ratio(other: float, own: float) -> str:
    """How another time compares with the kernels' own."""
    ratio = other / own
    if _ALIKE < ratio < 1 / _ALIKE:
        return "as long as the kernels"
    slower = ratio > 1
    times = scaled(ratio if slower else 1 / ratio).strip()
    return f"{times} times {'longer' if slower else 'shorter'} than the kernels"


def _plural(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def shown_ms(ms: float) -> str:
    """A time with its unit."""
    if ms >= 1000:
        return f"{ms / 1000:,.3g} s" if ms < 1e6 else f"{ms / 1000:,.0f} s"
    return f"{ms:.3g} ms" if ms >= 0.1 else f"{1e3 * ms:.3g} us"


def scaled(number: float) -> str:
    """A number with three digits and the letter of its thousands."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"
