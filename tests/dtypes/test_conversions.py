"""The lines of the header about conversions are read as they are written."""

from __future__ import annotations

import pytest

from porter.dtypes.conversions import Conversions, Integers


@pytest.mark.parametrize(
    ("conversions", "said"),
    [
        (
            Conversions(("x",), Integers("integers")),
            "x: integers and bools become float64 (a pass over the array)",
        ),
        (
            Conversions(("x", "y"), Integers("exact", 2, 2, 1)),
            "x, y: int32 and int64 whose largest value n keeps 2 * n within the dtype and within"
            " 2**53 become float64 (a pass over the array)",
        ),
        (
            Conversions(("x",), Integers("wide", narrow="iu")),
            "x: integers become float64 (a pass over the array)",
        ),
        (
            Conversions(("x",), Integers("exact", 1, 1, 2, "iub"), beside=True),
            "x: bools, signed integers, and unsigned ones of 8 and 16 bits whose largest value n"
            " keeps n**2 within the dtype and within 2**53 beside arrays of floats become float64"
            " (a pass over the array)",
        ),
        (
            Conversions(("x",), Integers("exact", 1, 2**31, 2)),
            "x: int32 and int64 whose largest value n keeps n**2 within the dtype and"
            " 2147483648 * n**2 within 2**53 become float64 (a pass over the array)",
        ),
        (
            Conversions(("x",), Integers("exact", 3, 1, 1), floats=True),
            "x: int32 and int64 whose largest value n keeps 3 * n within the dtype and n"
            " within 2**53 beside numbers that are floats become float64 (a pass over the array)",
        ),
        (
            Conversions(("x", "y"), Integers("wide", narrow="iu"), some=True),
            "x, y: integers beside one of them of floats become float64 (a pass over the array)",
        ),
        (
            Conversions((), Integers("wide"), (("x", "y"),)),
            "x, y: float32 beside float64 become float64 (a pass over each float32)",
        ),
    ],
)
def test_lines(conversions: Conversions, said: str) -> None:
    assert conversions.lines() == (said,)
    assert Conversions.parse([said]) == conversions


def test_lines_of_arrays_that_are_narrow_alone() -> None:
    found = Conversions(("x", "y"), lone=(("x", "iub"), ("y", "i"), ("z", "iub")))
    assert found.lines()[1:] == (
        "x, z: int8, int16, uint8, uint16 and bool beside float64 alone become float64"
        " (a pass over the array)",
        "y: int8 and int16 beside float64 alone become float64 (a pass over the array)",
    )
    again = Conversions.parse(found.lines())
    assert set(again.lone) == set(found.lone) and again.names == found.names


def test_lines_of_arrays_that_become_complex() -> None:
    found = Conversions(("x",), Integers("integers"), complexes=("y", "z"), whole=Integers("wide"))
    assert found.lines()[1:] == (
        "y, z: float64 becomes complex128 (a pass over the array)",
        "y, z: integers of 32 and 64 bits become complex128 (a pass over the array)",
    )
    assert Conversions.parse(found.lines()) == found
    assert found.word == "complex wide"
    alone = Conversions(complexes=("z",))
    assert alone and alone.word == "complex" and Conversions.parse(alone.lines()) == alone


def test_words_of_arrays_of_which_one_must_be_of_floats() -> None:
    found = Conversions(("x", "y"), Integers("integers"), some=True)
    assert found.words(("x", "y")) == "x y beside : integers"
