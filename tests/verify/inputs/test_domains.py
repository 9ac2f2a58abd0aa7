"""`# porter: domain` comments: how they are read, and that arguments keep to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.commands.verify import run as verify
from porter.diagnostics import UsageError
from porter.dtypes.signatures import parse_types
from porter.options import VerifyOptions
from porter.verify.inputs.arguments import Parameter, build
from porter.verify.inputs.cases import SMALL_BLOCKS, specs
from porter.verify.inputs.domains import read_domains
from porter.verify.inputs.narrowing import Unsuitable, extents, holds, narrowed
from porter.verify.inputs.shapes import symbols
from tests.support.verification import copy, prove

SOURCE = """
import numpy as np

# porter: domain x > 0, finite
# a word about it
@decorated
def f(x, n: int, *, lo=0.0):
    # porter: domain n >= 1 and lo < 2 * np.pi
    return x  # porter: domain len(x) >= 2


class C:
    def m(self, a, b):
        # porter: domain a < b
        # porter: domain 0 <= self.dt < 0.5, sorted(b)
        return self.dt * a
"""


def test_comments_belong_to_the_function_around_or_below() -> None:
    found = read_domains(SOURCE, "s.py")
    assert {name: d.text for name, d in found.items()} == {
        "f": "x > 0, finite, n >= 1, lo < 2 * np.pi, len(x) >= 2",
        "C.m": "a < b, 0 <= self.dt < 0.5, sorted(b)",
    }


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("domain x >", "`x >` is not a condition"),
        ("domain", "`` is not a condition"),
        ("domain z > 0", "`z` is not a parameter of `f`"),
        ("domain x > limit", "`limit` is not a parameter of `f`"),
        ("domain 1 < 2", "`1 < 2` bounds no parameter"),
        ("domain x > x + 1", "`x > x + 1` bounds `x` by itself"),
        ("domain x in numbers", "`numbers` is not a list of numbers"),
        ("domain x is 3", "`x is 3` is not a condition"),
        ("domain positive(x)", "`positive(x)` is not a condition"),
        ("domain x > 0 or x < -1", "is not a condition"),
        ("domains x > 0", "is `domain` meant"),
        ("domain x < 1 / 0", "has no value"),
    ],
)
def test_what_is_wrong_with_a_comment_is_said_with_its_line(comment: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_domains(f"def f(x):\n    # porter: {comment}\n    return x\n", "s.py")
    assert str(caught.value).startswith("s.py:2: domain comment: ") and said in str(caught.value)


def test_a_comment_at_no_function() -> None:
    with pytest.raises(UsageError, match=r"s\.py:1: .*neither in a function nor directly above"):
        read_domains("# porter: domain x > 0\n\ndef f(x):\n    return x\n", "s.py")
    assert read_domains("x = '# porter: domain x'\n# porter: ignore[PRT101]\n", "s.py") == {}


DOMAINS = [
    ("x > 0", "float64[:]"),
    ("x >= 0, x != 1", "float32[:, :]"),
    ("0 <= x <= 1", "float32[:]"),
    ("-5 <= x < 5", "int8[:]"),
    ("x < 0.1", "float32[:]"),
    ("x > 250", "uint8[:]"),
    ("x <= -1e300", "float64[:]"),
    ("finite", "complex128[:]"),
    ("x in (0, 1, 4)", "int32[:]"),
    ("x in (0, 1)", "float64"),
    ("0 < x < 1e-310", "float64"),
    ("10 <= x < 12", "int64"),
    ("sorted(x), -1 <= x <= 1", "float64[:]"),
    ("0 <= x < len(y)", "int64[:]"),
    ("x <= y", "float64[:]"),
    ("x > 2 * s + 1, s > 3", "float64[:]"),
    ("len(x) >= 4, y.shape[0] < 6", "float64[:]"),
    ("x < s", "float64[:]"),
    ("x >= 9223372036854775800", "int64[:]"),
]


@pytest.mark.parametrize(("text", "type_"), DOMAINS)
def test_every_case_keeps_to_the_domain(text: str, type_: str) -> None:
    source = f"# porter: domain {text}\ndef f(x, y, s):\n    return x\n"
    domain = read_domains(source, "s.py")["f"]
    (own,) = parse_types(type_)
    dims = ("n", "m")[: own.ndim]
    shape = own.ndim == 1 and ("len" in text or "y" in text)
    other, number = parse_types("float64[:], float64")
    parameters = [
        Parameter("x", own, dims),
        Parameter("y", other, dims[:1] if "x <= y" in text else ("m",)),
        Parameter("s", number),
    ]
    names = symbols(e for p in parameters for e in p.dims)
    kept = 0
    for spec in specs(24):
        rng = np.random.default_rng(spec.number)
        inputs = build(parameters, spec, SMALL_BLOCKS, rng, extents(domain, parameters, names))
        made = narrowed(inputs, parameters, domain, spec.domain, rng)
        if made is None:
            continue
        kept += 1
        assert holds(domain, made)
        for before, after in zip(inputs.arguments, made.arguments, strict=True):
            assert type(before.value) is type(after.value)
            assert np.asarray(before.value).dtype == np.asarray(after.value).dtype
        values = {a.name: a.value for a in made.arguments}
        x, y = np.asarray(values["x"]), values["y"]
        # the conditions once more, in NumPy's own words
        for part in text.split(", "):
            if part == "finite":
                assert np.isfinite(x).all()
            elif part.startswith("0 <= x < len"):
                assert ((x >= 0) & (x < len(y))).all()
            elif part == "x <= y":
                assert (x <= y).all()
            elif part == "-5 <= x < 5":
                assert ((x >= -5) & (x < 5)).all()
            elif part == "x > 0":
                assert (x > 0).all()
    assert kept >= (12 if shape else 18), kept


def test_values_in_the_domain_stay_and_edges_are_met() -> None:
    domain = read_domains("def f(x):\n    return x  # porter: domain 0 <= x <= 1\n", "s.py")["f"]
    (type_,) = parse_types("float64[:]")
    parameters = [Parameter("x", type_, ("n",))]
    seen = set()
    for spec in specs(24):
        rng = np.random.default_rng(spec.number)
        inputs = build(parameters, spec, SMALL_BLOCKS, rng)
        made = narrowed(inputs, parameters, domain, spec.domain, rng)
        assert made is not None
        x, old = made.arguments[0].value, inputs.arguments[0].value
        inside = (old >= 0) & (old <= 1)
        assert (x[inside] == old[inside]).all()
        seen |= set(x.tolist())
    assert {0.0, 1.0} <= seen and len(seen) > 100


def test_complex_numbers_have_no_order() -> None:
    domain = read_domains("def f(x):\n    return x  # porter: domain x > 0\n", "s.py")["f"]
    (type_,) = parse_types("complex128[:]")
    parameters = [Parameter("x", type_, ("n",))]
    rng = np.random.default_rng(0)
    inputs = build(parameters, specs(1)[0], SMALL_BLOCKS, rng)
    with pytest.raises(Unsuitable, match="`x` has no order"):
        narrowed(inputs, parameters, domain, "normal", rng)


def test_verification_in_a_domain_says_so(tmp_path: Path) -> None:
    old, new = "T(-0.5) * z * z", "T(-0.5) * z * abs(z)"
    assert prove(copy(tmp_path, "maps", old, new), "density").failed
    source = tmp_path / "maps.py"
    comment = "# porter: domain mean < x, sigma > 0\n"
    source.write_text(source.read_text().replace("def density", f"{comment}def density"))
    found = prove(tmp_path / "maps_cuda.py", "density")
    assert found.verified, found.mismatch
    assert found.evidence[0].cases == 24
    assert found.evidence[0].detail["domain"] == "mean < x, sigma > 0"
    assert found.summary() == ("simulator 24 cases where mean < x, sigma > 0",)


def test_a_domain_that_no_input_meets(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    comment = "# porter: domain 1 < x < 0\n"
    source.write_text(source.read_text().replace("def density", f"{comment}def density"))
    found = prove(path, "density")
    # arrays without elements are in every domain, but prove nothing
    assert not found.verified and found.evidence[0].status == "skipped"
    assert found.evidence[0].detail["reason"] == (
        "no case ran `density_kernel`: the kernels are not verified"
    )


def test_verify_refuses_a_comment_that_it_does_not_understand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    source.write_text(source.read_text() + "# porter: domain x > 0\n")
    line = len(source.read_text().splitlines())
    assert verify(VerifyOptions((str(path),))) == 2
    said = capsys.readouterr().err
    assert f"maps.py:{line}: domain comment: it stands neither in a function nor" in said


def test_the_domain_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy(tmp_path, "maps")
    source = tmp_path / "maps.py"
    source.write_text(source.read_text() + "\n\ndef other(x):\n    return x\n")
    text = source.read_text()
    source.write_text(text.replace("def grow", "# porter: domain finite\ndef grow"))
    options = VerifyOptions((str(path),), on=("simulator",), functions=("grow",), cases=6)
    assert verify(options) == 0
    assert "verified on the simulator where finite: 6" in capsys.readouterr().out
