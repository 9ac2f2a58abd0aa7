"""Random finite-state machines whose lines end at the borders of blocks, parts and tiles.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result: each
must be exactly that of NumPy.  The blocks are those of `recurrences_child.py`; every other program
runs on the simulator, the others on the emulator.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from porter.diagnostics import Refusal
from porter.emulate import program as programs
from porter.verify.engines.simulator import EMULATED
from tests.programs.emulator import installed
from tests.programs.simulator import converted
from tests.programs.strategy import Parameter, Program
from tests.schedule.recurrences_child import LENGTHS, SMALL, Array

#: the simulator has a thread of the host for each of the device
SIMULATED = ((SMALL, (1, 2, 64, 65, 66, 191, 192, 193, 385)),)
LOOP = """import numpy as np


def f(x, y, s0):
    out = np.zeros(x.size, dtype=np.{dtype})
    state = {start}
    for i in range({lo}, x.size):
        {before}
{step}
        {after}
    return out, state
"""
TESTS = ("x[i] > {}", "x[i] < {}", "x[i] <= y[i]", "not x[i] >= {}", "x[i] > 0.25 and y[i] < {}",
         "x[i] != x[i]", "x[i] - y[i] > {}", "i % 5 == 2", "y[i] < -0.5 or x[i] > {}")  # fmt: skip


def test(rng: np.random.Generator) -> str:
    """What a state is left for."""
    return str(rng.choice(TESTS)).format(f"{rng.normal():.2f}")


def chain(rng: np.random.Generator, values: list[str]) -> str:
    """Each state has tests of its own."""
    lines: list[str] = []
    for k, value in enumerate(rng.permutation(values)):
        word = "elif" if k else "if"
        one, other, third = rng.choice(values, 3)
        match rng.integers(5):
            case 0:
                lines += [f"{word} state == {value} and {test(rng)}:", f"    state = {one}"]
            case 1:
                lines += [f"{word} {test(rng)} and state == {value}:", f"    state = {one}"]
            case 2:
                lines += [f"{word} state == {value}:", f"    if {test(rng)}:"]
                lines += [f"        state = {one}", f"    elif {test(rng)}:"]
                lines += [f"        state = {other}"]
            case 3:
                lines += [f"{word} state == {value}:", f"    if {test(rng)}:"]
                lines += [f"        state = {one}", "    else:", f"        state = {other}"]
            case _:
                lines += [f"{word} state == {value}:"]
                lines += [f"    state = {one} if {test(rng)} else {third}"]
    if rng.random() < 0.3:
        lines += ["else:", f"    state = {rng.choice(values)}"]
    return "\n".join(lines)


def counted(rng: np.random.Generator, most: int) -> str:
    """States that are counted."""
    up, down = f"min(state + 1, {most})", "max(state - 1, 0)"
    return [
        f"if state > 0:\n    state -= 1\nelif {test(rng)}:\n    state = {most}",
        f"if {test(rng)}:\n    state = (state + 1) % {most + 1}",
        f"if {test(rng)}:\n    state = {up}\nelse:\n    state = {down}",
        f"if {test(rng)}:\n    if state < {most}:\n        state += 1\nelse:\n    state = 0",
        f"if state == {most}:\n    if {test(rng)}:\n        state = 0\n"
        f"elif {test(rng)}:\n    state += 1\nelif state > {most // 2}:\n    state -= 1",
    ][rng.integers(5)]


def turned(rng: np.random.Generator) -> str:
    """Truth values."""
    on, off = test(rng), test(rng)
    return [
        f"if state:\n    if {off}:\n        state = False\nelif {on}:\n    state = True",
        f"if not state and {on}:\n    state = True\nelif state and {off}:\n    state = False",
        f"state = ({on}) if state else ({off})",
        f"state = (state and not ({off})) or ({on})",
    ][rng.integers(4)]


def source(rng: np.random.Generator) -> tuple[str, str]:
    """A program, and the dtype of its scalar argument."""
    kind = str(rng.choice(["int", "int", "spread", "float", "bool", "counted", "given"]))
    dtype, start = "int64", ""
    count = int(rng.integers(2, 17))
    match kind:
        case "int" | "given":
            low = int(rng.integers(-3, 4))
            values = [str(low + k) for k in range(count - (kind == "given"))]
        case "spread":
            values = [str(k) for k in rng.choice(np.arange(-900, 900), count, replace=False)]
        case "float":
            dtype, values = "float64", [f"{k / 2}" for k in range(-(count // 2), count // 2 + 1)]
            values = values[:count]
        case "bool":
            dtype, values = "bool", ["False", "True"]
        case _:
            values = ["0"]
    start = "s0" if kind == "given" else str(rng.choice(values))
    match kind:
        case "bool":
            step = turned(rng)
        case "counted":
            step = counted(rng, count - 1)
        case _:
            step = chain(rng, values)
    lines = "\n".join(f"        {line}" for line in step.splitlines())
    before, after = ("out[i] = state", "") if rng.random() < 0.3 else ("", "out[i] = state")
    text = LOOP.format(dtype=dtype, start=start, step=lines, before=before, after=after,
                       lo=rng.integers(2))  # fmt: skip
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n", "int64"


def line(rng: np.random.Generator, n: int) -> Array:
    """Numbers of which some are none, and some infinite."""
    x = rng.normal(size=n)
    special = rng.random(n) < rng.choice([0, 0, 0.1])
    x[special] = rng.choice([np.nan, np.inf, -np.inf, 0.0], special.sum())
    if rng.random() < 0.2:  # a state that is kept for a whole part
        x[n // 3 :] = 0.0
    return x


def outcome(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """The result of a call, or the error that it raises."""
    try:
        return function(*given)
    except IndexError as error:
        return error


def wrong(made: Any, expected: Any) -> str:
    """What is wrong with a result, or nothing."""
    if isinstance(made, IndexError) or isinstance(expected, IndexError):
        return "" if type(made) is type(expected) else f"{made!r} instead of {expected!r}"
    (out, state), (wanted, last) = made, expected
    if (out.dtype, out.shape) != (wanted.dtype, wanted.shape):
        return f"{out.dtype}{out.shape} instead of {wanted.dtype}{wanted.shape}"
    if not np.array_equal(out, wanted):
        k = int(np.argmax(out != wanted))
        return f"[{k}] is {out[k]!r}, not {wanted[k]!r}"
    return "" if state == last else f"the last one is {state!r}, not {last!r}"


def checked(
    program: Program, blocks: Mapping[str, int], calls: list[Any], emulated: bool
) -> Iterator[str]:
    """What is wrong with the calls of one program."""
    emulation = installed()
    emulation.clear()
    programs.forget()
    EMULATED[-1] = emulation.run if emulated else None
    made = converted(program, siblings=False, blocks=blocks)
    emulation.watched = [made.__globals__] if emulated else []
    for given in calls:
        found = wrong(outcome(made, given), outcome(program.function(), given))
        if found:
            yield f"{program.source}{given[0].size} {given[2]} {blocks}: {found}"
        if emulated and (left := emulation.reason()):
            yield f"{program.source}not on the emulator: {left}"


def main() -> int:
    """Run so many programs, called so often."""
    warnings.simplefilter("ignore")
    programs_, count, seed = map(int, sys.argv[1:])
    rng = np.random.default_rng(seed)
    failed = refused = 0
    for k in range(programs_):
        text, dtype = source(rng)
        parameters = (Parameter("x", "float64", ("n",)), Parameter("y", "float64", ("n",)),
                      Parameter("s0", dtype, None))  # fmt: skip
        emulated = k % 4 != 3
        blocks, lengths = LENGTHS[k % 4] if emulated else SIMULATED[0]
        calls = []
        for _ in range(count):
            n = int(rng.choice((0, *lengths)))
            # an element that only some states read may not exist
            short = n if rng.random() < 0.7 else int(rng.integers((n + 1) // 2, n + 1))
            calls.append((line(rng, n), line(rng, short), int(rng.integers(-4, 5))))
        try:
            for found in checked(Program(text, parameters, ()), blocks, calls, emulated):
                failed += 1
                print(found)
        except Refusal:
            refused += 1
    print(f"{programs_} programs, {refused} refused, {failed} wrong")
    # those that never leave their first state
    return int(failed > 0 or refused > programs_ // 5)


if __name__ == "__main__":
    sys.exit(main())
