"""Functions of the corpus as ufuncs of the CPU, compared with NumPy in the cases of `verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import SourceFile
from tests.support.paths import ROOT

PROGRAMS = ROOT / "tests" / "corpus" / "programs"
FUNCTIONS = {
    "elementwise": "axpy sigmoid softplus polynomial polar damped haversine leaky_relu",
    "integers": "add_wrapping floor_divide remainder true_divide shift_left bit_tricks parity "
    "bool_or",
    "kindred": "layer_in_steps lognormal_pdf weibull_cdf cumulative_normal put_from_call "
    "digital_option tricorn",
    "user_loops": "square_in_place double_2d relu_if three_way zero_suppress hypot_loop "
    "newton_sqrt",
    "complex_numbers": "magnitude_squared phase_shift make_complex absolute phasors "
    "quadratic_map real_part",
    "masks": "replace_nan replace_nan_copy square_positive band outside not_positive "
    "logical_functions",
}
#: the others take a minute together
QUICK = "elementwise"


def test_there_are_forty() -> None:
    assert sum(len(names.split()) for names in FUNCTIONS.values()) >= 40


@pytest.mark.parametrize(
    "program",
    [p if p == QUICK else pytest.param(p, marks=pytest.mark.long) for p in FUNCTIONS],
)
def test_they_are_verified(program: str, tmp_path: Path) -> None:
    file = PROGRAMS / f"{program}.py"
    names = tuple(FUNCTIONS[program].split())
    options = ConvertOptions((str(file),), functions=names, target="ufunc", ufunc_target="cpu")
    place = tmp_path / f"{program}_ufunc.py"
    made = convert_file(
        SourceFile(str(file), file.read_text()), options, Config(), place, lambda _: None
    )
    assert {f.name: (f.status, f.problems) for f in made.functions} == dict.fromkeys(
        names, ("converted", ())
    )
    for function in made.functions:
        (evidence,) = function.evidence
        assert (evidence.status, evidence.detail["ran"]) == ("passed", "cpu"), function
