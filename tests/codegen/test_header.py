"""The header of a generated module: round trip, edits, odd line ends."""

from __future__ import annotations

from porter.codegen.module.header import (
    Form,
    FunctionRecord,
    Header,
    body_of,
    is_edited,
    parse,
    render,
)

RECORD = FunctionRecord(
    "scale",
    "float64[:, :], float64",
    ("float32[:, :], float64",),
    "x[n, m] k[]",
    ("x is a 2-D array", "k is a float"),
    ("simulator 24 cases", "ptx sm_75 sm_80 sm_90"),
)
FORMS = FunctionRecord(
    "spec",
    "float64[:], omitted",
    ("float32[:], omitted",),
    "y[n] n_fft[]",
    ("y is a 1-D array of float64",),
    forms=(
        Form(
            "float64[:], int64",
            ("float32[:], int64",),
            "y[n] n_fft[]",
            ("n_fft is int64 (line 3)",),
            ("nothing",),
        ),
        Form("float64[:, :], omitted", (), "y[n, m] n_fft[]"),
    ),
    accepts=("y: array of 1 or 2 dimensions, float64", "n_fft: None or an integer"),
)
HEADER = Header("0.1.0", "../src/my file.py", "ab12", (RECORD, FunctionRecord("other", ""), FORMS))
BODY = '"""Doc."""\n\n# porter: source not-this sha256:00\nX = 1\n'


def test_round_trip() -> None:
    text = render(HEADER, BODY)
    parsed = parse(text)
    assert parsed is not None and parsed.functions == HEADER.functions
    assert (parsed.version, parsed.source, parsed.source_hash) == ("0.1.0", HEADER.source, "ab12")
    assert body_of(text) == BODY and not is_edited(text)
    assert render(parsed, body_of(text)) == text


def test_new_evidence_is_no_edit() -> None:
    text = render(HEADER, BODY)
    assert not is_edited(text.replace("24 cases", "99 cases"))
    assert is_edited(text.replace("X = 1", "X = 2"))
    assert is_edited(text.replace("# porter: output", "# porter: outputs"))


def test_line_ends_and_a_licence_above() -> None:
    text = render(HEADER, BODY)
    assert not is_edited(text.replace("\n", "\r\n"))
    above = "# Copyright us\n\n" + text
    assert parse(above) == parse(text) and not is_edited(above)


def test_no_header() -> None:
    assert parse("import numpy\n") is None
    assert parse("") is None
    assert parse("x = 1\n# porter: source a.py sha256:00\n") is None
    assert is_edited("import numpy\n") and body_of("import numpy\n") == "import numpy\n"


def test_damaged_lines_are_left_out() -> None:
    text = render(HEADER, BODY).replace("function other()", "function other")
    parsed = parse(text)
    assert parsed is not None and [f.name for f in parsed.functions] == ["scale", "spec"]
    assert parsed.function("scale") == RECORD and parsed.function("other") is None
