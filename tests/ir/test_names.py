"""The supply of fresh names."""

from __future__ import annotations

from porter.support.names import NameSupply


def test_a_name_is_given_once() -> None:
    names = NameSupply(["x"])
    assert [names.fresh(n) for n in ("x", "y", "x", "y")] == ["x2", "y", "x3", "y2"]


def test_what_others_hold_when_they_are_asked_is_not_free() -> None:
    buffers = {"x": 1}
    names = NameSupply((), buffers)
    assert names.unused("x") == "x2" and names.unused("y") == "y"
    buffers["y"] = 2
    assert names.fresh("y") == "y2" and "x" not in names
