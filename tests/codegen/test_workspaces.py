"""Arrays that no caller sees: which they are, for whom they are kept, and what they hold."""

from __future__ import annotations

import re
import threading
import weakref
from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from porter.target.registry import CUDA
from porter.verify.engines.launches import poison_kept
from porter.verify.run import verify_module
from tests.support.shell import Shell

#: bodies of f(x, k), and the arrays that are kept for the next call
BODIES = {
    "a row of sums": (["total", "partial"], "return x - x.sum(axis=0)"),
    "a result": ([], "return x * 2.0"),
    "an array that is a result, too": (["partial"], """
    s = x.sum(axis=0)
    return x - s, s
"""),
    "a number that is a result": (["partial"], "return x.sum()"),
    "flags": (["error"], "return x[k]"),
    "arrays that change places": ([], """
    u = x.copy()
    new = x.copy()
    for _ in range(k.shape[0]):
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, new = new, u
    return u[0] + 1.0
"""),
    "text of the user's in between": (["partial"], """
    s = x.sum(axis=0)
    print(k[0])
    return x[k] - s
"""),
    "a name that ours may have": (["partial"], """
    partial = x.sum(axis=0)
    return x - partial
"""),
}  # fmt: skip


def host_of(body: str, target: Any = CUDA) -> str:
    text = body if body.startswith("\n") else f"\n    {body}\n"
    source = f"import numpy as np\n\n\ndef f(x, k):{text}"
    (function,) = SourceModule(source, "t.py").functions
    signature = "float64[:, :], int64[:]"
    return convert_function(function, signature, target=target).text.parts[-1]


@pytest.mark.parametrize("what", BODIES)
def test_which_arrays_are_kept(what: str) -> None:
    names, body = BODIES[what]
    host = host_of(body)
    assert Counter(re.findall(r'_workspace\(\s*"(\w+)"', host)) == Counter(names), host


def test_each_is_kept_by_the_name_that_it_has() -> None:
    host = host_of("return x - x.sum(axis=0)")
    found = re.findall(r'(\w+) = _workspace\(\s*"(\w+)"', host)
    assert found and all(one == other for one, other in found)


class Array:
    """An array of the device, and the zeros that were copied to it."""

    def __init__(self, shape: Any, dtype: Any = np.float64, stream: Any = 0) -> None:
        self.nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.shape, self.dtype, self.stream = shape, np.dtype(dtype), stream
        self.copied: list[Any] = []
        self.memory: Any = self
        self.owner: Any = None

    def copy_to_device(self, values: Any, stream: Any) -> None:
        self.copied.append((values.tolist(), stream))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "memory": self.memory}


def from_cuda_array_interface(where: dict[str, Any], owner: Any) -> Any:
    """Numba's: the array, and what is made of it, hold their owner."""
    made = Array(where["shape"], where["typestr"])
    made.memory, made.owner = where["memory"], owner
    return made


def to_device(values: Any, stream: Any) -> Array:
    """Numba's `to_device`."""
    made = Array(values.shape, values.dtype, stream)
    made.copy_to_device(values, stream)
    return made


class Context:
    """As numba-cuda's: it has a comparison of its own, and so no hash."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


@pytest.fixture
def names(shell: Shell) -> dict[str, Any]:
    """The helpers of a module, beside a GPU that has one context."""
    shell.write("f.py", "def f(x):\n    return x - x.sum(axis=0), x.sum()\n")
    assert shell.convert("f.py", "--no-verify", "-o", "-") == 0
    found = [re.search(rf"^def {n}\(.*?(?=^\S|\Z)", shell.out, re.M | re.S)
             for n in ("_workspace", "_new", "_counter")]  # fmt: skip
    assert {"import threading", "import weakref"} <= {*shell.out.splitlines()}
    assert "\n_KEPT = threading.local()" in shell.out
    context = Context()
    device = SimpleNamespace(
        device_array=Array, to_device=to_device, current_context=lambda: context,
        from_cuda_array_interface=from_cuda_array_interface,
    )  # fmt: skip
    space = {
        "np": np, "cuda": device, "weakref": weakref, "_KEPT": threading.local(),
        "config": SimpleNamespace(ENABLE_CUDASIM=False), "WORKSPACE_BYTES": 1 << 20,
        "RESULT_BYTES": 1 << 20,
    }  # fmt: skip
    for each in found:
        assert each is not None
        exec(each[0], space)
    return space


def test_the_next_call_has_the_same_array(names: dict[str, Any]) -> None:
    workspace = names["_workspace"]
    first = workspace("a", (3, 4), np.float32, 0)
    assert workspace("a", (3, 4), np.dtype("float32"), 0) is first
    others = [
        workspace("b", (3, 4), np.float32, 0),
        workspace("a", (4, 3), np.float32, 0),
        workspace("a", (3, 4), np.float64, 0),
        workspace("a", (3, 4), np.float32, "a stream"),
    ]
    another = Context()
    names["cuda"].current_context = lambda: another
    others.append(workspace("a", (3, 4), np.float32, 0))
    assert len({id(a) for a in (first, *others)}) == 6


def test_two_threads_have_no_array_in_common(names: dict[str, Any]) -> None:
    found: dict[str, list[Any]] = {}
    meet = threading.Barrier(2)

    def call(thread: str) -> None:
        for stream in (0, "one", "two"):
            meet.wait()
            pair = [names["_workspace"]("a", 5, np.float64, stream) for _ in range(2)]
            assert pair[0] is pair[1]
            found.setdefault(thread, []).append(pair[0])

    threads = [threading.Thread(target=call, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(a) for arrays in found.values() for a in arrays}) == 6


def test_large_ones_and_many_are_not_kept(names: dict[str, Any]) -> None:
    workspace = names["_workspace"]
    large = workspace("a", (1 << 17) + 1, np.float64, 0)
    assert workspace("a", (1 << 17) + 1, np.float64, 0) is not large
    half = (1 << 16) + 1
    first, second = (workspace(name, half, np.float64, 0) for name in "bc")
    # together they are too large: the one that was used longest ago is gone
    assert workspace("c", half, np.float64, 0) is second
    assert workspace("b", half, np.float64, 0) is not first
    assert workspace("c", half, np.float64, 0) is not second
    kept = [workspace("a", n, np.int8, 0) for n in range(32)]
    assert workspace("a", 0, np.int8, 0) is kept[0]
    workspace("a", 32, np.int8, 0)
    # the one that was used longest ago is gone
    assert workspace("a", 0, np.int8, 0) is kept[0]
    assert workspace("a", 1, np.int8, 0) is not kept[1]


def test_flags_are_zero_at_each_call(names: dict[str, Any]) -> None:
    for _ in range(2):
        error = names["_workspace"]("error", 2, np.int32, "s", zero=True)
    assert error.copied == [([0, 0], "s")] * 2


# -- counters ----------------------------------------------------------------------------------


def test_a_counter_of_blocks_is_kept_for_each_stream_and_context(names: dict[str, Any]) -> None:
    counter = names["_counter"]
    first = counter(0)
    assert (first.copied, first.dtype) == ([([0], 0)], np.uint32)
    assert counter(0) is first and first.copied == [([0], 0)], "the last block sets it to 0"
    assert counter("s") is counter("s") is not first
    another = Context()
    names["cuda"].current_context = lambda: another
    assert counter(0) is not first
    for k in range(31):
        counter(k + 1)
    assert len(vars(names["_KEPT"])["counters"]) == 32
    names["config"].ENABLE_CUDASIM = True
    assert counter(0) is not counter(0), "a kernel may raise before its last block"


# -- results -----------------------------------------------------------------------------------


def test_a_result_has_the_memory_of_one_that_nobody_holds(names: dict[str, Any]) -> None:
    new = names["_new"]
    first = new((3, 4), np.float32, 0)
    second = new((3, 4), np.dtype("float32"), 0)
    assert (first.shape, first.dtype, first.nbytes) == ((3, 4), np.float32, 48)
    assert second.memory is not first.memory
    memory, view = first.memory, first.owner
    del first
    third = new((3, 4), np.float32, 0)
    assert third.memory is not memory, "a view of the first one is left"
    del view
    others = [new((4, 3), np.float32, 0), new((3, 4), np.int32, 0)]
    assert memory not in [a.memory for a in others]
    assert new((3, 4), np.float32, 0).memory is memory
    # as in a loop that gives a name the next result while it holds the last
    seen = set()
    for _ in range(5):
        third = new((3, 4), np.float32, 0)
        seen.add(id(third.memory))
    assert len(seen) == 2


def test_only_results_on_the_default_stream_do(names: dict[str, Any]) -> None:
    new = names["_new"]
    given = [new(3, np.float64, "a stream") for _ in range(2)]
    assert given[0].memory is not given[1].memory and given[0].stream == "a stream"
    memory = new(3, np.float64, 0).memory
    another = Context()
    names["cuda"].current_context = lambda: another
    assert new(3, np.float64, 0).memory is not memory
    names["config"].ENABLE_CUDASIM = True
    assert new(3, np.float64, 0).memory is not new(3, np.float64, 0).memory


def test_large_results_and_empty_ones_have_new_memory(names: dict[str, Any]) -> None:
    new, large = names["_new"], (1 << 17) + 1
    memory = new(5, np.float64, 0).memory
    assert new(large, np.float64, 0).memory is not new(large, np.float64, 0).memory
    assert new((0, 3), np.float64, 0).nbytes == 0
    assert new(5, np.float64, 0).memory is memory
    # together they are too large: the one that was given longest ago is forgotten
    half = (1 << 16) + 1
    first = new(half, np.float64, 0).memory
    second = new((1, half), np.float64, 0).memory
    assert new((1, half), np.float64, 0).memory is second
    assert new(half, np.float64, 0).memory is not first


# -- verification ------------------------------------------------------------------------------


def test_what_an_earlier_call_has_left_is_poisoned() -> None:
    module, kept = ModuleType("m"), np.zeros(3)

    class Kept:
        shape, dtype = kept.shape, kept.dtype

        def copy_to_device(self, values: Any, stream: Any) -> None:
            assert stream == "s"
            kept[:] = values

    def plain(name: str, shape: Any, dtype: Any, stream: Any, zero: bool = False) -> Kept:
        kept[:] = 0 if zero else kept
        return Kept()

    vars(module)["_workspace"] = plain
    poison_kept(module)
    kept[:] = 5
    vars(module)["_workspace"]("a", 3, np.float64, "s")
    assert np.isnan(kept).all()
    vars(module)["_workspace"]("a", 3, np.float64, stream="s", zero=True)
    assert not kept.any()
    vars(module)["_new"] = lambda shape, dtype, stream: plain("", shape, dtype, stream)
    poison_kept(module)
    vars(module)["_new"](3, np.float64, "s")
    assert np.isnan(kept).all()


@pytest.mark.slow
def test_verification_finds_a_kernel_that_reads_what_an_earlier_call_has_left(
    shell: Shell,
) -> None:
    """It is right in every case but the first, if memory stays as it was."""
    source = "def f(x):\n    return x * 2.0\n\n\ndef total(x):\n    return x.sum()\n"
    path = shell.write("f.py", source)
    assert shell.convert("f.py", "--no-verify", "-o", "-") == 0
    text = shell.out
    for old, new in (
        ("def f_kernel(x, out):", "def f_kernel(x, factor, out):"),
        ("        out[i] = x[i] * T(2.0)",
         "        if {condition}:\n            factor[0] = T(2.0)\n"
         "        out[i] = x[i] * factor[0]"),
        ("stream](d_x, out)", "stream](d_x, factor, out)"),
        ("    if x.shape[0] > 0:\n        f_kernel",
         '    factor = _workspace("factor", 1, x.dtype, stream)\n'
         "    if x.shape[0] > 0:\n        f_kernel"),
    ):  # fmt: skip
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    made = path.with_name("f_cuda.py")
    for condition, right in (("x[0] - x[0] == 0", False), ("True", True)):
        edited = text.replace("{condition}", condition)
        made.write_text(edited)
        (found,) = verify_module(made, on=("simulator",), functions=("f",))
        assert found.verified is right, found
