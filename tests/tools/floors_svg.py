"""The floors of porter as a drawing: `python -m tests.tools.imports --svg docs/images/floors.svg`.

A band is one or several layers of the contract, a box a folder or a file, an arrow an import.
An arrow that follows from others is left out: `a -> b -> c` stands for `a -> c` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from tests.tools.imports import Graph, floors, graph, rooms

#: the bands from the top: title, what they hold, the rooms in the order of the contract
BANDS = [
    ("Command line", "what is asked,\nwhat is printed", "__main__ cli commands output"),
    (
        "Files and rules",
        "many files, one module,\nfindings",
        "analysis rules numba_report convert config",
    ),
    ("Engines", "modules are run,\ncompared and counted", "bench verify emulate ptx"),
    ("Text", "plan to CUDA,\nfor a target", "codegen target cost"),
    ("Schedules", "loops to launches", "schedule"),
    ("Loops", "array program to loops", "transforms analyses"),
    ("Array program", "Python and types\nto the IR", "lowering inference resolve syntax"),
    ("IR", "nodes, checker,\ninterpreter", "ir"),
    ("Ground", "what everybody\nneeds", "sizes trace numpy_functions dtypes source"),
    ("", "", "guarded options bounded diagnostics support"),
]
WIDTH, LEFT, BAND, BOX, GAP = 1000, 205, 82, 30, 44
STYLE = """
text { font-family: system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
.title { font-size: 15px; font-weight: 600; fill: #0b3d3a; }
.note { font-size: 11.5px; fill: #52706e; }
.name { font-size: 13.5px; font-family: ui-monospace, Menlo, Consolas, monospace; fill: #06302d; }
.box { fill: #ffffff; stroke: #00897b; stroke-width: 1.3; }
.arrow { fill: none; stroke: #5f8d89; stroke-width: 1.1; opacity: 0.75; }
.up { stroke: #c62828; stroke-width: 1.6; opacity: 1; }
"""


@dataclass(frozen=True)
class Box:
    """A room's place in the drawing."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def reduced(g: Graph) -> list[tuple[str, str]]:
    """The edges that do not follow from others."""

    def reached(start: str, left_out: str) -> set[str]:
        found: set[str] = set()
        todo = [w for w in g[start] if w != left_out]
        while todo:
            v = todo.pop()
            if v not in found:
                found.add(v)
                todo += g[v]
        return found

    return sorted((a, b) for a in g for b in g[a] if b not in reached(a, b))


def boxes() -> dict[str, Box]:
    """Where each room stands: the rooms of a band side by side, in the middle of it."""
    found = {}
    for row, (_, _, names) in enumerate(BANDS):
        widths = [len(name) * 8.2 + 26 for name in names.split()]
        # bands are shifted against each other, so that arrows do not run through boxes
        x = LEFT + (WIDTH - LEFT - sum(widths) - GAP * (len(widths) - 1)) / 2
        for name, width in zip(names.split(), widths, strict=True):
            found[name] = Box(x, 12 + row * BAND + (BAND - BOX) / 2, width)
            x += width + GAP
    return found


def arrow(a: Box, b: Box) -> str:
    """A line from the lower edge to the upper one, or from side to side within a band."""
    if a.y == b.y:
        if 0 < b.x - a.x - a.width <= GAP + 1:
            y = a.y + BOX / 2
            return f"M{a.x + a.width:.0f} {y:.0f}L{b.x - 2:.0f} {y:.0f}"
        dip = a.y + BOX + 14
        return (
            f"M{a.middle:.0f} {a.y + BOX:.0f}C{a.middle:.0f} {dip:.0f} "
            f"{b.middle:.0f} {dip:.0f} {b.middle:.0f} {b.y + BOX + 2:.0f}"
        )
    down = b.y > a.y
    start, end = (a.y + BOX, b.y - 2) if down else (a.y, b.y + BOX + 2)
    bend = (end - start) / 2
    return (
        f"M{a.middle:.0f} {start:.0f}C{a.middle:.0f} {start + bend:.0f} "
        f"{b.middle:.0f} {end - bend:.0f} {b.middle:.0f} {end:.0f}"
    )


def drawing() -> str:
    """The text of the SVG file."""
    order = [name for floor in floors() for name in floor]
    place = boxes()
    height = 24 + len(BANDS) * BAND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>The floors of porter: an import goes down</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#5f8d89"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#f7fbfa"/>',
    ]
    for row, (title, note, _) in enumerate(BANDS):
        top = 12 + row * BAND
        rows = 1 + sum(not later[0] for later in BANDS[row + 1 : row + 2])
        if not title:
            continue
        shade = "#e4f2f0" if row % 2 else "#edf6f5"
        parts.append(
            f'<rect x="10" y="{top + 3}" width="{WIDTH - 20}" height="{BAND * rows - 6}" rx="8" '
            f'fill="{shade}"/>'
        )
        parts.append(f'<text class="title" x="26" y="{top + 30}">{escape(title)}</text>')
        parts += [
            f'<text class="note" x="26" y="{top + 48 + 15 * n}">{escape(line)}</text>'
            for n, line in enumerate(note.split("\n"))
        ]
    level = {name: n for n, floor in enumerate(floors()) for name in floor}
    down = {(a, b) for a, b in rooms() if order.index(a) < order.index(b)}
    for a, b in reduced(graph(down)):
        line = arrow(place[a], place[b])
        parts.append(f'<path class="arrow" d="{line}" marker-end="url(#tip)"/>')
    for a, b in sorted(rooms().keys() - down):
        line = arrow(place[a], place[b])
        kind = "arrow up" if level[b] < level[a] else "arrow"
        parts.append(f'<path class="{kind}" d="{line}" marker-end="url(#tip)"/>')
    for name, box in place.items():
        parts.append(
            f'<rect class="box" x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" '
            f'height="{BOX}" rx="6"/>'
        )
        parts.append(
            f'<text class="name" x="{box.middle:.0f}" y="{box.y + 20:.0f}" '
            f'text-anchor="middle">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
