"""Numba's word as data survives JSON."""

from __future__ import annotations

import json

from porter.numba_report.model import Compiled, Failure, LiftedLoop, from_record, to_record


def test_what_the_child_sends_is_what_reports_read() -> None:
    compiled = Compiled(
        "a.py", "f", 3, 9, "cpu", "float64[::1]", "lifted",
        assumed=True,
        known="inferred",
        loops=(LiftedLoop(4, 5, "float64[::1], int64", True),),
        types={4: ("i: int64",), 5: ("x: float64[::1]", "i: int64")},
        object_lines=(3, 6),
        error=Failure(6, "`md5` is not known", "call it elsewhere"),
        raw="-----ANNOTATION-----",
    )  # fmt: skip
    assert from_record(json.loads(json.dumps(to_record(compiled)))) == compiled
    plain = Compiled("a.py", "g", 1, 2)
    assert from_record(json.loads(json.dumps(to_record(plain)))) == plain
