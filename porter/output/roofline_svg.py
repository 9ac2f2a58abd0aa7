"""The kernels of `porter bench` under the roofline of a GPU, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from porter.bench.gpus import Gpu
from porter.bench.model import Modelled
from porter.output.bench import Row, shown_ms

_WIDTH, _HEIGHT = 760, 430
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 24, 64, 58
_LINE = 20
#: between the centres of two numbers
_APART = 19.0
_COLORS = {
    "memory": "#00796b", "instructions": "#c2410c", "latency": "#7c3aed", "launches": "#475569"
}  # fmt: skip
_STYLE = """
text { font-family: system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; fill: #1f2937; }
.title { font-size: 16px; font-weight: 600; }
.note { font-size: 12px; fill: #4b5563; }
.tick { font-size: 11px; fill: #4b5563; }
.number { font-size: 11px; font-weight: 600; fill: #ffffff; }
.name { font-size: 12px; font-family: ui-monospace, Menlo, Consolas, monospace; }
.grid { stroke: #e5e7eb; stroke-width: 1; }
.roof { fill: none; stroke: #1f2937; stroke-width: 2; stroke-linejoin: round; }
"""


class _Point(NamedTuple):
    """A kernel: instructions for each byte, and instructions a second."""

    name: str
    intensity: float
    rate: float
    ms: float
    bound_by: str


class _Scale(NamedTuple):
    """Two powers of ten, and where they lie."""

    low: int
    high: int
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def powers(self) -> range:
        """The powers of ten that have a line."""
        return range(self.low, self.high + 1)


def roofline(rows: Sequence[Row]) -> str:
    """The picture of all kernels that were counted; '' without any."""
    times = next((row.modelled for row in rows if row.modelled is not None), None)
    points = [point for row in rows for point in _points(row)]
    if times is None or not points:
        return ""
    gpu = times.gpu
    ridge = gpu.instructions / gpu.copy
    x = _axis([ridge, *(p.intensity for p in points)], _LEFT, _WIDTH - _RIGHT)
    y = _axis([gpu.instructions, *(p.rate for p in points)], _HEIGHT - _BOTTOM, _TOP)
    height = _HEIGHT + _LINE * (len(points) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">',
        f"<title>Roofline of {escape(gpu.title)}, modelled</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 26, f"Roofline of {gpu.title}, modelled for {times.arch}", "title"),
        _text(_LEFT, 44, _said(times, gpu), "note"),
        *_grid(x, y),
        *_roof(x, y, gpu),
    ]
    taken: list[tuple[float, float]] = []
    for number, point in enumerate(points, 1):
        at = x(point.intensity), y(point.rate)
        taken.append(_free(at, taken))
        parts += _mark(at, taken[-1], number, point)
        parts += _legend(_HEIGHT + _LINE * (number - 1), number, point)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _said(times: Modelled, gpu: Gpu) -> str:
    return (
        f"copies at {gpu.copy / 1e12:.3g} TB/s, {gpu.instructions / 1e12:.3g} T instructions of "
        f"threads a second; counts from the compiled PTX"
    )


def _points(row: Row) -> Iterator[_Point]:
    if row.modelled is None:
        return
    for kernel, time in zip(row.counts.kernels, row.modelled.kernels, strict=True):
        if kernel.bytes and kernel.instructions and time.ms:
            yield _Point(
                kernel.name, kernel.instructions / kernel.bytes,
                1e3 * kernel.instructions / time.ms, time.ms, time.bound_by,
            )  # fmt: skip


def _axis(values: Sequence[float], first: float, last: float) -> _Scale:
    low = math.floor(math.log10(min(values)) - 0.1)
    high = math.ceil(math.log10(max(values)) + 0.1)
    return _Scale(low, high, first, last)


def _grid(x: _Scale, y: _Scale) -> Iterator[str]:
    for power in x.powers():
        at = x(10.0**power)
        yield f'<line class="grid" x1="{at:.1f}" y1="{y.last}" x2="{at:.1f}" y2="{y.first}"/>'
        yield _text(at, y.first + 18, _power(power), "tick", "middle")
    for power in y.powers():
        at = y(10.0**power)
        yield f'<line class="grid" x1="{x.first}" y1="{at:.1f}" x2="{x.last}" y2="{at:.1f}"/>'
        yield _text(x.first - 8, at + 4, _power(power), "tick", "end")
    middle = (x.first + x.last) / 2
    yield _text(middle, y.first + 40, "instructions of threads for each byte", "note", "middle")
    at = (y.first + y.last) / 2
    yield (
        f'<text class="note" text-anchor="middle" transform="translate(18 {at:.1f}) rotate(-90)">'
        "instructions a second</text>"
    )


def _power(power: int) -> str:
    if -3 < power < 4:
        return f"{10.0**power:g}"
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def _roof(x: _Scale, y: _Scale, gpu: Gpu) -> Iterator[str]:
    """The bandwidth's slope, from the edge of the picture, and the level of all lanes."""
    ridge = gpu.instructions / gpu.copy
    start, level = max(10.0**x.low, 10.0**y.low / gpu.copy), gpu.instructions
    corners = [(start, start * gpu.copy), (ridge, level), (10.0**x.high, level)]
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in corners)
    yield f'<polyline class="roof" points="{path}"/>'
    yield _text(x.last - 6, y(level) - 8, "all lanes busy", "note", "end")
    middle = math.sqrt(start * ridge)
    yield _text(x(middle) - 8, y(middle * gpu.copy) - 8, "memory", "note", "end")


def _free(at: tuple[float, float], taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where a number stands that hides no other, at its point or below it."""
    x, y = at
    while any(math.hypot(x - a, y - b) < _APART for a, b in taken):
        y += _APART / 2
    return x, y


def _mark(
    at: tuple[float, float], place: tuple[float, float], number: int, point: _Point
) -> Iterator[str]:
    (x, y), (a, b) = at, place
    color = _COLORS[point.bound_by]
    yield f"<g><title>{escape(point.name)}</title>"
    yield f'<path d="M{x:.1f} {y:.1f}L{a:.1f} {b:.1f}" stroke="{color}"/>'
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
    yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="9" fill="{color}"/>'
    yield _text(a, b + 4, str(number), "number", "middle") + "</g>"


def _legend(y: float, number: int, point: _Point) -> Iterator[str]:
    yield f'<circle cx="{_LEFT}" cy="{y + 8}" r="8" fill="{_COLORS[point.bound_by]}"/>'
    yield _text(_LEFT, y + 12, str(number), "number", "middle")
    yield _text(_LEFT + 18, y + 12, point.name, "name")
    yield _text(_WIDTH - 210, y + 12, shown_ms(point.ms), "note", "end")
    yield _text(_WIDTH - 190, y + 12, f"bound by {point.bound_by}", "note")


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )
