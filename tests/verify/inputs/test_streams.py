"""Calls with a stream of their own, two calls in a row, and what is found first or last."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.verify.inputs import events
from tests.support.hand_edited import assert_all, edited, found

LINE = '(x: "float64[:]"):\n    return x * 2.0 + 1.0'
OUT = "out = _new(x.shape, x.dtype, stream)"
TO = "d_x = _to_device(x, stream)"
RETURN = "return _result(out, on_device, stream, shape, plain=plain)"
LAUNCH = "THREADS, stream](d_x, out)"

#: on another stream than the given one
WRONG_STREAMS = {
    "a launch on 0": [(LAUNCH, "THREADS, 0](d_x, out)")],
    "a launch on none": [(LAUNCH, "THREADS](d_x, out)")],
    "an allocation on none": [(OUT, "out = cuda.device_array(x.shape, x.dtype)")],
    "an allocation on 0": [(OUT, OUT.replace(", stream)", ", 0)"))],
    "an allocation like another": [(OUT, "out = cuda.device_array_like(d_x)")],
    "a copy to the device on 0": [(TO, "d_x = _to_device(x, 0)")],
    "a copy to the device on none": [(TO, "d_x = x if on_device else cuda.to_device(x)")],
    "a copy to the host on another": [
        (RETURN, "return _result(out, on_device, cuda.default_stream(), shape, plain=plain)")
    ],
    "a copy on the device on 0": [
        (TO, f"{TO}\n    own = cuda.device_array(x.shape, x.dtype, stream=stream)\n"
             "    own.bind(0).copy_to_device(d_x)\n    d_x = own")
    ],
    "stream 0 for short arrays": [(TO, f"{TO}\n    stream = stream if x.shape[0] > 5 else 0")],
    "stream 0 on the device": [(TO, f"{TO}\n    stream = 0 if on_device else stream")],
}  # fmt: skip
RIGHT_STREAMS = {
    "as it was": [],
    "an allocation like another": [(OUT, "out = cuda.device_array_like(d_x, stream=stream)")],
    "the array's own stream": [
        (RETURN, "return out if on_device else out.copy_to_host().reshape(shape)")
    ],
    "a stream of its own": [
        (TO, f"{TO}\n    other = cuda.stream()\n    spare = cuda.device_array(3, x.dtype, "
             "stream=other)\n    other.synchronize()")
    ],
}  # fmt: skip
KEPT = "vars({0}).setdefault('kept', {{}})"
#: memory for a kernel that is kept for calls with the same key
SPARE = "cuda.device_array(x.shape, x.dtype, stream=stream)"
INTO_SPARE = "THREADS, stream](d_x, spare)\n        out.copy_to_device(spare, stream=stream)"
#: what is kept from one call to the next
WRONG_STATE = {
    "scratch that other streams use too": [
        (OUT, f"{OUT}\n    spare = KEPT.setdefault((x.shape, str(x.dtype)), {SPARE})"),
        (LAUNCH, INTO_SPARE),
    ],
    "a result": [(OUT, "out = KEPT.setdefault((x.shape, x.dtype), cuda.device_array(x.shape, "
                       "x.dtype, stream=stream))")],
    "a result by its length": [(OUT, "out = KEPT.setdefault((len(x.shape) and x.shape[0], "
                                     "str(x.dtype)), cuda.device_array(x.shape, x.dtype, "
                                     "stream=stream))")],
    "a part of a buffer": [(OUT, "whole = KEPT.setdefault(str(x.dtype), cuda.device_array(5000, "
                                 "x.dtype, stream=stream))\n    out = whole[: x.shape[0]]")],
    "the copy of an argument": [(TO, "d_x = KEPT.setdefault(id(x), _to_device(x, stream))")],
    "the copy by its shape": [(TO, "d_x = KEPT.setdefault((x.shape, str(x.dtype)), "
                                   "_to_device(x, stream))")],
    "the result of an argument": [(RETURN, "return KEPT.setdefault(id(x), _result(out, on_device, "
                                           "stream, shape, plain=plain))")],
    "the result of a shape": [(RETURN, "return KEPT.setdefault((x.shape, str(x.dtype)), "
                                       "_result(out, on_device, stream, shape, plain=plain))")],
    "a launch once": [("if x.shape[0] > 0:", "if x.shape[0] > 0 and KEPT.setdefault(x.shape, "
                                             "len(KEPT)) == len(KEPT) - 1:")],
    "a host array": [(RETURN, "host = KEPT.setdefault((x.shape, str(x.dtype)), np.zeros(x.shape, "
                              "x.dtype))\n    if on_device:\n        return out\n"
                              "    host[...] = out.copy_to_host(stream=stream)\n"
                              "    return host.reshape(shape)")],
    "the last result": [(RETURN, "last = KEPT.setdefault('last', [out])\n"
                                 "    if last[0].shape != out.shape or last[0].dtype != out.dtype:"
                                 "\n        last[0] = out\n"
                                 "    out = last[0]\n"
                                 f"    {RETURN}")],
}  # fmt: skip
RIGHT_STATE = {
    "scratch of one stream": [
        (OUT, f"{OUT}\n    spare = KEPT.setdefault((x.shape, str(x.dtype), stream), {SPARE})"),
        (LAUNCH, INTO_SPARE),
    ],
    "scratch that is not returned": [
        (OUT, f"{OUT}\n    KEPT.setdefault('scratch', np.zeros(8))[0] = 1.0")
    ],
    "a count of calls": [(TO, f"KEPT['calls'] = KEPT.get('calls', 0) + 1\n    {TO}")],
    "a buffer that is copied": [
        (RETURN, "host = KEPT.setdefault((x.shape, str(x.dtype)), np.zeros(x.shape, x.dtype))\n"
                 "    if on_device:\n        return out\n"
                 "    host[...] = out.copy_to_host(stream=stream)\n"
                 "    return host.copy().reshape(shape)")
    ],
}  # fmt: skip


def with_cache(edits: dict[str, list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """Each function keeps what it keeps in itself."""
    return [
        [(old, new.replace("KEPT", KEPT.format(f"f{k}"))) for old, new in changes]
        for k, changes in enumerate(edits.values())
    ]


@pytest.mark.parametrize(
    ("edits", "caught"),
    [(WRONG_STREAMS, True), (RIGHT_STREAMS, False), (WRONG_STATE, True), (RIGHT_STATE, False)],
    ids=["wrong streams", "right streams", "wrong state", "right state"],
)
def test_what_a_call_leaves_to_others_is_seen(
    tmp_path: Path, edits: dict[str, list[tuple[str, str]]], caught: bool
) -> None:
    path = edited(tmp_path, LINE, with_cache(edits))
    assert_all(found(path, "simulator"), list(edits), caught=caught)


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("kind", events.KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex128"])
def test_an_event_is_alone_at_its_place(place: str, kind: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, (3, 4)).astype(dtype)
    events.put(values, f"{place} {kind}", index=False)
    flat = values.reshape(-1)
    at, rest = (flat[0], flat[1:]) if place == "first" else (flat[-1], flat[:-1])
    if dtype == "int64" and kind == "nan":
        assert not (rest == 0).any()
        return
    assert not any(at == r or (at != at and r != r) for r in rest)


def test_an_index_that_is_out_of_range_is_alone_too() -> None:
    for place, at in (("first", 0), ("last", -1)):
        values = np.full(5, 3, np.int64)
        events.put(values, f"{place} largest", index=True)
        assert values[at] > 1000 and (np.delete(values, at) == 0).all()
        values = np.full(5, 3, np.int64)
        events.put(values, f"{place} smallest", index=True)
        assert values[at] < -1000 and (np.delete(values, at) == 3).all()
