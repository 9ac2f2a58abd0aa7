"""The parts of the measurement on a GPU that run without one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from porter.bench import on_gpu
from porter.bench.child import gpu_child
from porter.bench.records import FunctionCounts
from porter.commands.bench import run
from porter.diagnostics import UsageError
from porter.options import BenchOptions


class Event:
    """An event of a GPU whose clock ticks when something is done."""

    now = 0.0

    def record(self) -> None:
        self.at = Event.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: Event) -> float:
        return other.at - self.at


class Copied(np.ndarray[Any, Any]):
    def copy_to_device(self, other: Any) -> None:
        Event.now += 0.25


class Target:
    """A stand-in of `numba.cuda`."""

    event = Event

    def __init__(self) -> None:
        self.waited = 0

    def device_array(self, size: int, dtype: Any) -> Any:
        return np.empty(1, dtype).view(Copied)

    def to_device(self, array: Any) -> Any:
        return ("device", array)

    def synchronize(self) -> None:
        self.waited += 1

    def get_current_device(self) -> Any:
        return SimpleNamespace(name=b"a GPU")


class Busy:
    """In place of the kernel that keeps the GPU busy."""

    launched: ClassVar[list[int]] = []

    def __getitem__(self, shape: tuple[int, int]) -> Any:
        return self.launched.append


@pytest.fixture(autouse=True)
def not_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_child, "busy", Busy())
    monkeypatch.setattr(gpu_child, "SECONDS", 0.01)


def measurable(function: Any) -> Any:
    def kernel(x: Any) -> None:
        Event.now += 1.5 if isinstance(x, tuple) else 4.0

    def original(x: Any) -> Any:
        return function(x)

    return SimpleNamespace(
        subject=SimpleNamespace(
            own=SimpleNamespace(function=kernel),
            original=original,
            record=SimpleNamespace(own_stream="stream"),
        ),
        values=lambda: [np.ones(3)],
        call=lambda function, values: function(*values),
    )


def test_kernels_are_timed_by_events_with_arrays_on_the_device() -> None:
    target = Target()
    found = gpu_child.times(measurable(np.sum), {}, (), target)["gpu"]
    assert (found["ms"], found["least_ms"], found["on"]) == (1.5, 1.5, "a GPU")
    assert found["end_to_end_ms"] >= 0 and found["call_ms"] >= 0 and target.waited > 0
    assert Busy.launched and all(2 <= count <= gpu_child.MOST_BUSY for count in Busy.launched)


def test_a_copy_on_the_device_is_timed() -> None:
    rate = gpu_child.copy_rate(Target(), gpu_child.Events(Target(), Busy.launched.append))
    assert rate == pytest.approx(2 * 2**28 / 0.25e-3 / 1e9, rel=1e-3)


def test_a_library_takes_the_place_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(sum=lambda x: x)
    namespace: dict[str, Any] = {"np": np, "other": 1}
    seen = []

    def convert(module: Any, value: Any) -> Any:
        return ("converted", value)

    monkeypatch.setitem(
        gpu_child.LIBRARIES, "cupy", ("math", convert, lambda module, result: seen.append(result))
    )
    monkeypatch.setattr(gpu_child.importlib, "import_module", lambda name: library)
    what = measurable(lambda x: namespace["np"].sum(x))
    found = gpu_child.times(what, namespace, ("cupy", "numpy"), Target())
    assert found.keys() == {"gpu", "cupy"} and "error" not in found["cupy"]
    assert any(isinstance(s, tuple) and s[0] == "converted" for s in seen)
    assert namespace["np"] is np


def test_a_library_that_is_missing_is_no_time_but_an_error() -> None:
    found = gpu_child.times(measurable(np.sum), {}, ("torch",), Target())["torch"]
    assert found["error"].startswith(("ModuleNotFoundError", "ImportError", "AssertionError"))


def test_without_a_driver_libraries_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("porter.commands.bench.has_driver", lambda: False)
    with pytest.raises(UsageError, match="--against jax: no driver"):
        run(BenchOptions(("a.py",), against=("jax",)))


def test_what_was_not_counted_is_not_timed() -> None:
    counts = [FunctionCounts("f", reason="why")]
    request: Any = None
    assert on_gpu.timed(request, counts, ("cupy",)) == counts
