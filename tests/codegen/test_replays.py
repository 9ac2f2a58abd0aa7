"""Loops around launches that are the same in each turn: which are repeated, and in what order."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import types
from typing import Any

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.support.paths import GOLDEN

#: bodies of f(u, v, steps), and how the loop is repeated; None where it stays a loop
LOOPS = {
    "two arrays change places": ("turn, steps, stream, period=2", """
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        new[5:] = 0.5 * (u[:-5] + u[5:])
        u, new = new, u
    return u
"""),
    "three, the first one given": ("turn, steps, stream, period=2, settled=1", """
    for _ in range(steps):
        u = 0.5 * u + 1.0
    return u
"""),
    "a sum": ("turn, steps, stream", """
    u = u.copy()
    for _ in range(steps):
        u[:] = u / u.sum()
    return u
"""),
    "arguments that may be one": (
        "turn, steps - 2, stream, graph=not _same_memory(d_u, d_v)", """
    for _ in range(2, steps):
        u[5:] = v[:-5] + v[5:]
        v[5:] = u[:-5] + u[5:]
"""),
    "the number of the turn": ("turn, steps, stream", """
    u = u.copy()
    for k in range(steps):
        u[1:-1] = u[:-2] + k * u[2:]
    return u
"""),
    "the number of the turn, in a size": ("turn, steps - 1, stream", """
    u = u.copy()
    for k in range(1, steps):
        u[:k] = u[:k] * 0.5
    return u
"""),
    "a question": (None, """
    u = u.copy()
    for _ in range(steps):
        u[:] = 0.5 * u
        if u[0] > 3.0:
            u[:] = u - 1.0
    return u
"""),
}  # fmt: skip


@pytest.mark.parametrize("what", LOOPS)
def test_which_loops_are_repeated(what: str) -> None:
    repeated, body = LOOPS[what]
    text = f"import numpy as np\n\n\ndef f(u, v, steps: int):{body}"
    (function,) = SourceModule(text, "t.py").functions
    host = convert_function(function, "float64[:], float64[:], int64").text.parts[-1]
    found = re.search(r"_repeat\((.*?)\)+$", host, re.M)
    if repeated is None:
        assert found is None and "for " in host, host
    else:
        assert f"_repeat({repeated})" in host, host


class Recorded:
    """A graph: what `turn` launched while it was built."""

    def __init__(self, log: list[Any], launched: list[Any]) -> None:
        self.log, self.launched = log, launched

    def launch(self, queue: object) -> None:
        assert queue == "default"
        self.log += self.launched


class Builder(list[Any]):
    """A graph under construction, in place of a stream."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def begin_building(self) -> None:
        self.clear()

    def end_building(self) -> Builder:
        return self

    def complete(self) -> Recorded:
        return Recorded(self.log, [*self])


class Device:
    """In place of `cuda.core.Device`, whose default stream is a list of launches."""

    log: list[Any]

    def set_current(self) -> None:
        """There is one."""

    def create_stream(self) -> Device:
        return self

    def create_graph_builder(self) -> Builder:
        return Builder(self.log)

    @property
    def default_stream(self) -> str:
        return "default"


@pytest.mark.parametrize(("period", "settled"), [*itertools.product((1, 2, 3, 4), (0, 1, 2))])
def test_a_graph_launches_what_the_loop_does(
    monkeypatch: pytest.MonkeyPatch, period: int, settled: int
) -> None:
    core = types.ModuleType("cuda.core")
    core.__dict__.update(Device=Device, Stream=None)
    monkeypatch.setitem(sys.modules, "cuda.core", core)
    text = (GOLDEN / "heat_cuda.py").read_text("utf-8")
    found = re.search(r"^def _repeat.*?(?=^\S|\Z)", text, re.M | re.S)
    assert found is not None
    names: dict[str, Any] = {"config": types.SimpleNamespace(ENABLE_CUDASIM=False)}
    exec(found[0], names)
    saved = 0
    for count in range(90):
        log: list[int] = []
        monkeypatch.setattr(Device, "log", log, raising=False)
        turns = itertools.count()

        def state(k: int) -> int:
            return k if k < settled else settled + (k - settled) % period

        def turn(stream: Any, turns: Any = turns, log: Any = log) -> None:
            (stream if isinstance(stream, Builder) else log).append(state(next(turns)))

        names["_repeat"](turn, count, 0, period=period, settled=settled)
        assert log == [state(k) for k in range(count)]
        saved += count - next(turns)
    assert saved > 0


@pytest.mark.gpu
@pytest.mark.parametrize("steps", [22, 23, 24, 47, 1000])
def test_on_a_gpu_a_graph_computes_what_the_loop_does(steps: int) -> None:
    script = f"""
import importlib.util
import numpy as np
from numba import cuda

spec = importlib.util.spec_from_file_location("heat_cuda", {str(GOLDEN / "heat_cuda.py")!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
u = np.random.default_rng(0).random((37, 53))
for stream in (None, cuda.stream()):
    by_graph = module.heat(u, 0.2, {steps}, stream=stream)
    repeat = module._repeat
    module._repeat = lambda *given, **named: repeat(*given, **named, graph=False)
    one_by_one = module.heat(u, 0.2, {steps}, stream=stream)
    module._repeat = repeat
    assert np.array_equal(by_graph, one_by_one), np.abs(by_graph - one_by_one).max()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
